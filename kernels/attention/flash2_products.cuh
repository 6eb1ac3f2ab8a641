#pragma once
// Building blocks of attention.flash2: copies of rows to shared memory, a warp's products with
// operands that ldmatrix reads there, and stores of its sums.
#include <cstdint>

#include "kernels/attention/flash2_layout.cuh"
#include "kernels/attention/instructions.cuh"
#include "kernels/gemm/mma.cuh"
#include "kernels/gemm/tile_copy.cuh"

namespace roofcast::cuda::attention::mma {

using gemm::commit_copies;
using gemm::pair_of;
using gemm::wait_for_copies;

/// Hides a value from the compiler, which then recomputes expressions of it instead of holding them
/// in registers across a loop.
__device__ inline int anew(int value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// One thread's share of copying rows of head_dim elements to the lines of a tile, 16 bytes a copy.
/// Zeros fill the rest of a line, and lines beyond the matrix.
template <class Element, class Tile, int kThreads>
class RowCopy {
  static constexpr int kWidth = kChunkBytes / static_cast<int>(sizeof(Element));
  static constexpr int kStep = kThreads / Tile::kAcross;  // lines that the block covers at once
  static_assert(kThreads % Tile::kAcross == 0 && Tile::kLines % kStep == 0);

 public:
  __device__ RowCopy(int head_dim, int thread)
      : row_(head_dim),
        line_(thread / Tile::kAcross),
        chunk_(thread % Tile::kAcross),
        inside_(chunk_ * kWidth < head_dim) {}

  /// Starts copying rows row0 … of a matrix of `rows` rows.
  __device__ void start(unsigned tile, const Element* matrix, int row0, int rows) const {
    const Element* from = matrix + std::int64_t{row0} * row_ + (line_ * row_ + chunk_ * kWidth);
    const int left = inside_ ? rows - row0 - line_ : 0;
#pragma unroll
    for (int i = 0; i < Tile::kLines / kStep; ++i, from += kStep * row_) {
      start_copy<kChunkBytes>(tile + static_cast<unsigned>(Tile::offset(line_ + i * kStep, chunk_)),
                              from, i * kStep < left ? kChunkBytes : 0);
    }
  }

 private:
  int row_, line_, chunk_;
  bool inside_;
};

/// An operand in shared memory, from `line` and `chunk` of its tile.
template <class Tile, Side kSide, Lines kLines>
class Operand {
 public:
  __device__ Operand(unsigned tile, int line, int chunk, int lane) {
    const LineChunk at = operand_address<kSide, kLines>(lane);
    at_ = tile + static_cast<unsigned>(Tile::offset(line + at.line, chunk + at.chunk));
  }
  /// Reads 16 rows of A or columns of B, from 16·outer on, and 16 of k, from 16·step on.
  __device__ void read(unsigned (&to)[4], int outer, int step) const {
    if constexpr (kLines == Lines::along_k) {
      gemm::read_matrices(to, Tile::beyond(at_, outer * 16, step * 2));
    } else {
      gemm::read_matrices_transposed(to, Tile::beyond(at_, step * 16, outer * 2));
    }
  }

 private:
  unsigned at_;
};

/// sum += A·B over kSteps·16 of k. read_a(to, d, step) and read_b(to, pair, step) give 16 rows of A
/// and 16 columns of B. B is read at least four instructions ahead of its use.
template <class Element, int kSteps, int kDown, int kAcross, class ReadA, class ReadB>
__device__ __forceinline__ void multiply(float (&sum)[kDown][kAcross][4], const ReadA& read_a,
                                         const ReadB& read_b) {
  constexpr int kPairs = kAcross / 2, kReads = kPairs * kSteps;
  constexpr int kAhead = kDown == 1 ? 2 : 1, kRing = kAhead + 1;
  static_assert(kAcross % 2 == 0);
  unsigned a[2][kDown][4], b[kRing][4];
#pragma unroll
  for (int d = 0; d < kDown; ++d) read_a(a[0][d], d, 0);
#pragma unroll
  for (int i = 0; i < kAhead && i < kReads; ++i) read_b(b[i], i % kPairs, i / kPairs);
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int pair = 0; pair < kPairs; ++pair) {
      const int i = step * kPairs + pair, ahead = i + kAhead;
      if (ahead < kReads) read_b(b[ahead % kRing], ahead % kPairs, ahead / kPairs);
      if (pair == 0 && step + 1 < kSteps) {
#pragma unroll
        for (int d = 0; d < kDown; ++d) read_a(a[(step + 1) % 2][d], d, step + 1);
      }
#pragma unroll
      for (int d = 0; d < kDown; ++d) {
        const unsigned(&left)[4] = a[step % 2][d];
        const unsigned(&right)[4] = b[i % kRing];
        gemm::multiply_accumulate<Element>(sum[d][2 * pair], left, right[0], right[1]);
        gemm::multiply_accumulate<Element>(sum[d][2 * pair + 1], left, right[2], right[3]);
      }
    }
  }
}

/// Rounds sums to operand A of the next product: 16 rows, and their columns from 16·step on as k.
template <class Element, int kAcross>
__device__ void to_operand(unsigned (&to)[4], const float (&sum)[kAcross][4], int step) {
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    const SumPair at = left_word(step, word);
    to[word] = pair_of<Element>(sum[at.tile][at.first], sum[at.tile][at.first + 1]);
  }
}

/// Stores a warp's sums, rounded, to the tile in shared memory from `line` and `chunk` on.
template <class Element, class Tile, int kDown, int kAcross>
__device__ void put_sums(unsigned tile, const float (&sum)[kDown][kAcross][4], int line, int chunk,
                         int lane) {
#pragma unroll
  for (int d = 0; d < kDown; ++d) {
#pragma unroll
    for (int j = 0; j < kAcross; ++j) {
#pragma unroll
      for (int i = 0; i < 4; i += 2) {
        const gemm::Place place = gemm::sum_place(lane, i);
        const int to = Tile::offset(line + d * 16 + place.row, chunk + j) +
                       place.column * static_cast<int>(sizeof(Element));
        store_shared(tile + static_cast<unsigned>(to),
                     pair_of<Element>(sum[d][j][i], sum[d][j][i + 1]));
      }
    }
  }
}

/// Stores a warp's sums, times factor(d, half) of their row, to a matrix of `rows` rows and
/// `columns` columns, from `row` and `column` on.
template <class Element, int kDown, int kAcross, class Factor>
__device__ void store_sums(const float (&sum)[kDown][kAcross][4], Element* matrix, int row,
                           int rows, int column, int columns, int lane, const Factor& factor) {
  static_assert(kAcross % 4 == 0);
#pragma unroll
  for (int d = 0; d < kDown; ++d) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int r = row + d * 16 + half * 8 + lane / 4;
      const float by = factor(d, half);
#pragma unroll
      for (int j = 0; j < kAcross; j += 4) {
        std::uint32_t word[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          word[i] =
              pair_of<Element>(sum[d][j + i][2 * half] * by, sum[d][j + i][2 * half + 1] * by);
        }
        exchange(word);
        const int c = column + (j + lane % 4) * 8;
        if (r < rows && c < columns) {
          store_chunk(matrix + std::int64_t{r} * columns + c, word);
        }
      }
    }
  }
}

}  // namespace roofcast::cuda::attention::mma
