#pragma once
// The table of what caches, quantization and routing move, by PyTorch's sources, with launches as
// torch.profiler shows them (PyTorch 2.11).
#include "model/libraries/layer_operations.hpp"

namespace roofcast::layer {

// Keys and values of a token beside each other; each knows its place. Eager: index_copy_
// (aten/src/ATen/native/cuda/IndexKernel.cu), which divides each element's number by the extents
// for three operands' offsets.
inline constexpr Operation kCacheAppend{
    .fused = {{.reads = kOne, .writes = kOne, .row = {kIndex, 0}}},
    .eager = {{.walk = Walk::indexed,
               .reads = kOne,
               .writes = kOne,
               .row = {kIndex, 0},
               .instructions = 60}}};

inline constexpr Arrays kNarrow{0, 0, 1};

// By a scale that is known, or by the largest element, found first.
inline constexpr Operation kQuantize{
    .fused = {{.reads = kOne, .writes = kNarrow, .flops = 1}},
    .eager = {{.walk = Walk::rows, .reads = kOne, .flops = 1, .row = {0, 4}},
              {.reads = kOne, .writes = kNarrow, .flops = 1, .row = {4, 0}}}};
// The largest of each row, which a block reads twice.
inline constexpr Operation kQuantizeRows{.fused = {{.walk = Walk::rows,
                                                    .reads = kOne,
                                                    .writes = kNarrow,
                                                    .flops = 1,
                                                    .sweeps = 2,
                                                    .row = {0, 4}}}};

// Softmax over the experts and as many rounds of a maximum as a token has experts: weight, expert
// and place of each. Eager: to fp32, softmax, top-k, the weights' sum and quotient, and back. Top-k
// (aten/src/ATen/native/cuda/TensorTopK.cu) is a block a row, an element a thread, which looks for
// the last chosen by two bits a round: nine of sign and exponent, and as many of the fraction as
// tell the elements apart; a round finds it and two gather what is larger and what is equal. Then
// 16 rows a block sort 32 places in 15 exchanges.
inline constexpr double kChoiceBytes = 12;
inline constexpr Operation kTopK{.fused = {{.walk = Walk::rows,
                                            .reads = kOne,
                                            .flops = 3,
                                            .special = 1,
                                            .row_of = {0, kChoiceBytes},
                                            .flops_of = 1}},
                                 .eager = {{.reads = kOne, .writes = kSingle},
                                           {.walk = Walk::rows,
                                            .reads = kSingle,
                                            .writes = kSingle,
                                            .flops = 3,
                                            .special = 1,
                                            .follows = true,
                                            .rows_of_block = 8},
                                           {.walk = Walk::rows,
                                            .reads = kSingle,
                                            .row_of = {0, kChoiceBytes},
                                            .follows = true,
                                            .together = 1,
                                            .rounds = 7.5,
                                            .rounds_of_doubling = 0.5},
                                           {.walk = Walk::rows,
                                            .row_of = {kChoiceBytes, kChoiceBytes},
                                            .follows = true,
                                            .threads = 256,
                                            .rows_of_block = 16,
                                            .rounds = 15},
                                           {.launches = 3, .row_of = {8, 4}}}};

}  // namespace roofcast::layer
