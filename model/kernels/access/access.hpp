#pragma once
#include <array>

#include "model/types/kernel_model.hpp"

namespace roofcast::access {

/// Threads of a block in all of these kernels; 32 by 8 where they access a matrix.
inline constexpr std::int64_t kThreads = 256;

/// Positions of the values in Problem, by variant.
namespace strided {
enum Parameter : std::size_t { kElements, kStride, kWidth };
}
namespace offset {
enum Parameter : std::size_t { kElements, kOffset };
}
namespace gather {
enum Parameter : std::size_t { kElements, kWindow, kDistribution };
enum Distribution : std::int64_t { kShuffled, kUniform };
inline constexpr std::array<std::string_view, 2> kDistributions = {"shuffled", "uniform"};

/// The factor a of a shuffled gather: element i of a window reads place (a·i) mod window, a
/// permutation, since a is odd and the window a power of two (Knuth's multiplicative hash).
inline constexpr std::uint64_t kMultiplier = 2654435761;
}  // namespace gather
namespace matrix {
enum Parameter : std::size_t { kRows, kColumns };
inline constexpr std::int64_t kLanes = 32;
inline constexpr std::int64_t kDepth = 8;  ///< extent of a block across its lanes: rows or columns
}  // namespace matrix
namespace shared {
enum Parameter : std::size_t { kElements, kStride, kWidth, kRepeats };
/// Addresses, one access apart, that a lane cycles through, so that consecutive accesses differ.
inline constexpr std::int64_t kShifts = 8;

/// 4-byte words of shared memory that a block reads.
constexpr std::int64_t words(std::int64_t stride, std::int64_t width) {
  return 31 * stride + kShifts * width;
}
}  // namespace shared

LaunchSequence plan_shared(const Problem& problem, const Gpu& gpu);

extern const KernelFamily kFamily;

}  // namespace roofcast::access
