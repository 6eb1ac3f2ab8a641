#pragma once
// What the softmax kernels issue, counted.
#include <array>

#include "model/kernels/common/rows.hpp"

namespace roofcast::softmax {

/// Arithmetic for each element of a row, counted in the kernel's source: a maximum is no FLOP by
/// the counters; e^x is a product with log2 e and one special function.
struct PerElement {
  double flops;
  double special;
};
inline constexpr PerElement kHeld = {4, 1};  // max | - ·log2e exp + | ·scale
inline constexpr PerElement kRing = {4, 1};  // the same
/// ·log2e+ exp, inside rows whose exponentials are not kept.
inline constexpr PerElement kRingAgain = {2, 1};
inline constexpr PerElement kThreePass = {6, 2};  // max | - ·log2e exp + | - ·log2e exp ·scale
inline constexpr PerElement kOnline = {6, 2};     // the same, max and sum in one sweep
inline constexpr double kRescaleFlops = 4;        // of the online sum, once a vector

// Instructions of a warp, in fp32 and in 16-bit types: least squares of the counters, which it
// meets within 3%.
using rows::Instructions;
inline constexpr std::array kHeldInstructions = {Instructions{47, 55, 0, 93, 63, 0},
                                                 Instructions{80, 85, 0, 99, 67, 0}};
inline constexpr std::array kRingInstructions = {Instructions{76, 76, 0, 0, 19, 84},
                                                 Instructions{130, 94, 0, 3, 21, 84}};
/// Of the sweeps, beside the turns of their loops.
struct Swept {
  double vector;  ///< each access of the last sweep inside the row
  double warp;    ///< each warp, where several share the row
  double alone;   ///< a warp that has a row
};
inline constexpr std::array kThreePassInstructions = {Swept{25, 266, 153}, Swept{51, 258, 186}};
inline constexpr std::array kOnlineInstructions = {Swept{25, 208, 142}, Swept{52, 209, 142}};
inline constexpr double kShufflesOfWarp = 10;
/// One operation after each shuffle, and the exponential that rescales a sum: product, ex2 (as long
/// as four), product.
inline constexpr double kDependentOfMerge = 16;
/// In operations as long as a multiply-add. Where a running sum is rescaled: the test of the
/// maximum (3), difference, product, exponential (5), product, and the first exponential to be
/// added (4).
inline constexpr double kDependentOfRescale = 14;
/// Addresses and tests of a batch of loads, and the unpacking or the exponentials of its first
/// vector.
inline constexpr double kDependentOfBatch = 15;
/// Where a row begins and ends: its address, its edges; as in the machine code of the reductions.
inline constexpr double kDependentOfEnds = 32;
/// The factor of a row that is held, from its sum and the warp's maximum: exponential, reciprocal,
/// products, and the exponential before the sum.
inline constexpr double kDependentOfScale = 28;

}  // namespace roofcast::softmax
