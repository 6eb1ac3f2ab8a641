#pragma once
// What kernels generated at run time take beside their arithmetic, by the counters of copies and
// triads.

namespace roofcast::generated {

inline constexpr double kInstructionsPerThread = 16;   ///< index and exit
inline constexpr double kInstructionsPerAccess = 8.2;  ///< address, bounds test and predicate
/// Of the instructions, those that wait for the one before: addresses, tests, conversions. By the
/// time that blocks alone on an SM take.
inline constexpr double kDependentShare = 0.5;

}  // namespace roofcast::generated
