#pragma once
#include <cstddef>
#include <cstdint>

#include "model/kernels/rows.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::softmax {

/// Positions in Problem after the shape: of the sweeps, of the kernel that holds the row in
/// registers, and of the one through which rows stream.
enum SweepParameter : std::size_t { kThreads = 2 };
enum HeldParameter : std::size_t { kVectors = 2 };
enum ClusterParameter : std::size_t { kCluster = 2, kRowsPerCluster, kStages };

/// Accesses of 16 bytes a thread may hold: 32 elements, which are fp32 in registers.
constexpr std::int64_t most_vectors(std::int64_t element_bytes) {
  return 2 * element_bytes;
}

/// Of softmax.cluster: threads of a block at most, 16-byte accesses of each, and with both the
/// bytes of a row in a block.
inline constexpr std::int64_t kRingThreads = 512;
inline constexpr std::int64_t kRingVectors = 8;
inline constexpr std::int64_t kSliceBytes = kRingThreads * kRingVectors * rows::kVectorBytes;

/// A block a row, or a warp a row where a block is one warp.
constexpr rows::Layout sweep_layout(const Problem& p) {
  rows::Layout layout;
  layout.threads = p[kThreads];
  layout.rows_per_block = p[kThreads] == rows::kWarp ? rows::kWarpsPerBlock : 1;
  return layout;
}

constexpr std::int64_t element_bytes(const Problem& p) {
  return static_cast<std::int64_t>(size_bytes(p.dtype));
}

constexpr rows::Layout registers_layout(const Problem& p) {
  return rows::held_layout(p[rows::kCols], element_bytes(p), p[kVectors],
                           most_vectors(element_bytes(p)), 1);
}

/// Rows in turn: what was measured fastest on an H200 with 2^28 elements (2026-11-21), fewer where
/// blocks would be few.
constexpr rows::Layout cluster_layout(const Problem& p) {
  constexpr std::int64_t kEnoughBlocks = 1024;
  const std::int64_t chosen = rows::cluster_for(p[rows::kCols] * element_bytes(p), kSliceBytes);
  rows::Layout layout = rows::ring_layout(p[rows::kCols], element_bytes(p), kRingVectors,
                                          p[kCluster] != 0 ? p[kCluster] : chosen);
  layout.rows_per_cluster = p[kRowsPerCluster];
  if (layout.rows_per_cluster == 0) {
    layout.rows_per_cluster = layout.cluster > 1 ? 8 : element_bytes(p) == 4 ? 2 : 1;
    while (layout.rows_per_cluster > 1 && layout.blocks(p[rows::kRows]) < kEnoughBlocks)
      layout.rows_per_cluster /= 2;
  }
  return layout;
}

/// Buffers of each warp.
constexpr std::int64_t cluster_stages(const Problem& p) {
  return p[kStages] != 0 ? p[kStages] : 1;
}

extern const KernelFamily kFamily;

}  // namespace roofcast::softmax
