#include "model/libraries/linear_loss.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/gemm.hpp"
#include "model/libraries/layer_operations.hpp"

namespace roofcast::layer {
namespace {

enum : ArrayId { kInput, kWeights, kLogits, kInputGradient, kWeightGradient, kTokens, kTargets };

std::int64_t chunk_of(const Problem& p) {
  return loss_chunk(p[kRows], p[kCols], p[kHidden]);
}

Problem product(const Problem& p, std::int64_t m, std::int64_t n, std::int64_t k) {
  return gemm::library_problem(p.dtype, m, n, k, p[kLossTileM], p[kLossTileN], 1);
}

Problem logits_product(const Problem& p) {
  return product(p, chunk_of(p), p[kCols], p[kHidden]);
}

// Of what all chunks take each has its share; what lies between their launches is compulsory for
// none.
ArrayUse used_by(ArrayUse use, ArrayId array, double compulsory_share) {
  use.array = array;
  use.compulsory = compulsory_share * use.compulsory;
  return use;
}

struct Operands {
  ArrayId a, b, c;
  double share_a, share_b, share_c;
};

Launched launched_product(const Problem& one, const Gpu& gpu, const Operands& of, double times) {
  LaunchSequence program = gemm::plan_library(one, gpu);
  Plan& plan = program.front().plan;
  plan.arrays[0] = used_by(plan.arrays[0], of.a, of.share_a);
  plan.arrays[1] = used_by(plan.arrays[1], of.b, of.share_b);
  plan.arrays[2] = used_by(plan.arrays[2], of.c, of.share_c);
  if (plan.arrays.size() > 3) plan.arrays[3] = used_by(plan.arrays[3], of.c, 0);
  return {std::move(plan), times};
}

// Logits are read for the largest and the sum; for gradients once more, which replace them.
constexpr Movement kGradientsOfRows = [] {
  Movement movement = kLossGradients;
  movement.sweeps = 2;
  movement.row = {kIndex, 12};
  return movement;
}();

}  // namespace

LaunchSequence plan_linear_loss(const Problem& p, const Gpu& gpu) {
  const std::int64_t chunk = chunk_of(p), vocabulary = p[kCols], hidden = p[kHidden];
  const double chunks = as_double(ceil_div(p[kRows], chunk)), tokens = as_double(chunk);
  const bool gradients = p[kPass] == kBackward;
  const double once = 1 / chunks;
  LaunchSequence program;
  program.push_back(
      launched_product(logits_product(p), gpu, {kInput, kWeights, kLogits, 1, once, 0}, chunks));
  const Counted loss{gradients ? kGradientsOfRows : kLossOfRows, p.dtype, tokens,
                     as_double(vocabulary), 0};
  Plan of_rows = plan_of(loss);
  const double logits = loss.of_elements().read_bytes;
  of_rows.arrays = {scratch(kLogits, {logits, gradients ? logits : 0}),
                    reads(kTargets, tokens * kIndex),
                    writes(kTokens, tokens * loss.of_row().write_bytes)};
  program.push_back({std::move(of_rows), chunks});
  if (gradients) {
    program.push_back(launched_product(product(p, chunk, hidden, vocabulary), gpu,
                                       {kLogits, kWeights, kInputGradient, 0, 0, 1}, chunks));
    Problem added = product(p, vocabulary, hidden, chunk);
    added[gemm::kEpilogue] = gemm::kResidual;
    program.push_back(
        launched_product(added, gpu, {kLogits, kInput, kWeightGradient, 0, 0, once}, chunks));
  }
  for (Launched& node : program) {
    node.plan.notes.caveat =
        "chunks as Liger-Kernel cuts them, its products with one tile for all; registers are an "
        "estimate";
  }
  return program;
}

std::vector<Problem> linear_loss_candidates(const Problem& p, const Gpu& gpu) {
  std::vector<Problem> found;
  for (const Problem& one : gemm::library_candidates(logits_product(p), gpu)) {
    Problem& candidate = found.emplace_back(p);
    candidate[kLossTileM] = one[gemm::kTileM];
    candidate[kLossTileN] = one[gemm::kTileN];
  }
  return found;
}

Work linear_loss_work(const Problem& p) {
  const double tokens = as_double(p[kRows]), vocabulary = as_double(p[kCols]),
               hidden = as_double(p[kHidden]), element = size_bytes(p.dtype);
  const bool gradients = p[kPass] == kBackward;
  const Movement& of_rows = gradients ? kGradientsOfRows : kLossOfRows;
  Work work;
  work.tensor_flops[p.dtype] = (gradients ? 6 : 2) * tokens * vocabulary * hidden;
  work.vector_flops = tokens * vocabulary * (of_rows.flops + (gradients ? 1 : 0));
  work.special_flops = tokens * vocabulary * of_rows.special;
  const double both = (tokens + vocabulary) * hidden * element;
  work.compulsory = {both + tokens * kIndex,
                     (gradients ? both : 0) + tokens * of_rows.row.write_bytes};
  return work;
}

IoComplexity linear_loss_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  return gemm::library_io(product(p, p[kRows], p[kCols], p[kHidden]), compulsory_bytes,
                          on_chip_bytes);
}

std::int64_t loss_chunk(std::int64_t tokens, std::int64_t vocabulary, std::int64_t hidden) {
  const std::int64_t parts = ceil_div(vocabulary, hidden);
  return std::min(tokens, power_of_two_from(ceil_div(tokens, parts)));
}

}  // namespace roofcast::layer
