#pragma once
// Barriers and copies of boxes that gemm.wgmma is made of (PTX ISA: mbarrier,
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
/// At the same barrier of block `rank` of the cluster, itself included. It says that shared memory
/// was read and publishes nothing, so it needs no release beyond the block, which would wait for
/// all of the warp's accesses.
__device__ inline void arrive_at(Mbarrier mbarrier, int rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mbarrier.address), "r"(rank));
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
}

/// Brings a tensor map, a kernel parameter, to where the copies look for it.
__device__ inline void prefetch(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

/// Starts the copy of a box of matrix `index` (BoxedMatrices) to shared memory; its bytes count
/// towards the barrier. With kToAll it goes to the same place in every block of the cluster of two,
/// and counts at each one's barrier.
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
/// An operand whose boxes are lines of k, as the copy engine sees it. `edge` has only the lines of
/// the last box that exist; it is `whole` where all do. Zeros for the others would take the engine
/// 4 to 5 clocks a line more than lines do.
struct EdgedMap {
  CUtensorMap whole, edge;

  /// Starts the copy of those lines of a box of `lines` that begins at `line`, if there are any.
  template <bool kToAll>
  __device__ void copy(unsigned to, int lines, int k, int line, int extent, int matrix,
                       Mbarrier mbarrier) const {
    const int there = existing(line, lines, extent);
    if (there == 0) return;
    copy_box<kToAll>(to, there == lines ? whole : edge, k, line, matrix, mbarrier);
  }
};

/// Of `rows` lines in boxes of `box_rows`; `map_of` makes the map of boxes of so many.
template <class MapOf>
EdgedMap edged_map(int rows, int box_rows, const MapOf& map_of) {
  const CUtensorMap whole = map_of(box_rows);
  const int rest = rows % box_rows;
  return {whole, rest == 0 ? whole : map_of(rest)};
}

/// Starts the store of a box; commit_stores() makes a group of those since the last one.
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

/// All 128 threads of a consumer warpgroup meet. Barrier 0 is that of the block.
__device__ inline void meet(int warpgroup) {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + warpgroup) : "memory");
}

}  // namespace roofcast::cuda::gemm
