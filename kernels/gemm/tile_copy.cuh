#pragma once
// Tiles of row-major matrices, from L2 to shared memory, 16 bytes an access: rung 6.
#include <cstdint>

namespace roofcast::cuda::gemm {

__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most kPending of this thread's groups are in flight.
template <int kPending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// Starts a copy of kBytes (16 or 4) to shared memory, or of zeros if !inside; `from` is then not
/// read.
template <int kBytes>
__device__ void start_copy(float* to, const float* from, bool inside) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const int bytes = inside ? kBytes : 0;
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from),
                 "r"(bytes)
                 : "memory");
  } else {  // .cg, past L1, exists for 16 bytes alone
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(address), "l"(from),
                 "r"(bytes)
                 : "memory");
  }
}

/// One thread's share of copying kRows × kColumns tiles of a matrix in the background (cp.async),
/// with kStride floats between the rows of a tile. Accesses have 16 bytes if kAligned (address and
/// rows multiples of 16 bytes), else 4. Zeros fill a tile outside the matrix.
template <int kRows, int kColumns, int kStride, int kThreads, bool kAligned>
class TileCopy {
  static constexpr int kWidth = kAligned ? 4 : 1;                         // floats an access
  static constexpr int kAcross = kColumns / kWidth;                       // accesses a row
  static constexpr int kLanes = kAcross < kThreads ? kAcross : kThreads;  // threads of a row
  static constexpr int kStep = kThreads / kLanes;  // rows that the block covers at once
  static_assert(kThreads % kLanes == 0 && kAcross % kLanes == 0 && kRows % kStep == 0);

 public:
  __device__ TileCopy(const float* matrix, int rows, int columns, int row0, int column0, int thread)
      : columns_(columns),
        to_(thread / kLanes * kStride + thread % kLanes * kWidth),
        rows_left_(rows - row0 - thread / kLanes),
        columns_left_(columns - column0 - thread % kLanes * kWidth),
        whole_down_(rows - row0 - kRows),
        whole_right_(columns - column0 - kColumns),
        from_(matrix + std::int64_t{row0 + thread / kLanes} * columns + column0 +
              thread % kLanes * kWidth) {}

  /// Starts copying the tile that lies `down` rows and `right` columns from the first one.
  __device__ void start(float* tile, int down, int right) const {
    const float* from = from_ + std::int64_t{down} * columns_ + right;
    // A tile inside the matrix, the usual case, needs no test per access; uniform in the block.
    const bool whole = down <= whole_down_ && right <= whole_right_;
    if (kAligned && whole) {
      copy<true>(tile, from, down, right);
    } else {
      copy<false>(tile, from, down, right);
    }
  }

 private:
  template <bool kWhole>
  __device__ void copy(float* tile, const float* from, int down, int right) const {
#pragma unroll
    for (int r = 0; r < kRows; r += kStep) {
#pragma unroll
      for (int q = 0; q < kAcross * kWidth; q += kLanes * kWidth) {
        start_copy<kWidth * 4>(tile + to_ + r * kStride + q, from + std::int64_t{r} * columns_ + q,
                               kWhole || (down + r < rows_left_ && right + q < columns_left_));
      }
    }
  }

  int columns_, to_, rows_left_, columns_left_, whole_down_, whole_right_;
  const float* from_;
};

/// One thread's share of copying tiles through registers, transposed: tile[column][row], with
/// kStride floats between its rows. load() starts reading a tile and store() writes what was read;
/// the work between them hides the latency. A warp has 16 rows × 2 quads of columns: it reads whole
/// sectors of 32 bytes, and stores to 16 + 16 neighbouring words, which lie in different banks if
/// 4·kStride is 16 modulo 32.
template <int kRows, int kColumns, int kStride, int kThreads, bool kAligned>
class TransposingCopy {
  static constexpr int kWarpsAcross = kColumns / 8;
  static constexpr int kStep = kThreads / 32 / kWarpsAcross * 16;  // rows the block covers at once
  static constexpr int kQuads = kRows / kStep;                     // held by a thread
  static_assert(kColumns % 8 == 0 && kThreads / 32 % kWarpsAcross == 0 && kRows % kStep == 0);
  static_assert(4 * kStride % 32 == 16);

 public:
  __device__ TransposingCopy(const float* matrix, int rows, int columns, int row0, int thread)
      : columns_(columns),
        column_((thread / 32 % kWarpsAcross * 2 + thread % 2) * 4),
        row_(thread / 32 / kWarpsAcross * 16 + thread % 32 / 2),
        rows_left_(rows - row0 - row_),
        from_(matrix + std::int64_t{row0 + row_} * columns + column_) {}

  /// Loads the tile that begins `right` columns from the left edge.
  __device__ void load(int right) {
    const float* from = from_ + right;
    const int left = columns_ - right - column_;
#pragma unroll
    for (int j = 0; j < kQuads; ++j) {
      held_[j] = make_float4(0, 0, 0, 0);
      const float* quad = from + std::int64_t{j * kStep} * columns_;
      if (j * kStep >= rows_left_) continue;
      if constexpr (kAligned) {
        if (left > 0) held_[j] = __ldcg(reinterpret_cast<const float4*>(quad));
      } else {
        if (left > 0) held_[j].x = quad[0];
        if (left > 1) held_[j].y = quad[1];
        if (left > 2) held_[j].z = quad[2];
        if (left > 3) held_[j].w = quad[3];
      }
    }
  }

  __device__ void store(float* tile) const {
    float* to = tile + column_ * kStride + row_;
#pragma unroll
    for (int j = 0; j < kQuads; ++j) {
      to[j * kStep] = held_[j].x;
      to[j * kStep + kStride] = held_[j].y;
      to[j * kStep + 2 * kStride] = held_[j].z;
      to[j * kStep + 3 * kStride] = held_[j].w;
    }
  }

 private:
  int columns_, column_, row_, rows_left_;
  const float* from_;
  float4 held_[kQuads];
};

}  // namespace roofcast::cuda::gemm
