// The kernels of the reductions. They read and hardly write, so bytes in flight are their limit. A
// thread issues 8 accesses of 16 bytes before it adds the first: with 5 blocks of 256 threads up to
// 160 KB are in flight on an SM, where Little's law asks for 22 to 32 KB. (In fp32 the compiled
// code waits earlier: batch_of in model/kernels/reduce/reduce.cpp.)
#include "kernels/reduce/reduce.cuh"

namespace roofcast::cuda::reduce {
namespace {

constexpr int kMostThreads = static_cast<int>(roofcast::reduce::kMostThreads);
constexpr int kBatch = static_cast<int>(roofcast::reduce::kBatch);
constexpr int kRows = static_cast<int>(roofcast::reduce::kWeightedRows);

/// Sums one chunk of a row; for reduce.global all elements are one row. Each chunk has an unaligned
/// head and tail of its own.
template <class T>
__global__ void __launch_bounds__(kMostThreads, 4) sum_kernel(Sum<T> at) {
  constexpr int kWidth = rows::kWidth<T>;
  __shared__ float sums[kMostThreads / 32];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const auto of_chunk = static_cast<int>(blockIdx.x % static_cast<unsigned>(at.split));
  const std::int64_t row =
      std::int64_t{blockIdx.x / static_cast<unsigned>(at.split)} * blockDim.y + threadIdx.y;
  if (row >= at.rows) return;  // happens only with a warp a row, where no barrier follows
  const std::int64_t begin = of_chunk * at.chunk;
  const auto elements = static_cast<int>(min(at.chunk, max(std::int64_t{0}, at.cols - begin)));
  const T* const from = at.x + row * at.cols + begin;
  const rows::RowShape<T> shape = rows::shape_of<true>(from, elements);
  const T* const body = from + shape.head;

  float sum[kWidth] = {};
  const int edge = shape.edge_column(thread);
  if (edge < elements) sum[0] = widen(from[edge]);
#pragma unroll 1
  for (int first = thread; first < shape.body; first += kBatch * threads) {
    rows::Packed in[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const int vector = first + i * threads;
      in[i] = rows::padding<T, rows::Pad::zero>();
      if (vector < shape.body) {
        in[i] = rows::load_packed<true>(body + std::int64_t{vector} * kWidth);
      }
    }
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      float values[kWidth];
      rows::unpack<T>(in[i], values);
#pragma unroll
      for (int e = 0; e < kWidth; ++e) sum[e] += values[e];
    }
  }
#pragma unroll
  for (int e = 1; e < kWidth; ++e) sum[0] += sum[e];
  float total = rows::warp_sum(sum[0]);
  if (threads > 32) {
    if (thread % 32 == 0) sums[thread / 32] = total;
    __syncthreads();
    total = rows::warp_sum(thread < threads / 32 ? sums[thread] : 0.0F);  // valid in warp 0
  }
  if (thread == 0) at.put(row, of_chunk, total);
}

/// Weighted sums of four rows side by side, so that each weight is loaded once for four elements.
/// With one row at a time the weights would double the bytes between L2 and the SMs, which would be
/// the limit. Rows or addresses that are no multiples of 16 bytes are read by single elements,
/// neighbouring ones in neighbouring threads.
template <class T, bool kAligned>
__global__ void __launch_bounds__(kMostThreads, 3) weighted_kernel(Sum<T> at) {
  constexpr int kWidth = kAligned ? rows::kWidth<T> : 1;
  constexpr auto kSteps =  // accesses to each row before the first is used
      static_cast<int>(kAligned ? roofcast::reduce::kBatch / kRows
                                : roofcast::reduce::kSingleBatch);
  __shared__ float sums[kRows][kMostThreads / 32];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  // Blocks that read the same weights follow each other, so all but the first find them in L2.
  const unsigned groups = gridDim.x / static_cast<unsigned>(at.split);
  const auto of_chunk = static_cast<int>(blockIdx.x / groups);
  const std::int64_t row = (std::int64_t{blockIdx.x % groups} * blockDim.y + threadIdx.y) * kRows;
  if (row >= at.rows) return;
  const std::int64_t begin = of_chunk * at.chunk;
  const auto elements = static_cast<int>(min(at.chunk, max(std::int64_t{0}, at.cols - begin)));
  const int units = elements / kWidth;
  const T* from[kRows];  // past the last row: the last row again, whose sum is not stored
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    from[r] = at.x + min(row + r, at.rows - 1) * at.cols + begin;
  }
  const T* const weights = at.weights + begin;

  float sum[kRows] = {};
  using Loaded = std::conditional_t<kAligned, rows::Packed, T>;
  const auto load_unit = [&](const T* array, int unit) -> Loaded {
    if constexpr (kAligned) {
      return unit < units ? rows::load_packed<true>(array + std::int64_t{unit} * kWidth)
                          : rows::padding<T, rows::Pad::zero>();
    } else {
      return unit < units ? array[unit] : narrow<T>(0.0F);
    }
  };
  const auto widened = [](const Loaded& loaded, float* to) {
    if constexpr (kAligned) {
      rows::unpack<T>(loaded, to);
    } else {
      *to = widen(loaded);
    }
  };
#pragma unroll 1
  for (int first = thread; first < units; first += kSteps * threads) {
    Loaded w[kSteps], x[kSteps][kRows];
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) x[i][r] = load_unit(from[r], first + i * threads);
      w[i] = load_unit(weights, first + i * threads);
    }
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      float weight[kWidth];
      widened(w[i], weight);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        float values[kWidth];
        widened(x[i][r], values);
#pragma unroll
        for (int e = 0; e < kWidth; ++e) sum[r] = fmaf(weight[e], values[e], sum[r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) sum[r] = rows::warp_sum(sum[r]);
  if (threads > 32) {
    if (thread % 32 == 0) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r][thread / 32] = sum[r];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      sum[r] = rows::warp_sum(thread < threads / 32 ? sums[r][thread] : 0.0F);
    }
  }
  if (thread != 0) return;
#pragma unroll
  for (int r = 0; r < kRows; ++r) {
    if (row + r < at.rows) at.put(row + r, of_chunk, sum[r]);
  }
}

/// Adds the chunks' sums of each row to y[r]. Threads along x share a row.
template <class T>
__global__ void __launch_bounds__(rows::kMaxThreads, 1) finish_kernel(Sum<T> at) {
  __shared__ float sums[rows::kMaxWarps];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= at.rows) return;
  float total = 0;
#pragma unroll 8
  for (int i = thread; i < at.split; i += threads) total += at.partial[row * at.split + i];
  total = rows::warp_sum(total);
  if (threads > 32) {
    if (thread % 32 == 0) sums[thread / 32] = total;
    __syncthreads();
    total = rows::warp_sum(thread < threads / 32 ? sums[thread] : 0.0F);
  }
  if (thread == 0) at.y[row] = narrow<T>(total);
}

}  // namespace

template <class T>
Kernel<T> plain() {
  return sum_kernel<T>;
}
template <class T>
Kernel<T> weighted(bool aligned) {
  return aligned ? weighted_kernel<T, true> : weighted_kernel<T, false>;
}
template <class T>
Kernel<T> finish() {
  return finish_kernel<T>;
}

template Kernel<float> plain<float>();
template Kernel<__half> plain<__half>();
template Kernel<__nv_bfloat16> plain<__nv_bfloat16>();
template Kernel<float> weighted<float>(bool);
template Kernel<__half> weighted<__half>(bool);
template Kernel<__nv_bfloat16> weighted<__nv_bfloat16>(bool);
template Kernel<float> finish<float>();
template Kernel<__half> finish<__half>();
template Kernel<__nv_bfloat16> finish<__nv_bfloat16>();

}  // namespace roofcast::cuda::reduce
