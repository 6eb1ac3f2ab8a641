#pragma once
#include <cstddef>
#include <cstdint>

#include "model/kernel_model.hpp"
#include "model/kernels/rows.hpp"

namespace roofcast::softmax {

/// Positions in Problem after the shape: of the sweeps, and of the kernels that hold the row.
enum SweepParameter : std::size_t { kThreads = 2 };
enum HeldParameter : std::size_t { kVectors = 2, kCluster = 3 };

/// Accesses of 16 bytes a thread may hold: 32 elements, which are fp32 in registers.
constexpr std::int64_t most_vectors(std::int64_t element_bytes) {
  return 2 * element_bytes;
}

/// A block's slice of a row where `cluster` is chosen: small enough that several blocks fit an SM,
/// so that some load while others reduce or store.
inline constexpr std::int64_t kSliceBytes = std::int64_t{32} * 1024;

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

constexpr rows::Layout cluster_layout(const Problem& p) {
  const std::int64_t chosen = rows::cluster_for(p[rows::kCols] * element_bytes(p), kSliceBytes);
  return rows::held_layout(p[rows::kCols], element_bytes(p), p[kVectors],
                           most_vectors(element_bytes(p)),
                           p[kCluster] != 0 ? p[kCluster] : std::max<std::int64_t>(2, chosen));
}

extern const KernelFamily kFamily;

}  // namespace roofcast::softmax
