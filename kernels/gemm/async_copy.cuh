#pragma once
// A tile of a row-major matrix, from L2 to shared memory by cp.async: rung 6.
#include <cstdint>

namespace roofcast::cuda::gemm {

__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most kPending of this thread's groups are not complete.
template <int kPending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// kBytes (16 or 4) to shared memory, or zeros if !inside; `from` is then not read.
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

/// One thread's share of copying kRows × kColumns tiles of a matrix, kStride floats between the
/// rows of a tile, in accesses of 16 bytes if kAligned (address and rows multiples of 16 bytes),
/// else of 4. Zeros fill a tile outside the matrix.
template <int kRows, int kColumns, int kStride, int kThreads, bool kAligned>
class TileCopy {
  static constexpr int kWidth = kAligned ? 4 : 1;    // floats an access
  static constexpr int kAcross = kColumns / kWidth;  // accesses a row
  static constexpr int kStep = kThreads / kAcross;   // rows that the block covers at once
  static_assert(kThreads % kAcross == 0 && kRows % kStep == 0);

 public:
  __device__ TileCopy(const float* matrix, int rows, int columns, int row0, int column0, int thread)
      : columns_(columns),
        to_(thread / kAcross * kStride + thread % kAcross * kWidth),
        rows_left_(rows - row0 - thread / kAcross),
        columns_left_(columns - column0 - thread % kAcross * kWidth),
        whole_down_(rows - row0 - kRows),
        whole_right_(columns - column0 - kColumns),
        from_(matrix + std::int64_t{row0 + thread / kAcross} * columns + column0 +
              thread % kAcross * kWidth) {}

  /// Starts copying the tile that lies `down` rows and `right` columns from the first one.
  __device__ void start(float* tile, int down, int right) const {
    const float* from = from_ + std::int64_t{down} * columns_ + right;
    // Inside the matrix, the same for the whole block and the rule: no test per access.
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
      start_copy<kWidth * 4>(tile + to_ + r * kStride, from + std::int64_t{r} * columns_,
                             kWhole || (down + r < rows_left_ && right < columns_left_));
    }
  }

  int columns_, to_, rows_left_, columns_left_, whole_down_, whole_right_;
  const float* from_;
};

}  // namespace roofcast::cuda::gemm
