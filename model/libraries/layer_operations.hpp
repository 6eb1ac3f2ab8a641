#pragma once
// The bytes that operations between GEMMs, caches, quantization and routing move. From the sources
// of PyTorch 2.11 and Transformers 5.17; launches as torch.profiler shows them.
#include "model/constants/libraries.hpp"
#include "model/libraries/layer.hpp"

namespace roofcast::layer {

// Numbers of matrices: typed, fp32, bytes.
inline constexpr Arrays kNone{}, kHalf{0.5}, kQuarter{0.25}, kOne{1}, kTwo{2}, kThree{3},
    kSingle{0, 1}, kTwoSingles{0, 2}, kOneAndMask{1, 0, 1}, kNarrow{0, 0, 1};
inline constexpr double kIndex = 8;  // bytes: int64

constexpr Movement map(const Arrays& reads, const Arrays& writes, double flops = 0,
                       double special = 0) {
  return {.reads = reads, .writes = writes, .flops = flops, .special = special};
}
constexpr Movement by_rows(const Arrays& reads, const Arrays& writes, double flops = 0,
                           double special = 0) {
  return map(reads, writes, flops, special).walked(Walk::rows);
}

// aten::embedding. Its gradient (aten/src/ATen/native/cuda/Embedding.cu,
// EmbeddingBackwardKernel.cu) is added to a zeroed table: few indices 32 rows at a time, one per
// warp. More indices are sorted with their positions in eight passes and their segments counted,
// with 20 further launches; segments are summed in fp32, then these sums into the table's rows.
inline constexpr Movement kZeros{.walk = Walk::table_zeros};
inline constexpr Operation kEmbedding{
    .fused = {map(kNone, kOne).beside({kIndex, 0}).walked(Walk::table_rows)},
    .fused_backward = {kZeros, map(kOne, kNone, 1)
                                   .beside({kIndex, 0})
                                   .walked(Walk::table_columns)
                                   .with(&Movement::threads, 1024)},
    .sorted_backward = {
        kZeros, map(kNone, kNone).times(8).beside({2 * kIndex, 2 * kIndex}),
        map(kNone, kNone).times(20).beside({kIndex, kIndex}),
        map(kOne, kSingle, 1).beside({2 * kIndex, 0}).walked(Walk::part_sums),
        map(kSingle, kNone, 1).beside({3 * kIndex, 0}).walked(Walk::table_sums).after()}};

/// A launch whose threads divide the index of each element written by the extents to find it in
/// transposed, broadcast or converted operands (aten/src/ATen/native/cuda/Loops.cuh).
constexpr Movement strided(const Movement& movement) {
  return movement.costing(library::kStridedInstructions,
                          movement.writes.typed + movement.writes.single);
}

// x·cos + rotate(x)·sin. Eager (apply_rotary_pos_emb), for queries and for keys: half of x negated,
// the halves concatenated, two products and a sum. Backward: two products, one half negated, for
// each half a zeroed matrix and a copy into it, and two sums, one of contiguous matrices.
inline constexpr Movement kJoinedHalves =
    map(kHalf, kHalf).costing(library::kJoinInstructions, 0.5);
inline constexpr Operation kRotary{
    .fused = {map(kOne, kOne, 3)},
    .fused_backward = {map(kOne, kOne, 3)},
    .eager = {strided(map(kQuarter, kQuarter)).times(2), kJoinedHalves.times(2).after(),
              strided(map(kHalf, kHalf, 0.5)).times(4),
              strided(map(kOne, kHalf, 0.5)).times(2).after()},
    .eager_backward = {strided(map(kHalf, kHalf, 0.5)).times(4),
                       strided(map(kQuarter, kQuarter)).times(2), map(kNone, kHalf).times(4),
                       strided(map(kQuarter, kQuarter)).times(4), map(kOne, kHalf, 0.5).times(2),
                       strided(map(kOne, kHalf, 0.5)).times(2)}};

// silu(gate)·up: exp and reciprocal. Backward from gate, up and dy to both gradients.
inline constexpr double kSilu = 2, kSiluSpecial = 2, kSiluGradient = kSilu + 5;  // FLOPs
inline constexpr Operation kSwiglu{
    .fused = {map(kTwo, kOne, kSilu + 1, kSiluSpecial)},
    .fused_backward = {map(kThree, kTwo, kSiluGradient + 2, kSiluSpecial)},
    .eager = {map(kOne, kOne, kSilu, kSiluSpecial).costing(library::kSigmoidInstructions),
              map(kTwo, kOne, 1).after()},
    .eager_backward = {map(kTwo, kOne, 1), map(kTwo, kOne, 1),
                       map(kTwo, kOne, kSiluGradient, kSiluSpecial)
                           .costing(library::kSigmoidInstructions)
                           .after()}};

// GELU by tanh (elementwise.gelu). Eager: Hugging Face's gelu_new.
inline constexpr Operation kGelu{
    .fused = {map(kOne, kOne, 6, 2).costing(library::kTanhInstructions)},
    .fused_backward = {map(kTwo, kOne, 15, 2)},
    .eager = {map(kOne, kOne, 2),             // x³
              map(kOne, kOne, 1).after(),     // scaled
              map(kTwo, kOne, 1).after(),     // + x
              map(kOne, kOne, 1).after(),     // scaled
              map(kOne, kOne, 1, 2).after(),  // tanh
              map(kOne, kOne, 1).after(),     // + 1
              map(kOne, kOne, 1),             // x/2
              map(kTwo, kOne, 1).after()},
    .eager_backward = {map(kTwo, kOne, 1).times(2), map(kOne, kOne, 1).times(5),
                       map(kTwo, kOne, 3).times(2), map(kTwo, kOne, 1).times(2)}};

inline constexpr Movement kSum = map(kTwo, kOne, 1);
inline constexpr Operation kAdd{.fused = {kSum}, .fused_backward = {kSum}};

// Norms (aten/src/ATen/native/cuda/layer_norm_kernel.cu): 128 threads with four elements per access
// sweep over a row twice, for the moments or sums and for the result.
inline constexpr double kNormFlops = 5, kNormGradient = 9;
inline constexpr Movement kNormSweeps{.walk = Walk::rows,
                                      .reads = kOne,
                                      .writes = kOne,
                                      .sweeps = 2,
                                      .threads = 128,
                                      .together = 4,
                                      .at_once = 1};
// Gradients. dx: such sweeps over x and dy. dγ and dβ: blocks of 32 columns, eight rows per step.
inline constexpr Movement kNormInput =
    kNormSweeps.scaled()
        .beside({8, 0})
        .with(&Movement::reads, kTwo)
        .with(&Movement::flops, kNormGradient)
        .costing(1)
        .with(&Movement::of_thread, 142)
        .with(&Movement::reduction, {.shared = 22, .barriers = 5});
inline constexpr Movement kNormParameters =
    map(kTwo, kNone, 4).beside({8, 0}).walked(Walk::columns).with(&Movement::tall, 8);
// dγ and dβ of many rows and few columns: one-warp blocks sum parts of the rows; four-warp blocks
// reduce the parts (aten/src/ATen/native/cuda/Reduce.cuh).
inline constexpr Movement kNormParts = kNormParameters.walked(Walk::part_columns)
                                           .with(&Movement::tall, 32)
                                           .with(&Movement::threads, 32);
inline constexpr Movement kPartSums{
    .walk = Walk::columns, .reads = kOne, .flops = 1, .launches = 2, .threads = 128, .tall = 4};
inline constexpr Movement kRowNorm =
    by_rows(kOne, kOne, kNormFlops).swept(2).scaled().beside({0, 4});
inline constexpr Operation kNormBackward{.fused = {kNormInput, kNormParameters}};

// x + residual and its root mean square norm, both written; backward adds the sum's gradient to the
// norm's. PyTorch's compiled kernels recompute every second sum rather than keep it; two further
// launches reduce and convert the blocks' sums for γ. Eager: the sum, then PyTorch's norm kernel.
inline constexpr Operation kResidualNorm{
    .fused = {by_rows(kTwo, kTwo, kNormFlops).scaled()},
    .fused_backward = {by_rows({4.5}, kOne, kNormGradient + 3)
                           .scaled()
                           .beside({8, 0})
                           .costing(library::kNormGradientInstructions),
                       map(kNone, kNone).times(2)},
    .eager = {kSum, kRowNorm.after()},
    .eager_backward = {kNormInput, kNormParameters, kSum}};

// Root mean square norm of Hugging Face's models: conversion to fp32, squares, mean, ε and root of
// each row, product, conversion back, γ. Backward: gradients of the product with γ, conversion to
// fp32, gradients of the product by the root and by x, of each row's root, of the square, their
// sum, and conversion back.
inline constexpr Operation kPlainNorm{
    .fused = {kRowNorm},
    .fused_backward = kNormBackward.fused,
    .eager = {strided(map(kOne, kSingle)), map(kSingle, kSingle, 1).after(),
              by_rows(kSingle, kNone, 1).beside({0, 4}).after(),
              map(kNone, kNone).times(2).beside({4, 4}),
              strided(map(kSingle, kSingle, 1)).beside({4, 0}), map(kSingle, kOne).after(),
              strided(map(kOne, kOne, 1)).after()},
    .eager_backward = {strided(map(kOne, kOne, 1)), map(kTwo, kOne, 1), map(kOne, kNone, 1).after(),
                       strided(map(kOne, kSingle)), map(kTwoSingles, kSingle, 1),
                       strided(map(kSingle, kSingle, 1)).beside({4, 0}),
                       by_rows(kSingle, kNone, 1).beside({0, 4}).after(),
                       map(kNone, kNone).times(3).beside({8, 4}),
                       strided(map(kNone, kSingle, 1)).beside({4, 0}),
                       map(kSingle, kSingle, 1).after(), map(kTwoSingles, kSingle, 1).times(2),
                       map(kSingle, kOne).after()}};

// A mask of one byte per element is kept for the gradient.
inline constexpr Operation kDropout{
    .fused = {map(kOne, kOneAndMask, 6).costing(library::kRandomInstructions)},
    .fused_backward = {map(kOneAndMask, kOne, 2)}};

// The loss of a row: logits are read for maximum and sum, and again for their gradients, which
// overwrite them. Eager: conversion to fp32, log-softmax in three sweeps, the target's entry;
// backward: zeros, the loss's gradient into them, log-softmax's gradient in two sweeps, conversion.
inline constexpr Movement kLossOfRows =
    by_rows(kOne, kNone, 3, 2).beside({kIndex, 12}).costing(library::kLossInstructions);
inline constexpr Movement kLossGradients =
    by_rows(kOne, kOne, 3, 1).beside({kIndex + 8, 0}).costing(library::kLossGradientInstructions);
inline constexpr Operation kCrossEntropy{
    .fused = {kLossOfRows},
    .fused_backward = {kLossGradients},
    .eager = {map(kOne, kSingle), by_rows(kSingle, kSingle, 3, 1).swept(3).after(),
              map(kNone, kNone).beside({kIndex + 4, 4})},
    .eager_backward = {map(kNone, kSingle), map(kNone, kNone).beside({kIndex, 4}),
                       by_rows(kTwoSingles, kSingle, 3, 1).swept(2), map(kSingle, kOne).after()}};

// torch.optim.AdamW(fused=True): reads weights, gradients and two moments and writes all but the
// gradients, after a launch that counts the steps. Rates and averages are double precision
// (aten/src/ATen/native/cuda/fused_adam_utils.cuh): six products and sums, and a division of a
// dozen operations; a root and a division are fp32. foreach, the default: decay, average, product,
// sum of squares, root, correction, ε and update, each over all tensors. A thread has four elements
// per access (aten/src/ATen/native/cuda/MultiTensorApply.cuh).
constexpr Movement of_tensors(const Arrays& reads, const Arrays& writes, double flops,
                              double special = 0) {
  Movement movement = map(reads, writes, flops, special).walked(Walk::chunks);
  movement.threads = 512;
  movement.together = 4;
  movement.at_once = 1;
  movement.instructions = 4;
  movement.reduction = {};
  movement.most_elements = 320 * kChunk;
  return movement;
}
// Nine conversions from and to double precision at a quarter of the 32-bit rate; 18 operations at
// half the rate of single precision, an FMA's FLOPs each, as on server GPUs (CUDA C++ Programming
// Guide, arithmetic throughput).
constexpr Movement adamw() {
  Movement movement = of_tensors({4}, kThree, 14, 2);
  movement.instructions = 24 + 9 + 18;  // 24: a root and a division
  movement.further = {.vector_flops = 18 * 4, .conversions = 9 * 4};
  movement.registers = 60;
  return movement;
}
inline constexpr Operation kAdamw{
    .fused = {{}, adamw()},
    .eager = {of_tensors(kOne, kOne, 1).times(5), of_tensors(kTwo, kOne, 3).times(2),
              of_tensors(kThree, kOne, 2, 1)}};

// Keys and values of a token are adjacent; an index gives the token's position. Eager: index_copy_
// (aten/src/ATen/native/cuda/IndexKernel.cu) divides each element's index by three extents.
inline constexpr Movement kAppended = map(kOne, kOne).beside({kIndex, 0});
inline constexpr Operation kCacheAppend{.fused = {kAppended}, .eager = {kAppended.costing(60)}};

// Static: by a known scale. Dynamic: by the largest element, found in a launch before.
inline constexpr Operation kQuantize{
    .fused = {map(kOne, kNarrow, 1)},
    .eager = {by_rows(kOne, kNone, 1).beside({0, 4}), map(kOne, kNarrow, 1).beside({4, 0})}};
// Scaled by the largest element of each row; a block reads its row twice.
inline constexpr Operation kQuantizeRows{
    .fused = {by_rows(kOne, kNarrow, 1).swept(2).beside({0, 4})}};

// Softmax over the experts, then a maximum search per chosen expert: weight, expert and position of
// each. Eager: conversion to fp32, softmax, top-k, sum and division of the weights, conversion
// back. Top-k (aten/src/ATen/native/cuda/TensorTopK.cu): a block per row with a thread per element
// finds the last chosen element by radix, two bits per round, and gathers; then the chosen are
// sorted in 15 exchanges. A round reads its elements from L1, counts them by ballots, and clears,
// adds up and reads shared memory: three barriers.
inline constexpr double kChoiceBytes = 12;
constexpr Movement in_rounds(Movement movement, double rounds) {
  movement.walk = Walk::rows;
  movement.follows = true;
  movement.of_thread += 90 * rounds;
  movement.reduction.shared += 4 * rounds;
  movement.reduction.arithmetic += 45 * rounds;
  movement.reduction.barriers += 3 * rounds;
  return movement;
}
inline constexpr Operation kTopK{
    .fused = {by_rows(kOne, kNone, 3, 1)
                  .with(&Movement::row_of, {0, kChoiceBytes})
                  .with(&Movement::flops_of, 1)},
    .eager = {map(kOne, kSingle), by_rows(kSingle, kSingle, 3, 1).after(),
              in_rounds({.reads = kSingle, .row_of = {0, kChoiceBytes}, .together = 1}, 10.5),
              in_rounds({.row_of = {kChoiceBytes, kChoiceBytes}}, 15),
              map(kNone, kNone).times(3).with(&Movement::row_of, {8, 4})}};

}  // namespace roofcast::layer
