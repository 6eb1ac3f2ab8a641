#pragma once
#include "model/kernels/common/rows.hpp"

namespace roofcast::softmax {

/// Positions in Problem after the shape: of three_pass and online, of registers, and of cluster.
enum SweepParameter : std::size_t { kThreads = 2 };
enum HeldParameter : std::size_t { kVectors = 2 };
enum ClusterParameter : std::size_t { kCluster = 2, kRowsPerCluster, kStages };

/// softmax.cluster: most threads of a block, accesses of a thread, and so bytes of a block's slice.
inline constexpr std::int64_t kRingThreads = 512;
inline constexpr std::int64_t kRingVectors = 8;
inline constexpr std::int64_t kSliceBytes = kRingThreads * kRingVectors * rows::kVectorBytes;

/// The layout of the sweeps: a block for each row, or with 32 threads a warp.
constexpr rows::Layout sweep_layout(const Problem& p) {
  return {.threads = p[kThreads],
          .rows_per_block = p[kThreads] == rows::kWarp ? rows::kWarpsPerBlock : 1};
}

constexpr rows::Layout registers_layout(const Problem& p) {
  return rows::held_layout(rows::vectors_of(p), p[kVectors], 1);
}

constexpr rows::Layout cluster_layout(const Problem& p) {
  return rows::ring_layout(rows::vectors_of(p), kRingVectors, p[kCluster], p[kRowsPerCluster]);
}

extern const KernelFamily kFamily;

}  // namespace roofcast::softmax
