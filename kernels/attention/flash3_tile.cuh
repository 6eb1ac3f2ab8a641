#pragma once
// A tile of attention.flash3 forward: its shape and its place in shared memory and registers.
#include <cmath>
#include <cstdint>

#include "kernels/attention/tiles.hpp"
#include "kernels/common/row_ring.cuh"
#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::attention::hopper {

using rows::Mbarrier;

inline constexpr int kWarpgroup = 128;
inline constexpr int kRowsOfWarpgroup = 64;
inline constexpr int kAlignment = 1024;    // of swizzled panels
inline constexpr int kPanelElements = 64;  // a line of a panel: 128 bytes
inline constexpr int kStep = 16;           // elements of k that one instruction takes
inline constexpr int kLinesBytes = 8 * gemm::kPanelBytes;  // from 8 lines to the next 8
inline constexpr int kTileBytes = 16;                      // of Tiles::Tile
inline constexpr unsigned kAllLanes = 0xffffffff;

template <class Element_, int kHead_, int kQueries_, int kKeys_, int kStages_, int kStagesQ_>
struct Tile {
  using Element = Element_;
  static constexpr int kHead = kHead_, kQueries = kQueries_, kKeys = kKeys_;
  static constexpr int kStages = kStages_, kStagesQ = kStagesQ_;
  static constexpr int kWarpgroups = kQueries / kRowsOfWarpgroup;
  static constexpr int kThreads = kWarpgroup * (1 + kWarpgroups);
  static constexpr int kPanels = kHead / kPanelElements;
  static constexpr int kBytesQ = kRowsOfWarpgroup * kHead * 2;  // of a warpgroup
  static constexpr int kBytesKv = kKeys * kHead * 2;            // of a stage of K, and of V
  static constexpr int kTilesQ = kWarpgroups * kStagesQ;
  static constexpr int kBarriers = 2 * kTilesQ + 4 * kStages;
  static constexpr int kSharedBytes = kAlignment + kTilesQ * kBytesQ + 2 * kStages * kBytesKv +
                                      kBarriers * 8 + kTilesQ * kTileBytes;
  /// Of a thread: scores of a step, and sums of O.
  static constexpr int kScores = kKeys / 2, kSums = kHead / 2;
  /// Registers: 65536 / kThreads at launch, rounded down to 8; then these.
  static constexpr int kProducerRegisters = kWarpgroups == 2 ? 24 : 32;
  static constexpr int kConsumerRegisters = kWarpgroups == 2 ? 240 : 160;
  static_assert(sizeof(Element) == 2);
  static_assert((kProducerRegisters + kWarpgroups * kConsumerRegisters) * kWarpgroup <= 65536);
  static_assert(kSharedBytes <= 227 * 1024);
  static_assert(kKeys % kStep == 0 && kKeys <= 256 && kHead % kPanelElements == 0);
};

/// 2^x, to 2 units in the last place; results too small for a normal number are 0.
__device__ inline float exp2_of(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

/// The four lanes of a row hold a word of each of four chunks: afterwards lane i holds all of chunk i.
__device__ inline void exchange(std::uint32_t (&word)[4]) {
#pragma unroll
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool upper = (threadIdx.x & static_cast<unsigned>(bit)) != 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if ((i & bit) != 0) continue;
      const std::uint32_t given = upper ? word[i] : word[i + bit];
      const std::uint32_t taken = __shfl_xor_sync(kAllLanes, given, bit);
      word[i] = upper ? taken : word[i];
      word[i + bit] = upper ? word[i + bit] : taken;
    }
  }
}

/// Stores eight elements, at once where the address is a multiple of 16 bytes.
template <class Element>
__device__ void store_chunk(Element* to, const std::uint32_t (&word)[4], bool vector) {
  if (vector) {
    *reinterpret_cast<uint4*>(to) = make_uint4(word[0], word[1], word[2], word[3]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[2 * i] = __builtin_bit_cast(Element, static_cast<std::uint16_t>(word[i]));
    to[2 * i + 1] = __builtin_bit_cast(Element, static_cast<std::uint16_t>(word[i] >> 16));
  }
}

}  // namespace roofcast::cuda::attention::hopper
