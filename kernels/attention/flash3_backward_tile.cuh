#pragma once
// What the two passes of attention.flash3 backward share: their tiles, copies of boxes, operands in
// shared memory, and the kernels' parameters.
#include <cuda.h>

#include <cmath>
#include <cstdint>

#include "kernels/attention/flash3_backward_layout.cuh"
#include "kernels/gemm/hopper.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/wgmma_epilogue.cuh"
#include "kernels/gemm/wgmma_instruction.cuh"
#include "model/kernels/attention/tiles.hpp"

namespace roofcast::cuda::attention::flash3_backward {

using gemm::copy_box;
using gemm::kPanelBytes;
using gemm::kStepBytes;
using gemm::Mbarrier;
using gemm::pair_of;
using gemm::Ring;
using gemm::store_box;
using gemm::hopper::kAlignment;
using gemm::hopper::kWarpgroup;
using roofcast::attention::Flash3BackwardTile;
using roofcast::attention::Flash3DqTile;

constexpr int kSumming = 2;  ///< warpgroups that hold sums
constexpr int kSummingWarps = kSumming * kWarpgroup / 32;
constexpr int kBoxRows = 64;
constexpr int kPanelColumns = kPanelBytes / 2;
constexpr int kBoxBytes = kBoxRows * kPanelBytes;
constexpr int kCopyRegisters = 24, kSumRegisters = 240;
static_assert((kCopyRegisters + kSumming * kSumRegisters) * kWarpgroup <= 65536);

/// Parameters of the kernels besides the tensor maps.
struct Work {
  int seq_q, seq_kv;
  int rows;      ///< seq_q, padded to kPaddedQueries
  int heads;     ///< heads that blocks are numbered by: of K and V; in the pass for dQ, of Q
  int group;     ///< query heads that share a K and V
  int together;  ///< heads that are worked on at once: see block_tile
  bool causal;
  float scale;       ///< 1/√head_dim
  const float* lse;  ///< of each query head and row, times log2 e; +∞ beyond the last row
  const float* d;    ///< rowsum(dO∘O); 0 beyond the last row
  float* dq;         ///< sums without the scale, tiles as dq_place says; null: not summed

  __device__ int shift() const { return seq_kv - seq_q; }
  __device__ float exponent_scale() const { return scale * 1.44269504F; }  // log2 e
};

/// Copies rows `row` … of a head to panels of kRows lines × 128 bytes.
template <int kRows, int kHeadDim>
__device__ void copy_rows(unsigned to, const CUtensorMap& map, int row, int head,
                          Mbarrier mbarrier) {
  constexpr int kBox = kRows < kBoxRows ? kRows : kBoxRows;
#pragma unroll
  for (int p = 0; p < kHeadDim / kPanelColumns; ++p) {
#pragma unroll
    for (int r = 0; r < kRows; r += kBox) {
      copy_box(to + static_cast<unsigned>((p * kRows + r) * kPanelBytes), map, p * kPanelColumns,
               row + r, head, mbarrier);
    }
  }
}

/// 64 × kColumns scores, or their gradients: A·Bᵀ over the head dim, from panels of kRowsA and of
/// kRowsB lines.
template <class Element, int kColumns, int kHeadDim, int kRowsA, int kRowsB>
__device__ void multiply_head(float (&sum)[kColumns / 2], unsigned a, unsigned b) {
#pragma unroll
  for (int s = 0; s < kHeadDim / 16; ++s) {
    gemm::multiply<Element, kColumns, true>(sum, whole_descriptor(a + step_along<kRowsA>(s)),
                                            whole_descriptor(b + step_along<kRowsB>(s)), s > 0);
  }
}

/// sum += A·B, A in registers; lines of B hold its columns, k going down.
template <class Element, int kColumns, int kSteps>
__device__ void multiply_held(float (&sum)[kColumns / 2], const unsigned (&a)[kSteps][4],
                              unsigned b) {
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    gemm::multiply_held<Element, kColumns>(sum, a[s], whole_descriptor(b + step_down(s)), true);
  }
}

/// sum (+)= A·B; lines of A hold k, in panels of kLinesA lines; lines of B hold its columns.
template <class Element, int kColumns, int kSteps, int kLinesA>
__device__ void multiply_down(float (&sum)[kColumns / 2], unsigned a, unsigned b, bool accumulate) {
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    gemm::multiply<Element, kColumns, false>(sum, whole_descriptor(a + step_along<kLinesA>(s)),
                                             whole_descriptor(b + step_down(s)),
                                             accumulate || s > 0);
  }
}

/// Rounds sums 8·s … 8·s + 7, those of 16 columns, to the A operand of 16 k, which the same lanes
/// hold.
template <class Element, int kCount>
__device__ void pack(unsigned (&to)[4], const float (&from)[kCount], int s) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[i] = pair_of<Element>(from[8 * s + 2 * i], from[8 * s + 2 * i + 1]);
  }
}

__device__ inline float2 load_pair(unsigned from) {
  float2 pair;
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];"
               : "=f"(pair.x), "=f"(pair.y)
               : "r"(from)
               : "memory");
  return pair;
}

/// This thread's warpgroup. The shuffle tells the compiler that the value is uniform in the warp,
/// so that descriptors take no register per lane.
__device__ inline int warpgroup_index() {
  return __shfl_sync(rows::kAllLanes, static_cast<int>(threadIdx.x) / kWarpgroup, 0);
}
/// Stores 16 × 16 numbers, laid out as the A operand, to shared memory. Lane l gives the address of
/// line l mod 16, half l/16 (sum_address); transposed, lines are columns (b_address).
__device__ inline void store_part(unsigned to, const unsigned (&part)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(part[0]), "r"(part[1]), "r"(part[2]), "r"(part[3])
               : "memory");
}
__device__ inline void store_part_transposed(unsigned to, const unsigned (&part)[4]) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(part[0]), "r"(part[1]), "r"(part[2]), "r"(part[3])
               : "memory");
}

/// Synchronizes both summing warpgroups. Barriers 1 and 2 are those of each warpgroup.
__device__ inline void meet_both() {
  asm volatile("bar.sync 3, %0;" ::"n"(kSumming * kWarpgroup) : "memory");
}
/// Arrives once for each warp, for a stage that only wgmma reads. For a stage that lanes read,
/// every lane arrives for itself, since compute-sanitizer's racecheck does not follow a lane that
/// arrives for others.
__device__ inline void release(Mbarrier empty) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) gemm::arrive(empty);
}

/// Stores 64 rows of a result, scaled and rounded, through panels kPanelStride bytes apart, in
/// which the warpgroup's 64 lines begin at `to`. Earlier reads of the panels must be done, and no
/// others may write them.
template <class Element, int kColumns, int kPanelStride>
__device__ void store_rows(const CUtensorMap& map, unsigned to, float (&sum)[kColumns / 2],
                           float scale, int column, int row, int head, int warpgroup) {
  const auto thread = static_cast<int>(threadIdx.x) % kWarpgroup;
#pragma unroll
  for (int i = 0; i < kColumns / 2; ++i) sum[i] *= scale;
#pragma unroll
  for (int p = 0; p < kColumns / kPanelColumns; ++p) {
    gemm::hopper::fill_panel<Element>(to + static_cast<unsigned>(p * kPanelStride), sum + p * 32,
                                      thread / 32, thread % 32);
  }
  rows::fence_async_proxy();
  gemm::meet(warpgroup);
  if (thread == 0) {
#pragma unroll
    for (int p = 0; p < kColumns / kPanelColumns; ++p) {
      store_box(map, column + p * kPanelColumns, row, head,
                to + static_cast<unsigned>(p * kPanelStride));
    }
    gemm::commit_stores();
  }
}
/// The thread that started the stores waits until shared memory may be freed.
__device__ inline void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace roofcast::cuda::attention::flash3_backward
