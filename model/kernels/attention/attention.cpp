#include "model/kernels/attention/attention.hpp"

#include <algorithm>
#include <string>

#include "model/counting/io_complexity.hpp"
#include "model/kernels/attention/models.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/attention.hpp"

namespace roofcast::attention {
namespace {

// Exponentials stand in no limit of the family: kernels may compute them as polynomials.
Work work(const Problem& problem) {
  const Shape shape(problem);
  Work result;
  result.vector_flops = shape.flops();
  const double q = shape.q_bytes(), kv = shape.kv_bytes();
  result.compulsory = {q + 2 * kv, q};
  if (shape.backward) result.compulsory = {3 * q + 2 * kv + shape.rows_bytes(), q + 2 * kv};
  return result;
}

IoComplexity io(const Problem& problem, double compulsory_bytes, double on_chip_bytes) {
  const Shape shape(problem);
  return attention_io(shape.scores(), as_double(shape.head_dim), shape.element, compulsory_bytes,
                      on_chip_bytes, shape.backward ? kBackwardRows : kForwardRows);
}

// Without scores in memory; as long as L2 holds them, they cost no bytes.
constexpr std::array<std::string_view, 2> kKeepScores = {"attention.flash2", "attention.flash3"};
constexpr Crossover kScores = {"attention.standard", kKeepScores, kSeqQ, kSeqKv};

constexpr std::array kVariants = {kStandard, kFlash2, kFlash3, kDecode, kLibrary};

}  // namespace

Shape::Shape(const Problem& p)
    : batch(p[kBatch]),
      heads(p[kHeads]),
      kv_heads(p[kKvHeads] == kAsTheOther ? p[kHeads] : p[kKvHeads]),
      seq_q(p[kSeqQ]),
      seq_kv(p[kSeqKv] == kAsTheOther ? p[kSeqQ] : p[kSeqKv]),
      head_dim(p[kHeadDim]),
      causal(p[kCausal] != 0),
      backward(p[kPass] == kBackward),
      element(size_bytes(p.dtype)) {
  if (heads % kv_heads == 0) return;
  throw InputError("kv_heads is " + std::to_string(kv_heads) + " and does not divide the " +
                   std::to_string(heads) + " query heads: give a divisor, or leave it out");
}

std::int64_t Shape::visible(std::int64_t query) const {
  if (!causal) return seq_kv;
  return std::clamp(query + 1 + seq_kv - seq_q, std::int64_t{0}, seq_kv);
}

double Shape::pairs() const {
  if (!causal) return as_double(seq_q) * as_double(seq_kv);
  const double square = as_double(std::min(seq_q, seq_kv));
  return square * (square + 1) / 2 + square * as_double(std::max<std::int64_t>(0, seq_kv - seq_q));
}

Work training_work(const Problem& p) {
  const Shape shape(p);
  Work result = work(p);
  if (!shape.backward) result.compulsory.write_bytes += shape.rows_bytes();
  return result;
}

void check_computable(const Problem& p, const Shape& shape, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  constexpr std::int64_t kWidth = 8;  // 16 bytes
  if (shape.head_dim % kWidth != 0) {
    throw InputError("head_dim is " + std::to_string(shape.head_dim) +
                     ": these kernels copy 16 bytes at a time, give a multiple of 8");
  }
  if (shape.visible(0) == 0) {
    throw InputError("a causal mask with fewer keys (" + std::to_string(shape.seq_kv) +
                     ") than queries (" + std::to_string(shape.seq_q) +
                     ") leaves queries without a key: give at least as many keys");
  }
}

constinit const KernelFamily kFamily = {.name = "attention",
                                        .summary = "softmax(Q·Kᵀ/√d)·V and its gradients",
                                        .parameters = kShape,
                                        .dtypes = kTypes,
                                        .work = work,
                                        .io = io,
                                        .variants = kVariants,
                                        .validated = {},
                                        .compares_footprint = true,
                                        .crossover = &kScores};

}  // namespace roofcast::attention
