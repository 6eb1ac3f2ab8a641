#pragma once
#include "model/kernels/common/rows.hpp"

namespace roofcast::softmax {

using rows::element_bytes;

/// Positions in Problem after the shape: of three_pass and online, of registers, and of cluster.
enum SweepParameter : std::size_t { kThreads = 2 };
enum HeldParameter : std::size_t { kVectors = 2 };
enum ClusterParameter : std::size_t { kCluster = 2, kRowsPerCluster, kStages };

/// Most 16-byte accesses a thread holds: 32 elements, as fp32 in registers.
constexpr std::int64_t most_vectors(std::int64_t element_bytes) {
  return 2 * element_bytes;
}

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
  return rows::held_layout(p[rows::kCols], element_bytes(p), p[kVectors], 1);
}

constexpr rows::Layout cluster_layout(const Problem& p) {
  return rows::ring_layout(p[rows::kCols], element_bytes(p), kRingVectors, p[kCluster],
                           p[kRowsPerCluster]);
}

extern const KernelFamily kFamily;

}  // namespace roofcast::softmax
