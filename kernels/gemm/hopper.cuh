#pragma once
// Barriers and TMA copies, the building blocks of gemm.wgmma (PTX ISA: mbarrier,
// cp.async.bulk.tensor).
#include <cuda.h>

#include <cstdint>

#include "kernels/common/row_ring.cuh"
#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::gemm {

using rows::Cluster;
using rows::Mbarrier;

__device__ inline void init(Mbarrier mbarrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(mbarrier.address), "r"(arrivals)
               : "memory");
}
__device__ inline void arrive(Mbarrier mbarrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(mbarrier.address)
               : "memory");
}
/// Arrives at the same barrier of block `rank` of the cluster, which may be this block. The arrival
/// says that shared memory was read and publishes no data, so it needs no release beyond the block,
/// which would wait for all of the warp's accesses.
__device__ inline void arrive_at(Mbarrier mbarrier, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mbarrier.address), "r"(rank));
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
}

/// Prefetches a tensor map, a kernel parameter, for later copies.
__device__ inline void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Starts the copy of a box of matrix `index` (BoxedMatrices) to shared memory; its bytes count
/// towards the barrier. kToAll: the box is multicast to the same address in both blocks of the
/// cluster, and its bytes count towards the barrier of each.
template <bool kToAll = false>
__device__ void copy_box(unsigned to, const CUtensorMap& map, int column, int row, int index,
                         Mbarrier mbarrier) {
  if constexpr (kToAll) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(to),
        "l"(&map), "r"(column), "r"(row), "r"(index), "r"(mbarrier.address),
        "h"(static_cast<std::uint16_t>(3))
        : "memory");
  } else {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
        "l"(&map), "r"(column), "r"(row), "r"(index), "r"(mbarrier.address)
        : "memory");
  }
}
/// Tensor maps of an operand whose boxes are lines of k. The boxes of `edge` have only those lines
/// of the last box that exist; `edge` equals `whole` where all do. Filling the missing lines with
/// zeros would take TMA 4 to 5 clocks a line more than copying lines does.
struct EdgedMap {
  CUtensorMap whole, edge;

  /// Starts the copy of the existing lines, if any, of a box of `lines` lines that begins at
  /// `line`.
  template <bool kToAll>
  __device__ void copy(unsigned to, int lines, int k, int line, int extent, int matrix,
                       Mbarrier mbarrier) const {
    const int there = existing(line, lines, extent);
    if (there == 0) return;
    copy_box<kToAll>(to, there == lines ? whole : edge, k, line, matrix, mbarrier);
  }
};

/// The maps for `rows` lines in boxes of `box_rows` lines; map_of(n) makes a map of boxes of n.
template <class MapOf>
EdgedMap edged_map(int rows, int box_rows, const MapOf& map_of) {
  const CUtensorMap whole = map_of(box_rows);
  const int rest = rows % box_rows;
  return {whole, rest == 0 ? whole : map_of(rest)};
}

/// Starts the store of a box; commit_stores() makes a group of all stores since the last commit.
__device__ inline void store_box(const CUtensorMap& map, int column, int row, int index,
                                 unsigned from) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(
          &map),
      "r"(column), "r"(row), "r"(index), "r"(from)
      : "memory");
}
__device__ inline void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until at most kPending of this thread's stores still read shared memory.
template <int kPending>
__device__ void wait_for_reads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

/// Synchronizes the 128 threads of a consumer warpgroup. Barrier 0 is that of the block.
__device__ inline void meet(int warpgroup) {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + warpgroup) : "memory");
}

}  // namespace roofcast::cuda::gemm
