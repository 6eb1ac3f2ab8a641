#pragma once
// The epilogue of gemm.wgmma: sums from registers to C, or to the memory for parts of k.
#include <cstdint>

#include "kernels/gemm/joined_parts.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/wgmma_tile.cuh"

namespace roofcast::cuda::gemm::hopper {

/// Stores the sums of a part of k, in fp32. Four lanes fill a sector with pairs; in a swap_ab tile
/// eight lanes do, with one sum each. (row, column) is where the warpgroup's sums begin, in rows
/// and columns of the instruction (with swap_ab columns and rows of C).
template <class T>
__device__ void store_part(float* part, int m, int n, const Sums<T>& sum, int row, int column,
                           int warp, int lane) {
  const bool pairs =
      !T::kSwapAb &&
      (reinterpret_cast<std::uintptr_t>(part) / 4 | static_cast<unsigned>(n)) % 2 == 0;
#pragma unroll
  for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
    for (int q = 0; q < T::kColumns / 8; ++q) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const Place place = sum_place(lane, i);
        const int down = row + d * kInstructionRows + warp * 16 + place.row;
        const int across = column + q * 8 + place.column;
        const int r = T::kSwapAb ? across : down, s = T::kSwapAb ? down : across;
        if (r >= m || s >= n) continue;
        float* const to = part + std::int64_t{r} * n + s;
        const float* const from = &sum[d][q * 4 + i];
        if (pairs) {
          *reinterpret_cast<float2*>(to) = make_float2(from[0], from[1]);
          continue;
        }
        to[0] = from[0];
        if (T::kSwapAb && r + 1 < m) to[n] = from[1];
        if (!T::kSwapAb && s + 1 < n) to[1] = from[1];
      }
    }
  }
}

/// Split-K in one launch, as one warpgroup sees it: the blocks of all parts of a tile but the last
/// write their sums to memory, and the block of the last part adds them. With ping-pong a tile
/// belongs to one warpgroup, whichever takes it.
template <class T>
class Parts {
 public:
  /// `count` parts; part p is in slot first_slot + p · slot_stride (Schedule::slot).
  __device__ Parts(const Workspace& workspace, int count, int first_slot, int slot_stride,
                   int warpgroup)
      : workspace_(workspace),
        count_(count),
        first_((std::int64_t{first_slot} * T::kFlags) + (T::kPingPong ? 0 : warpgroup)),
        stride_(slot_stride * T::kFlags),
        warpgroup_(warpgroup) {}

  /// Writes the sums of a part and raises its flag.
  __device__ void leave(int part, const Sums<T>& sum) const {
    float4* const to = sums(part);
#pragma unroll
    for (int i = 0; i < T::kSumsOfThread; ++i) {
      const float* const four = &sum[i / kFoursOfRow][i % kFoursOfRow * 4];
      to[i * kWarpgroup] = make_float4(four[0], four[1], four[2], four[3]);
    }
    meet(warpgroup_);
    if (threadIdx.x % kWarpgroup == 0) raise(flag(part), workspace_.ticket);
  }
  /// Waits for the flags of all parts.
  __device__ void wait() const {
    const auto thread = static_cast<int>(threadIdx.x) % kWarpgroup;
    for (int part = thread; part < count_; part += kWarpgroup) await(flag(part), workspace_.ticket);
    meet(warpgroup_);
  }
  /// Adds the parts, in order. kTogether loads of a thread are in flight at once, and each batch
  /// takes a round trip to L2.
  __device__ void add_to(Sums<T>& sum) const {
    constexpr int kTogether = T::kJoinedTogether;
    static_assert(T::kSumsOfThread % kTogether == 0);
    for (int part = 0; part < count_; ++part) {
      const float4* const from = sums(part);
#pragma unroll
      for (int first = 0; first < T::kSumsOfThread; first += kTogether) {
        float4 fours[kTogether];
#pragma unroll
        for (int i = 0; i < kTogether; ++i) fours[i] = __ldcg(from + (first + i) * kWarpgroup);
#pragma unroll
        for (int i = 0; i < kTogether; ++i) {
          float* const four = &sum[(first + i) / kFoursOfRow][(first + i) % kFoursOfRow * 4];
          four[0] += fours[i].x, four[1] += fours[i].y;
          four[2] += fours[i].z, four[3] += fours[i].w;
        }
      }
    }
  }

 private:
  static constexpr int kFoursOfRow = T::kColumns / 8;  // float4 of a thread in 64 rows

  __device__ std::int64_t place(int part) const {
    return first_ + part * stride_;
  }
  __device__ std::uint64_t* flag(int part) const {
    return workspace_.flags + place(part);
  }
  /// This thread's first float4 of a part; those of neighbouring threads are adjacent.
  __device__ float4* sums(int part) const {
    return workspace_.sums + place(part) * T::kSumsOfThread * kWarpgroup + threadIdx.x % kWarpgroup;
  }

  const Workspace& workspace_;
  int count_;
  std::int64_t first_;
  int stride_, warpgroup_;
};

/// Writes this warp's 16 rows of a panel, from the sums that begin at `from`.
template <class Out>
__device__ void fill_panel(unsigned panel, const float* from, int warp, int lane) {
  if constexpr (sizeof(Out) == 2) {
    const LineChunk at = sum_address(lane);
#pragma unroll
    for (int q = 0; q < 8; q += 2) {  // a tile of 8 columns is a chunk
      const float* const f = from + q * 4;
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                       panel + static_cast<unsigned>(
                                   swizzled<kPanelBytes>(warp * 16 + at.line, q + at.chunk))),
                   "r"(pair_of<Out>(f[0], f[1])), "r"(pair_of<Out>(f[2], f[3])),
                   "r"(pair_of<Out>(f[4], f[5])), "r"(pair_of<Out>(f[6], f[7]))
                   : "memory");
    }
  } else {
#pragma unroll
    for (int q = 0; q < 4; ++q) {  // a tile of 8 columns is two chunks
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const Place place = sum_place(lane, i);
        const int byte = (q * 8 + place.column) * 4;
        const int to =
            swizzled<kPanelBytes>(warp * 16 + place.row, byte / kChunkBytes) + byte % kChunkBytes;
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(panel + static_cast<unsigned>(to)),
                     "f"(from[q * 4 + i]), "f"(from[q * 4 + i + 1])
                     : "memory");
      }
    }
  }
}

/// Writes this warp's 16 rows of the sums as a quarter of every line of a panel, which has a line
/// for each column.
template <class Out, int kCount>
__device__ void fill_swap_ab_panel(unsigned panel, const float (&from)[kCount], int warp,
                                   int lane) {
  const LineChunk at = sum_address_transposed(lane);
#pragma unroll
  for (int q = 0; q < kCount / 4; q += 2) {
    const float* const f = from + q * 4;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     panel + static_cast<unsigned>(
                                 swizzled<kPanelBytes>(q * 8 + at.line, warp * 2 + at.chunk))),
                 "r"(pair_of<Out>(f[0], f[1])), "r"(pair_of<Out>(f[2], f[3])),
                 "r"(pair_of<Out>(f[4], f[5])), "r"(pair_of<Out>(f[6], f[7]))
                 : "memory");
  }
}

template <class Out>
__device__ Out load_element(unsigned from) {
  if constexpr (sizeof(Out) == 2) {
    std::uint16_t bits;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(bits) : "r"(from) : "memory");
    return __builtin_bit_cast(Out, bits);
  } else {
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
    return value;
  }
}

/// Stores lines of a panel to C by threads, where TMA cannot: neighbouring lanes store neighbouring
/// elements. `c` is where line 0 begins; elements beyond the last row or column of C are left out.
template <class Out>
__device__ void store_lines(unsigned panel, Out* c, std::int64_t row_c, Range lines, int rows_left,
                            int columns_left, int lane) {
  constexpr int kSize = static_cast<int>(sizeof(Out)), kColumns = kPanelBytes / kSize;
#pragma unroll 4
  for (int row = lines.begin; row < lines.past; ++row) {
    if (row >= rows_left) break;
#pragma unroll
    for (int column = lane; column < kColumns; column += 32) {
      const int byte = column * kSize;
      const unsigned from =
          panel + static_cast<unsigned>(swizzled<kPanelBytes>(row, byte / kChunkBytes) +
                                        byte % kChunkBytes);
      if (column < columns_left) c[row * row_c + column] = load_element<Out>(from);
    }
  }
}

/// Where a warpgroup's sums of a tile begin: the matrix, and the row and column of the instruction.
struct TilePlace {
  int matrix, row, column;
};

/// Stores a warpgroup's sums to C through panels of shared memory: by TMA, or by threads, line by
/// line, where `work.c` is given.
template <class T>
struct Store {
  using Out = typename T::Out;
  const Shared<T>& shared;
  const CUtensorMap& c;
  const Work& work;
  TilePlace place;
  int warpgroup;

  /// Stores all sums of a tile; `panel`, 0 or 1, is the next one in shared memory.
  __device__ void tile(const Sums<T>& sum, int& panel) const {
    constexpr int kWhole = T::kColumns / T::kPanelColumns * T::kPanelColumns;
#pragma unroll
    for (int d = 0; d < T::kDown; ++d) {
#pragma unroll
      for (int column = 0; column < kWhole; column += T::kPanelColumns) {
        store<T::kPanelColumns>(sum[d], d, column, panel);
      }
      if constexpr (kWhole < T::kColumns) store<T::kColumns - kWhole>(sum[d], d, kWhole, panel);
    }
  }

 private:
  /// Stores kColumns columns from `column` on, of the instruction's 64 rows number `down`.
  template <int kColumns>
  __device__ void store(const float (&sum)[T::kColumns / 2], int down, int column,
                        int& panel) const {
    const int first = place.row + down * kInstructionRows, second = place.column + column;
    if (second >= (T::kSwapAb ? work.m : work.n)) return;  // the same for the warpgroup
    const int row = T::kSwapAb ? second : first, column_c = T::kSwapAb ? first : second;
    const unsigned to = shared.c(warpgroup, panel);
    panel ^= 1;
    float own[kColumns / 2];
#pragma unroll
    for (int i = 0; i < kColumns / 2; ++i) own[i] = sum[column / 2 + i];
    if (work.c != nullptr) {
      by_lines<kColumns>(to, own, row, column_c);
    } else {
      by_boxes<kColumns>(to, own, row, column_c);
    }
  }
  /// Stores a panel by TMA. Thread 0 of the warpgroup starts the stores, so it alone can wait until
  /// they have read a panel.
  template <int kColumns>
  __device__ void by_boxes(unsigned to, const float (&own)[kColumns / 2], int row,
                           int column) const {
    constexpr int kLines = T::kSwapAb ? kColumns : T::kPanelLines;
    const bool starts = threadIdx.x % kWarpgroup == 0;
    if (starts) wait_for_reads<kPanelsOfC - 1>();  // of this panel, two stores ago
    meet(warpgroup);
    fill(to, own);
    rows::fence_async_proxy();
    meet(warpgroup);
    if (!starts) return;
#pragma unroll
    for (int line = 0; line < kLines; line += T::kStoredLines) {
      store_box(c, column, row + line, place.matrix,
                to + static_cast<unsigned>(line * kPanelBytes));
    }
    commit_stores();
  }
  /// A warp stores the lines that it has filled; in a swap_ab tile all warps fill every line, so
  /// the warpgroup synchronizes.
  template <int kColumns>
  __device__ void by_lines(unsigned to, const float (&own)[kColumns / 2], int row,
                           int column) const {
    constexpr int kLines = (T::kSwapAb ? kColumns : T::kPanelLines) / 4;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const int first = static_cast<int>(threadIdx.x) % kWarpgroup / 32 * kLines;
    const std::int64_t above = std::int64_t{place.matrix} * work.m + row;  // rows of C
    fill(to, own);
    T::kSwapAb ? meet(warpgroup) : __syncwarp();
    store_lines<Out>(to, static_cast<Out*>(work.c) + above * work.row_c + column, work.row_c,
                     {first, first + kLines}, work.m - row, work.n - column, lane);
    __syncwarp();
  }
  template <int kCount>
  __device__ void fill(unsigned to, const float (&own)[kCount]) const {
    const int warp = static_cast<int>(threadIdx.x) % kWarpgroup / 32;
    const auto lane = static_cast<int>(threadIdx.x % 32);
    if constexpr (T::kSwapAb) {
      fill_swap_ab_panel<Out>(to, own, warp, lane);
    } else {
      fill_panel<Out>(to, own, warp, lane);
    }
  }
};

}  // namespace roofcast::cuda::gemm::hopper
