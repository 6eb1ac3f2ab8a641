// The LM head fused with the loss over the vocabulary: logits are computed for a chunk of tokens at
// a time, overwritten by their gradients, and never stored for all tokens.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/gemm.hpp"
#include "model/libraries/layer_operations.hpp"

namespace roofcast::layer {
namespace {

enum : ArrayId { kInput, kWeights, kLogits, kInputGradient, kWeightGradient, kTokens, kTargets };

Problem product(const Problem& p, std::int64_t m, std::int64_t n, std::int64_t k) {
  return gemm::library_problem(p.dtype, m, n, k, p[kLossTileM], p[kLossTileN], 1);
}

Problem logits_product(const Problem& p) {
  return product(p, loss_chunk(p[kRows], p[kCols], p[kHidden]), p[kCols], p[kHidden]);
}

/// A matrix of a GEMM and the compulsory share of its bytes: 1 ÷ chunks if every chunk uses the
/// whole matrix, 0 for scratch and for inputs that another launch counts.
struct Matrix {
  ArrayId array;
  double compulsory_share;
};

Plan plan_of_product(const Problem& one, const Gpu& gpu, const std::array<Matrix, 3>& matrices) {
  Plan plan = std::move(gemm::plan_library(one, gpu).front().plan);
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    const Matrix& matrix = matrices[std::min<std::size_t>(i, 2)];  // beyond 2: the added matrix
    plan.arrays[i].array = matrix.array;
    plan.arrays[i].compulsory = (i > 2 ? 0 : matrix.compulsory_share) * plan.arrays[i].compulsory;
  }
  return plan;
}

// Logits are read for maximum and sum; for gradients they are read again and overwritten.
constexpr Movement kGradientsOfRows = kLossGradients.swept(2).beside(kLossOfRows.row);

const Movement& rows_of(const Problem& p) {
  return p[kPass] == kBackward ? kGradientsOfRows : kLossOfRows;
}

}  // namespace

LaunchSequence plan_linear_loss(const Problem& p, const Gpu& gpu) {
  const Problem forward = logits_product(p);
  const std::int64_t chunk = forward[gemm::kM], vocabulary = p[kCols], hidden = p[kHidden];
  const double chunks = as_double(ceil_div(p[kRows], chunk)), tokens = as_double(chunk);
  const bool gradients = p[kPass] == kBackward;
  const Counted loss{rows_of(p), p.dtype, tokens, as_double(vocabulary)};
  Plan of_rows = plan_of(loss);
  const double logits = loss.of_elements().read_bytes;
  of_rows.arrays = {scratch(kLogits, {logits, gradients ? logits : 0}),
                    reads(kTargets, tokens * kIndex),
                    writes(kTokens, tokens * loss.of_row().write_bytes)};
  LaunchSequence sequence;
  const double once = 1 / chunks;
  sequence.push_back(
      {plan_of_product(forward, gpu, {{{kInput, 1}, {kWeights, once}, {kLogits, 0}}})});
  sequence.push_back({std::move(of_rows)});
  if (gradients) {
    sequence.push_back({plan_of_product(product(p, chunk, hidden, vocabulary), gpu,
                                        {{{kLogits, 0}, {kWeights, 0}, {kInputGradient, 1}}})});
    Problem added = product(p, vocabulary, hidden, chunk);
    added[gemm::kLayout] = gemm::kTN;  // logits lie as [tokens, words]
    added[gemm::kEpilogue] = gemm::kResidual;
    sequence.push_back(
        {plan_of_product(added, gpu, {{{kLogits, 0}, {kInput, 0}, {kWeightGradient, once}}})});
  }
  for (Launched& node : sequence) {
    node.repeats = chunks;
    node.plan.notes.caveat =
        "chunks as Liger-Kernel cuts them, its products with one tile for all; registers are an "
        "estimate";
  }
  return sequence;
}

std::vector<Problem> linear_loss_candidates(const Problem& p, const Gpu& gpu) {
  return gemm::candidates_of(p, logits_product(p), gpu, kLossTile);
}

Work linear_loss_work(const Problem& p) {
  const double tokens = as_double(p[kRows]), hidden = as_double(p[kHidden]);
  const double words = as_double(p[kCols]), logits = tokens * words;
  const bool gradients = p[kPass] == kBackward;
  const Movement& of_rows = rows_of(p);
  Work work{.vector_flops = logits * (of_rows.flops + (gradients ? 1 : 0)),
            .special_flops = logits * of_rows.special};
  work.tensor_flops[p.dtype] = (gradients ? 6 : 2) * logits * hidden;
  const double both = (tokens + words) * hidden * size_bytes(p.dtype);
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
