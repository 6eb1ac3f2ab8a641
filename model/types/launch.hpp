#pragma once
#include <array>
#include <cstdint>

namespace roofcast {

/// The most blocks of a grid along y and along z, on every compute capability (CUDA C++ Programming
/// Guide, technical specifications). Plans split their rows by this limit.
inline constexpr std::int64_t kMostBlocksYZ = 65535;

/// A grid of thread blocks and what each block holds while it runs.
struct Launch {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{1, 1, 1};
  std::array<std::int64_t, 3> cluster{1, 1, 1};
  std::int64_t registers = 0;     ///< per thread
  std::int64_t shared_bytes = 0;  ///< per block, static and dynamic

  constexpr std::int64_t blocks() const { return grid[0] * grid[1] * grid[2]; }
  constexpr std::int64_t cluster_blocks() const { return cluster[0] * cluster[1] * cluster[2]; }
  constexpr std::int64_t threads() const { return block[0] * block[1] * block[2]; }
  constexpr double warps() const { return static_cast<double>((threads() + 31) / 32); }
};

}  // namespace roofcast
