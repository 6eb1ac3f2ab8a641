#include "kernels/gemm/passes.hpp"

#include <algorithm>

#include "kernels/common/element.cuh"
#include "kernels/common/error.hpp"
#include "kernels/gemm/layout.cuh"

namespace roofcast::cuda::gemm {
namespace {

namespace passes = roofcast::gemm::tensor::passes;

constexpr int kThreads = passes::kThreads;
constexpr int kRowsEach = passes::kRowsEach;
constexpr int kSquare = passes::kSquare;
constexpr unsigned kMostY = kMostBlocksYZ;

constexpr int kWords = kChunkBytes / 4;

/// The words of a chunk whose first byte lies `shift` bits into the first of five words.
__device__ uint4 shifted(const unsigned (&word)[kWords + 1], unsigned shift) {
  return {__funnelshift_r(word[0], word[1], shift), __funnelshift_r(word[1], word[2], shift),
          __funnelshift_r(word[2], word[3], shift), __funnelshift_r(word[3], word[4], shift)};
}

/// A thread writes 16 bytes of several rows. It loads the aligned words that hold them, which
/// neighbouring threads share in L1, and shifts them: a 16th of the instructions of a bytewise
/// copy. The end of a row is copied by elements, since a word there might lie beyond the matrix.
/// Zeros fill the row's last chunk, as kernels read whole chunks.
template <class T>
__global__ void __launch_bounds__(kThreads)
    copy_kernel(const T* __restrict__ from, std::int64_t row, int rows, int columns,
                T* __restrict__ to, std::int64_t to_row) {
  constexpr int kWidth = kChunkBytes / static_cast<int>(sizeof(T));
  const int column = static_cast<int>(blockIdx.x * kThreads + threadIdx.x) * kWidth;
  if (column >= columns) return;
  const bool whole = column + kWidth + 4 / static_cast<int>(sizeof(T)) <= columns;
  for (int first = static_cast<int>(blockIdx.y) * kRowsEach; first < rows;
       first += static_cast<int>(gridDim.y) * kRowsEach) {
    unsigned word[kRowsEach][kWords + 1];
#pragma unroll
    for (int i = 0; i < kRowsEach; ++i) {
      if (!whole || first + i >= rows) continue;
      const auto address = reinterpret_cast<std::uintptr_t>(from + (first + i) * row + column);
      const auto* const words = reinterpret_cast<const unsigned*>(address / 4 * 4);
#pragma unroll
      for (int w = 0; w <= kWords; ++w) word[i][w] = __ldg(words + w);
    }
#pragma unroll
    for (int i = 0; i < kRowsEach; ++i) {
      if (first + i >= rows) continue;
      const T* const begin = from + (first + i) * row + column;
      T* const target = to + (first + i) * to_row + column;
      if (whole) {
        const auto shift = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(begin) % 4 * 8);
        *reinterpret_cast<uint4*>(target) = shifted(word[i], shift);
      } else {
        for (int e = 0; e < kWidth; ++e) target[e] = column + e < columns ? begin[e] : T{};
      }
    }
  }
}

/// Transposes squares through shared memory, padded by a column so that a column's elements lie in
/// different banks. Zeros fill rows of the result to a whole chunk.
template <class T>
__global__ void __launch_bounds__(kSquare * 8)
    transpose_kernel(const T* __restrict__ from, std::int64_t row, int rows, int columns,
                     T* __restrict__ to, std::int64_t to_row) {
  __shared__ T square[kSquare][kSquare + 1];
  from += std::int64_t{blockIdx.z} * rows * row;
  to += std::int64_t{blockIdx.z} * columns * to_row;
  const auto x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int column0 = static_cast<int>(blockIdx.x) * kSquare;
  constexpr int kWidth = kChunkBytes / static_cast<int>(sizeof(T));
  const int filled = (rows + kWidth - 1) / kWidth * kWidth;
  for (int row0 = static_cast<int>(blockIdx.y) * kSquare; row0 < rows;
       row0 += static_cast<int>(gridDim.y) * kSquare) {
#pragma unroll
    for (int i = y; i < kSquare; i += 8) {
      if (row0 + i < rows && column0 + x < columns) {
        square[i][x] = from[(row0 + i) * row + column0 + x];
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = y; i < kSquare; i += 8) {
      if (column0 + i < columns && row0 + x < filled) {
        to[(column0 + i) * to_row + row0 + x] = row0 + x < rows ? square[x][i] : T{};
      }
    }
    __syncthreads();
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(const float* __restrict__ parts, int count, int rows, int columns, T* __restrict__ c,
               std::int64_t row_c) {
  const auto column = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
  if (column >= columns) return;
  const std::int64_t part = std::int64_t{rows} * columns;
  for (int row = static_cast<int>(blockIdx.y); row < rows; row += static_cast<int>(gridDim.y)) {
    const float* from = parts + std::int64_t{row} * columns + column;
    float sum = 0;
#pragma unroll 4
    for (int p = 0; p < count; ++p) sum += from[p * part];
    c[row * row_c + column] = narrow<T>(sum);
  }
}

unsigned ceil_div(int a, int b) {
  return (static_cast<unsigned>(a) + static_cast<unsigned>(b) - 1) / static_cast<unsigned>(b);
}

/// Calls the visitor with an unsigned type of `size` bytes, since copies only move bits.
template <class Visitor>
void visit_size(int size, Visitor&& visitor) {
  if (size == 1) return visitor(std::type_identity<std::uint8_t>{});
  if (size == 2) return visitor(std::type_identity<std::uint16_t>{});
  return visitor(std::type_identity<std::uint32_t>{});
}

}  // namespace

Launch copy_rows_launch(const MatrixView& from) {
  const dim3 grid(ceil_div(from.columns, kThreads * kChunkBytes / from.size),
                  std::min(ceil_div(from.count * from.rows, kRowsEach), kMostY));
  Launch launch{nullptr, grid, dim3(kThreads), 0};
  visit_size(from.size, [&]<class T>(std::type_identity<T>) {
    launch.function = reinterpret_cast<const void*>(copy_kernel<T>);
  });
  return launch;
}

void copy_rows(const MatrixView& from, void* to, std::int64_t to_row, cudaStream_t stream) {
  const Launch launch = copy_rows_launch(from);
  visit_size(from.size, [&]<class T>(std::type_identity<T>) {
    copy_kernel<<<launch.grid, launch.block, 0, stream>>>(
        static_cast<const T*>(from.data), from.row, from.count * from.rows, from.columns,
        static_cast<T*>(to), to_row);
  });
  check(cudaGetLastError());
}

Launch copy_transposed_launch(const MatrixView& from) {
  const dim3 grid(ceil_div(from.columns, kSquare), std::min(ceil_div(from.rows, kSquare), kMostY),
                  static_cast<unsigned>(from.count));
  Launch launch{nullptr, grid, dim3(kSquare, 8), 0};
  visit_size(from.size, [&]<class T>(std::type_identity<T>) {
    launch.function = reinterpret_cast<const void*>(transpose_kernel<T>);
  });
  return launch;
}

void copy_transposed(const MatrixView& from, void* to, std::int64_t to_row, cudaStream_t stream) {
  const Launch launch = copy_transposed_launch(from);
  visit_size(from.size, [&]<class T>(std::type_identity<T>) {
    transpose_kernel<<<launch.grid, launch.block, 0, stream>>>(static_cast<const T*>(from.data),
                                                               from.row, from.rows, from.columns,
                                                               static_cast<T*>(to), to_row);
  });
  check(cudaGetLastError());
}

Launch sum_parts_launch(int rows, int columns, DType dtype) {
  const dim3 grid(ceil_div(columns, kThreads), std::min(static_cast<unsigned>(rows), kMostY));
  Launch launch{nullptr, grid, dim3(kThreads), 0};
  visit_element(dtype, [&]<class T>(std::type_identity<T>) {
    launch.function = reinterpret_cast<const void*>(sum_kernel<T>);
  });
  return launch;
}

void sum_parts(const float* parts, int count, int rows, int columns, void* c, std::int64_t row_c,
               DType dtype, cudaStream_t stream) {
  const Launch launch = sum_parts_launch(rows, columns, dtype);
  visit_element(dtype, [&]<class T>(std::type_identity<T>) {
    sum_kernel<<<launch.grid, launch.block, 0, stream>>>(parts, count, rows, columns,
                                                         static_cast<T*>(c), row_c);
  });
  check(cudaGetLastError());
}

}  // namespace roofcast::cuda::gemm
