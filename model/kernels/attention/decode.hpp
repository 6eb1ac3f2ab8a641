#pragma once
// The tiles of attention.decode (kernels/attention/decode.cu), which the CUDA kernel is
// instantiated from.
#include <array>
#include <cstdint>

#include "model/kernels/attention/flash.hpp"

namespace roofcast::attention::decoding {

/// Queries of the heads that share K and V, together: the rows of a matrix instruction.
inline constexpr std::int64_t kMostRows = 16;
inline constexpr std::int64_t kUnitKeys =
    16;  ///< that a warp takes at once, alternating with others
inline constexpr std::int64_t kMostSplits = 4096;

/// A block takes a part of the keys of one head of K and V.
struct Tile {
  std::int64_t head_dim;
  std::int64_t warps;
  std::int64_t stages;  ///< units of a warp's keys, and of its values, that are on their way
  int blocks;           ///< an SM, for which registers are left

  constexpr std::int64_t threads() const { return 32 * warps; }
  /// Bytes of a warp's stage: kUnitKeys rows of K and of V, two bytes an element.
  constexpr std::int64_t stage_bytes() const { return 2 * kUnitKeys * head_dim * 2; }
  /// The stages, and Q.
  constexpr std::int64_t shared_bytes() const {
    return warps * stages * stage_bytes() + kMostRows * head_dim * 2;
  }
  /// Beside them, the maximum and the sum of each row of each warp.
  constexpr std::int64_t static_shared_bytes() const { return warps * kMostRows * 8; }
};
/// By head dim, as kHeadDims.
inline constexpr std::array<Tile, 3> kTiles = {{{64, 4, 6, 2}, {128, 4, 3, 2}, {256, 4, 3, 1}}};

/// Warps of a block that adds the parts of a row, in turn.
inline constexpr std::int64_t kCombineWarps = 8;
inline constexpr std::int64_t kCombineSharedBytes = kCombineWarps * kHeadDims.back() * 4;

}  // namespace roofcast::attention::decoding
