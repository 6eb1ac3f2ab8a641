#pragma once
// Asynchronous copies (cp.async) of tiles of row-major matrices to swizzled lines of shared memory,
// for mma_tile.cuh.
#include <cstdint>

#include "kernels/gemm/layout.cuh"
#include "kernels/gemm/tile_copy.cuh"

namespace roofcast::cuda::gemm {

/// One thread's share of copying tiles, in kSlices parts so that the copies spread over the steps
/// of a tile. Address and rows are multiples of 16 bytes: a chunk is one cp.async. Zeros fill what
/// lies outside the matrix.
template <class Element, class Tile, int kThreads, int kSlices>
class LineCopy {
  static constexpr int kWidth = kChunkBytes / static_cast<int>(sizeof(Element));
  static constexpr int kAcross = Tile::kBytes / kChunkBytes;
  static constexpr int kStep = kThreads / kAcross;    // lines that the block covers at once
  static constexpr int kEach = Tile::kCount / kStep;  // chunks of a thread
  static constexpr int kPart = (kEach + kSlices - 1) / kSlices;
  static_assert(kThreads % kAcross == 0 && Tile::kCount % kStep == 0);
  // A thread's lines have one swizzle, since they lie a multiple of 8 lines apart.
  static_assert(kStep % 8 == 0);
  // Chunk i lies at a constant offset from chunk 0, across panels too.
  static_assert(Tile::kPanel % kStep == 0);

 public:
  /// The first tile begins at (row0, column0) of a matrix with `row` elements from row to row.
  __device__ LineCopy(const Element* matrix, std::int64_t row, int rows, int columns, int row0,
                      int column0, int thread)
      : row_(row), to_(static_cast<unsigned>(Tile::offset(thread / kAcross, thread % kAcross))) {
    const Place place = Tile::template source<kWidth>(thread / kAcross, thread % kAcross);
    rows_left_ = rows - row0 - place.row;
    columns_left_ = columns - column0 - place.column;
    from_ = matrix + (row0 + place.row) * row + column0 + place.column;
  }

  /// Starts copying part `slice` of the tile that begins `tile_elements` further along k, to shared
  /// address `tile`.
  __device__ void start(int slice, unsigned tile, int tile_elements) {
    constexpr bool kAlong = Tile::kLines == Lines::along_k;
    const int down = kAlong ? 0 : tile_elements, right = kAlong ? tile_elements : 0;
    const Element* from = from_ + (kAlong ? std::int64_t{tile_elements} : tile_elements * row_);
    from += Tile::template source<kWidth>(slice * kPart * kStep, 0).row * row_;
#pragma unroll
    for (int p = 0; p < kPart; ++p) {
      const int i = slice * kPart + p;
      if (i >= kEach) break;
      const Place apart = Tile::template source<kWidth>(i * kStep, 0);
      const Element* chunk = from + apart.column;
      const int left = down + apart.row < rows_left_ ? columns_left_ - right - apart.column : 0;
      const int bytes = min(max(left, 0) * static_cast<int>(sizeof(Element)), kChunkBytes);
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                       tile + to_ + static_cast<unsigned>(i * kStep * Tile::kBytes)),
                   "l"(chunk), "r"(bytes)
                   : "memory");
      // To the next chunk's row: further down, or back up in the next panel.
      from += (Tile::template source<kWidth>((i + 1) * kStep, 0).row - apart.row) * row_;
    }
  }

 private:
  std::int64_t row_;
  unsigned to_;
  int rows_left_, columns_left_;
  const Element* from_;
};

}  // namespace roofcast::cuda::gemm
