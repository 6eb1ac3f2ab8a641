#pragma once
// The table of what each operation between products moves, by PyTorch's and Hugging Face's
// sources, with launches as torch.profiler shows them (PyTorch 2.11, Transformers 5.17).
#include "model/libraries/layer.hpp"

namespace roofcast::layer {

// Arrays of the matrix: typed, fp32, bytes.
inline constexpr Arrays kOne{1}, kTwo{2}, kThree{3}, kSingle{0, 1}, kTwoSingles{0, 2};
inline constexpr Arrays kOneAndMask{1, 0, 1};
inline constexpr double kIndex = 8;  // bytes: int64

// aten::embedding. Its gradient (aten/src/ATen/native/cuda/Embedding.cu): a table of zeros. For
// at most 3072 indices 32 rows at a time are added to theirs by blocks of 32 columns
// (embedding_backward_feature_kernel), each warp a row. For more, indices are sorted with their
// places in eight passes, and their segments counted, with 20 launches beside; segments are
// summed in fp32, and these sums in turn to their rows, by a thread for each element
// (EmbeddingBackwardKernel.cu). It divides its number by the columns in 64 bits and then reads
// the number of segments, the segment's end, its row's place and the row; of the sums in turn
// their end, the sum, the segment and the table's row.
inline constexpr std::int64_t kSortedFrom = 3073;  // indices
inline constexpr double kDivided = 80;             // instructions
inline constexpr Operation kEmbedding{
    .fused = {{.writes = kOne, .row = {kIndex, 0}, .table = Table::looked_up}},
    .fused_backward = {{.table = Table::zeroed},
                       {.walk = Walk::columns,
                        .reads = kOne,
                        .flops = 1,
                        .row = {kIndex, 0},
                        .table = Table::added_to,
                        .chain = 2,
                        .instructions = 20,
                        .most_rows = kSortedFrom - 1},
                       {.walk = Walk::sorted,
                        .launches = 8,
                        .row = {2 * kIndex, 2 * kIndex},
                        .registers = 80,
                        .least_rows = kSortedFrom},
                       {.launches = 20, .row = {kIndex, kIndex}, .least_rows = kSortedFrom},
                       {.walk = Walk::lone,
                        .reads = kOne,
                        .writes = kSingle,
                        .flops = 1,
                        .row = {2 * kIndex, 0},
                        .chain = 2,
                        .looped = 2,
                        .parts_of = 10,
                        .instructions = kDivided,
                        .least_rows = kSortedFrom},
                       {.walk = Walk::lone,
                        .reads = kSingle,
                        .flops = 1,
                        .row = {3 * kIndex, 0},
                        .table = Table::written,
                        .follows = true,
                        .chain = 4,
                        .looped = 1,
                        .parts_of = 10,
                        .adds_parts = true,
                        .instructions = kDivided,
                        .least_rows = kSortedFrom}}};

// x·cos + rotate(x)·sin, a fused multiply-add and a product of an element. Hugging Face's
// apply_rotary_pos_emb: half of x negated, the halves joined, two products and a sum; one more
// of each for keys, which here lie beside the queries. Backward two products; of each half a matrix
// of zeros and a copy into it, one of them negated; and their sums.
inline constexpr Movement kRotaryFused{.reads = kOne, .writes = kOne, .flops = 3};
inline constexpr Operation kRotary{
    .fused = {kRotaryFused},
    .fused_backward = {kRotaryFused},
    .eager = {{.reads = {0.25}, .writes = {0.25}, .launches = 2},
              {.reads = {0.5}, .writes = {0.5}, .launches = 2, .follows = true},
              {.reads = {0.5}, .writes = {0.5}, .flops = 0.5, .launches = 4},
              {.reads = kOne, .writes = {0.5}, .flops = 0.5, .launches = 2, .follows = true}},
    .eager_backward = {{.reads = {0.5}, .writes = {0.5}, .flops = 0.5, .launches = 4},
                       {.reads = {0.25}, .writes = {0.25}, .launches = 2},
                       {.writes = {0.5}, .launches = 4},
                       {.reads = {0.25}, .writes = {0.25}, .launches = 4},
                       {.reads = kOne, .writes = {0.5}, .flops = 0.5, .launches = 4}}};

// silu(gate)·up: exp and reciprocal. Backward from gate, up and dy to both gradients. Eager:
// silu, then the product, and of its backward two products and silu's gradient.
inline constexpr double kSiluFlops = 2, kSiluSpecial = 2, kSiluGradientFlops = 5;
inline constexpr Operation kSwiglu{
    .fused = {{.reads = kTwo, .writes = kOne, .flops = kSiluFlops + 1, .special = kSiluSpecial}},
    .fused_backward = {{.reads = kThree,
                        .writes = kTwo,
                        .flops = kSiluFlops + kSiluGradientFlops + 2,
                        .special = kSiluSpecial}},
    .eager = {{.reads = kOne, .writes = kOne, .flops = kSiluFlops, .special = kSiluSpecial},
              {.reads = kTwo, .writes = kOne, .flops = 1, .follows = true}},
    .eager_backward = {{.reads = kTwo, .writes = kOne, .flops = 1},
                       {.reads = kTwo, .writes = kOne, .flops = 1},
                       {.reads = kTwo,
                        .writes = kOne,
                        .flops = kSiluFlops + kSiluGradientFlops,
                        .special = kSiluSpecial,
                        .follows = true}}};

// GELU by tanh (elementwise.gelu). Eager: as Hugging Face writes it (gelu_new), x³, two
// scalings, two sums, tanh and two products; each of its gradients reads what it multiplies.
inline constexpr double kGeluFlops = 6, kGeluSpecial = 2, kGeluGradientFlops = 9;
inline constexpr Operation kGelu{
    .fused = {{.reads = kOne, .writes = kOne, .flops = kGeluFlops, .special = kGeluSpecial}},
    .fused_backward = {{.reads = kTwo,
                        .writes = kOne,
                        .flops = kGeluFlops + kGeluGradientFlops,
                        .special = kGeluSpecial}}};
inline constexpr Operation kGeluNew{
    .fused = kGelu.fused,
    .fused_backward = kGelu.fused_backward,
    .eager = {{.reads = kOne, .writes = kOne, .flops = 2},                                 // x³
              {.reads = kOne, .writes = kOne, .flops = 1, .follows = true},                // scaled
              {.reads = kTwo, .writes = kOne, .flops = 1, .follows = true},                // + x
              {.reads = kOne, .writes = kOne, .flops = 1, .follows = true},                // scaled
              {.reads = kOne, .writes = kOne, .flops = 1, .special = 2, .follows = true},  // tanh
              {.reads = kOne, .writes = kOne, .flops = 1, .follows = true},                // + 1
              {.reads = kOne, .writes = kOne, .flops = 1},                                 // x/2
              {.reads = kTwo, .writes = kOne, .flops = 1, .follows = true}},
    .eager_backward = {{.reads = kTwo, .writes = kOne, .flops = 1, .launches = 2},
                       {.reads = kOne, .writes = kOne, .flops = 1, .launches = 5},
                       {.reads = kTwo, .writes = kOne, .flops = 3, .launches = 2},
                       {.reads = kTwo, .writes = kOne, .flops = 1, .launches = 2}}};

inline constexpr Movement kSum{.reads = kTwo, .writes = kOne, .flops = 1};
inline constexpr Operation kAdd{.fused = {kSum}, .fused_backward = {kSum}};

// Gradients of a norm (aten/src/ATen/native/cuda/layer_norm_kernel.cu): dx sweeps over x and dy
// twice, for its sums and for the result, by 128 threads with four elements at once; those of γ
// and β read both again, blocks of 32 columns and each thread eight rows of a step, for which 32
// registers take two round trips.
inline constexpr double kNormFlops = 5, kNormGradientFlops = 9;
inline constexpr Movement kNormInput{.walk = Walk::rows,
                                     .reads = kTwo,
                                     .writes = kOne,
                                     .flops = kNormGradientFlops,
                                     .sweeps = 2,
                                     .parameters = 1,
                                     .row = {8, 0},
                                     .threads = 128,
                                     .together = 4};
inline constexpr Movement kNormParameters{
    .walk = Walk::columns, .reads = kTwo, .flops = 4, .row = {8, 0}, .tall = 8, .chain = 2};
inline constexpr Operation kNormBackward{.fused = {kNormInput, kNormParameters}};

// The sum and its root mean square norm in one launch, both written; the gradient of the sum
// comes with that of the norm. Eager: the sum, then the norm as PyTorch's kernel has it.
inline constexpr Operation kResidualNorm{
    .fused =
        {{.walk = Walk::rows, .reads = kTwo, .writes = kTwo, .flops = kNormFlops, .parameters = 1}},
    .fused_backward = {{.walk = Walk::rows,
                        .reads = kThree,
                        .writes = kOne,
                        .flops = kNormGradientFlops + 3,
                        .parameters = 1,
                        .row = {8, 0}}},
    .eager = {kSum,
              {.walk = Walk::rows,
               .reads = kOne,
               .writes = kOne,
               .flops = kNormFlops,
               .sweeps = 2,
               .parameters = 1,
               .row = {0, 4},
               .follows = true}},
    .eager_backward = {kNormInput, kNormParameters, kSum}};

// A root mean square norm as models of Hugging Face write it: to fp32, squares, mean, ε and root
// of each row, product, back, γ. Backward: the gradients of γ's product, to fp32, those of the
// product by the root and by x, of the root of each row, of the square, their sum, and back.
inline constexpr Operation kPlainNorm{
    .fused = {{.walk = Walk::rows,
               .reads = kOne,
               .writes = kOne,
               .flops = kNormFlops,
               .sweeps = 2,
               .parameters = 1,
               .row = {0, 4}}},
    .fused_backward = kNormBackward.fused,
    .eager = {{.reads = kOne, .writes = kSingle},
              {.reads = kSingle, .writes = kSingle, .flops = 1, .follows = true},
              {.walk = Walk::rows, .reads = kSingle, .flops = 1, .row = {0, 4}, .follows = true},
              {.launches = 2, .row = {4, 4}},
              {.reads = kSingle, .writes = kSingle, .flops = 1, .row = {4, 0}},
              {.reads = kSingle, .writes = kOne, .follows = true},
              {.reads = kOne, .writes = kOne, .flops = 1, .follows = true}},
    .eager_backward = {
        {.reads = kOne, .writes = kOne, .flops = 1},
        {.reads = kTwo, .writes = kOne, .flops = 1},
        {.reads = kOne, .flops = 1, .follows = true},
        {.reads = kOne, .writes = kSingle},
        {.reads = kSingle, .writes = kSingle, .flops = 1, .row = {4, 0}},
        {.reads = kTwoSingles, .writes = kSingle, .flops = 1},
        {.walk = Walk::rows, .reads = kSingle, .flops = 1, .row = {0, 4}, .follows = true},
        {.launches = 5, .row = {8, 4}},
        {.reads = kSingle, .writes = kSingle, .flops = 1, .launches = 3},
        {.reads = kTwoSingles, .writes = kSingle, .flops = 1},
        {.reads = kSingle, .writes = kOne, .follows = true}}};

// A byte of mask an element, kept for the gradient.
inline constexpr Operation kDropout{
    .fused = {{.reads = kOne, .writes = kOneAndMask, .flops = 6}},
    .fused_backward = {{.reads = kOneAndMask, .writes = kOne, .flops = 2}}};

// The loss of a row: logits once for the largest and the sum, once more for their gradients,
// which replace them. Eager, as torch.profiler shows it: to fp32, log-softmax in three sweeps,
// the choice; zeros, the loss's gradient into them, log-softmax's gradient in two sweeps, and
// back to the type.
inline constexpr Movement kLossOfRows{
    .walk = Walk::rows, .reads = kOne, .flops = 3, .special = 1, .row = {kIndex, 12}};
inline constexpr Movement kLossGradients{.walk = Walk::rows,
                                         .reads = kOne,
                                         .writes = kOne,
                                         .flops = 3,
                                         .special = 1,
                                         .row = {kIndex + 8, 0}};
inline constexpr Operation kCrossEntropy{
    .fused = {kLossOfRows},
    .fused_backward = {kLossGradients},
    .eager = {{.reads = kOne, .writes = kSingle},
              {.walk = Walk::rows,
               .reads = kSingle,
               .writes = kSingle,
               .flops = 3,
               .special = 1,
               .sweeps = 3,
               .follows = true},
              {.row = {kIndex + 4, 4}}},
    .eager_backward = {{.writes = kSingle},
                       {.row = {kIndex, 4}},
                       {.walk = Walk::rows,
                        .reads = kTwoSingles,
                        .writes = kSingle,
                        .flops = 3,
                        .special = 1,
                        .sweeps = 2},
                       {.reads = kSingle, .writes = kOne, .follows = true}}};

// torch.optim.AdamW(fused=True): weights, gradients and two moments in, all but the gradients
// out, after a launch that counts the steps. Rates and averages are double precision
// (aten/src/ATen/native/cuda/fused_adam_utils.cuh): an element is widened or narrowed nine
// times; six products and sums, and a quotient of a dozen; a root and a quotient are fp32.
// foreach, its default: decay, average, product, sum of squares, root, correction, ε and the
// update, each over all tensors.
inline constexpr Operation kAdamw{
    .fused = {{},
              {.walk = Walk::chunks,
               .reads = {4},
               .writes = kThree,
               .flops = 14,
               .special = 2,
               .instructions = 20,  // a root and a quotient
               .widened = 9,
               .doubles = 18,
               .registers = 60}},
    .eager = {{.walk = Walk::chunks, .reads = kOne, .writes = kOne, .flops = 1, .launches = 5},
              {.walk = Walk::chunks, .reads = kTwo, .writes = kOne, .flops = 3, .launches = 2},
              {.walk = Walk::chunks, .reads = kThree, .writes = kOne, .flops = 2, .special = 1}}};

}  // namespace roofcast::layer
