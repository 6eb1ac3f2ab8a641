#include "model/kernels/attention/attention.hpp"

#include <algorithm>

#include "model/kernels/attention/tiles.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/attention.hpp"

namespace roofcast::attention {
namespace {

// The family's limit leaves out exponentials: kernels may compute them as polynomials.
Work work(const Problem& problem) {
  const Shape shape(problem);
  const double q = shape.q_bytes(), kv = shape.kv_bytes();
  const Traffic forward{q + 2 * kv, q}, backward{3 * q + 2 * kv + shape.rows_bytes(), q + 2 * kv};
  return {.vector_flops = shape.flops(), .compulsory = shape.backward ? backward : forward};
}

// Forward also writes the log-sum-exp of each row, for backward.
Work training_work(const Problem& p) {
  const Shape shape(p);
  Work result = work(p);
  if (!shape.backward) result.compulsory.write_bytes += shape.rows_bytes();
  return result;
}

IoComplexity io(const Problem& problem, double compulsory_bytes, double on_chip_bytes) {
  const Shape shape(problem);
  return attention_io(shape.scores(), as_double(shape.head_dim), shape.element, compulsory_bytes,
                      on_chip_bytes, shape.backward ? kBackwardRows : kForwardRows);
}

constexpr std::array kStandardParameters = with_own(
    kShape, choice("passes", "mask_dropout: launches that add a mask to S and drop of P; P is kept",
                   kPassesNames, kPlain));
constexpr std::array kFlashParameters = with_own(
    kShape,
    choice("dq", "backward: blocks of keys add to dQ in any order, or a second pass sums it",
           kDqNames, kAtomic));
constexpr std::array kDecodeParameters =
    with_own(kShape, open_setting("splits", "parts of the keys, each a block's; 0: to choose",
                                  decoding::kMostSplits));

// Variants that keep the scores on chip. Scores in memory cost no DRAM bytes while L2 holds them.
constexpr std::array<std::string_view, 2> kKeepScores = {"attention.flash2", "attention.flash3"};
constexpr Crossover kScores = {"attention.standard", kKeepScores, kSeqQ, kSeqKv};

constexpr std::array<KernelModel, 5> kVariants = {{
    {.name = "attention.standard",
     .summary = "S = Q·Kᵀ, softmax and P·V one after the other: S and P in memory",
     .parameters = kStandardParameters,
     .dtypes = kTypes,
     .plan = plan_standard,
     .work = training_work,
     .io = standard_io},
    {.name = "attention.flash2",
     .summary = "online softmax, K and V pass in tiles: mma.sync, cp.async",
     .parameters = kFlashParameters,
     .dtypes = kTypes,
     .plan = plan_flash2,
     .work = training_work},
    {.name = "attention.flash3",
     .summary = "the same by wgmma and TMA: softmax while the tensor cores multiply",
     .parameters = kFlashParameters,
     .dtypes = kTypes,
     .plan = plan_flash3,
     .work = training_work},
    {.name = "attention.decode",
     .summary = "few queries against a long cache: heads of a group share K and V, keys are split",
     .parameters = kDecodeParameters,
     .dtypes = kTypes,
     .plan = plan_decode,
     .candidates = decode_candidates,
     .work = training_work},
    kLibrary,
}};

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
      type(p.dtype),
      element(size_bytes(type)) {
  require(heads % kv_heads == 0, "kv_heads is ", kv_heads, " and does not divide the ", heads,
          " query heads: give a divisor, or leave it out");
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

Shape computable_shape(const Problem& p, const Gpu& gpu) {
  const Shape shape(p);
  require_tensor_cores(p.dtype, gpu);
  require(shape.head_dim % kVectorElements == 0, "head_dim is ", shape.head_dim,
          ": these kernels copy 16 bytes at a time, give a multiple of 8");
  require(shape.visible(0) > 0, "a causal mask with fewer keys (", shape.seq_kv, ") than queries (",
          shape.seq_q, ") leaves queries without a key: give at least as many keys");
  return shape;
}

constinit const KernelFamily kFamily = {.name = "attention",
                                        .summary = "softmax(Q·Kᵀ/√d)·V and its gradients",
                                        .parameters = kShape,
                                        .dtypes = kTypes,
                                        .variants = kVariants,
                                        .work = work,
                                        .io = io,
                                        .compares_footprint = true,
                                        .crossover = &kScores};

}  // namespace roofcast::attention
