#pragma once
// What the counters say of attention.flash2 and attention.flash3.
#include <array>

#include "model/kernels/attention/backward.hpp"
#include "model/kernels/attention/flash.hpp"

namespace roofcast::attention {

/// Of a thread for a score that a mask cuts: a comparison and a selection.
inline constexpr double kMaskInstructions = 2;
inline constexpr Kernel kMma = {.product = Instruction::mma_sync,
                                .instructions_a_mask = kMaskInstructions};
/// Forward multiplies the sums in every step.
inline constexpr Kernel kMmaForward = {.product = Instruction::mma_sync,
                                       .instructions_a_sum = 1,
                                       .instructions_a_mask = kMaskInstructions};
inline constexpr Kernel kWgmma = {.product = Instruction::wgmma,
                                  .instructions_a_mask = kMaskInstructions};

// By head dim: instructions of a thread for a score of a step, and for a row of the block before
// and after its steps. By the counters of 1024 to 16384 keys, which tell one from the other; passes
// beside the blocks are counted apart.
struct Counted {
  double a_score, a_row;
};
// Without the multiplications of O.
inline constexpr std::array<Counted, 3> kFlash2Forward = {{{8.3, 950}, {12.2, 1540}, {21.4, 2730}}};
inline constexpr std::array<Counted, 3> kFlash3Forward = {{{6.5, 760}, {6.3, 1480}, {9.2, 1800}}};

/// Of backward: blocks of keys, which add up dQ; and in two passes, of a score, blocks of keys
/// without dQ, and blocks of queries for dQ alone.
struct CountedBackward {
  Counted keys;
  double without_dq, dq_alone;
};
inline constexpr std::array<CountedBackward, 3> kFlash2Backward = {
    {{{23.4, 2670}, 14.4, 9.8}, {{34.5, 3440}, 21.7, 15.9}, {{93.9, 4970}, 63, 34}}};
inline constexpr std::array<CountedBackward, 3> kFlash3Backward = {
    {{{9.4, 320}, 8.3, 6.1}, {{13.0, 640}, 10.7, 6.8}, {{26.7, 1280}, 24.3, 20}}};

// Products that a warp of mma.sync has under way.
inline constexpr double kUnrolled = 4.5;

Backward flash2_backward(const Shape& shape, DqSum dq, DType type);
Backward flash3_backward(const Shape& shape, DqSum dq, DType type);

}  // namespace roofcast::attention
