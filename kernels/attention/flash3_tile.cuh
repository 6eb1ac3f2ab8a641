#pragma once
// A tile of attention.flash3 forward: its shape and its place in shared memory and registers.
#include <cmath>
#include <cstdint>

#include "kernels/attention/instructions.cuh"
#include "kernels/attention/tiles.hpp"
#include "kernels/common/row_ring.cuh"
#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::attention::hopper {

using rows::Mbarrier;

inline constexpr int kWarpgroup = 128;
inline constexpr int kRowsOfWarpgroup = 64;
inline constexpr int kAlignment = 1024;    // bytes, of swizzled panels
inline constexpr int kPanelElements = 64;  // a line of a panel: 128 bytes
inline constexpr int kStep = 16;           // elements of k that one instruction takes
inline constexpr int kLinesBytes = 8 * gemm::kPanelBytes;  // bytes from 8 lines to the next 8
inline constexpr int kTileBytes = 16;                      // bytes of a Tiles::Tile
inline constexpr unsigned kAllLanes = 0xffffffff;

template <class Element_, int kHead_, int kQueries_, int kKeys_, int kStages_, int kStagesQ_>
struct Tile {
  using Element = Element_;
  static constexpr int kHead = kHead_, kQueries = kQueries_, kKeys = kKeys_;
  static constexpr int kStages = kStages_, kStagesQ = kStagesQ_;
  static constexpr int kWarpgroups = kQueries / kRowsOfWarpgroup;
  static constexpr int kThreads = kWarpgroup * (1 + kWarpgroups);
  static constexpr int kPanels = kHead / kPanelElements;
  static constexpr int kBytesQ = kRowsOfWarpgroup * kHead * 2;  // bytes of Q of a warpgroup
  static constexpr int kBytesKv = kKeys * kHead * 2;            // bytes of a stage of K, and of V
  static constexpr int kTilesQ = kWarpgroups * kStagesQ;
  static constexpr int kBarriers = 2 * kTilesQ + 4 * kStages;
  static constexpr int kSharedBytes = kAlignment + kTilesQ * kBytesQ + 2 * kStages * kBytesKv +
                                      kBarriers * 8 + kTilesQ * kTileBytes;
  /// Scores of a step, and sums of O, that a thread holds.
  static constexpr int kScores = kKeys / 2, kSums = kHead / 2;
  /// Registers of a thread: at launch 65536 / kThreads, rounded down to 8; after setmaxnreg these.
  static constexpr int kProducerRegisters = kWarpgroups == 2 ? 24 : 32;
  static constexpr int kConsumerRegisters = kWarpgroups == 2 ? 240 : 160;
  static_assert(sizeof(Element) == 2);
  static_assert((kProducerRegisters + kWarpgroups * kConsumerRegisters) * kWarpgroup <= 65536);
  static_assert(kSharedBytes <= 227 * 1024);
  static_assert(kKeys % kStep == 0 && kKeys <= 256 && kHead % kPanelElements == 0);
};

}  // namespace roofcast::cuda::attention::hopper
