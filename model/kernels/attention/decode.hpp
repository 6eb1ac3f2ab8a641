#pragma once
// The tiles that the CUDA kernel of attention.decode (kernels/attention/decode.cu) is instantiated
// from.
#include <array>
#include <cstdint>

#include "model/kernels/attention/flash.hpp"

namespace roofcast::attention::decoding {

/// Most queries of all heads that share K and V: the rows of a matrix instruction.
inline constexpr std::int64_t kMostRows = 16;
inline constexpr std::int64_t kUnitKeys = 16;  ///< keys of a unit; warps take units in turn
inline constexpr std::int64_t kMostSplits = 4096;

/// A block takes one part of the keys of one head of K and V.
struct Tile {
  std::int64_t head_dim;
  std::int64_t warps;
  std::int64_t stages;  ///< units of K, and of V, that a warp has in flight
  int blocks;           ///< resident per SM (__launch_bounds__)

  constexpr std::int64_t threads() const { return 32 * warps; }
  /// Bytes of a warp's stage: kUnitKeys rows of K and of V, two bytes an element.
  constexpr std::int64_t stage_bytes() const { return 2 * kUnitKeys * head_dim * 2; }
  /// Dynamic: the stages, and Q.
  constexpr std::int64_t shared_bytes() const {
    return warps * stages * stage_bytes() + kMostRows * head_dim * 2;
  }
  /// Static: the maximum and the sum of each row of each warp.
  constexpr std::int64_t static_shared_bytes() const { return warps * kMostRows * 8; }
};
/// By head dim, as kHeadDims.
inline constexpr std::array<Tile, 3> kTiles = {{{64, 4, 6, 2}, {128, 4, 3, 2}, {256, 4, 3, 1}}};

/// Warps of a block that adds the parts of a row; they take parts in turn.
inline constexpr std::int64_t kCombineWarps = 8;
inline constexpr std::int64_t kCombineSharedBytes = kCombineWarps * kHeadDims.back() * 4;

}  // namespace roofcast::attention::decoding
