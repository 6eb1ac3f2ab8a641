#pragma once
// y[r, c] = e^(x[r, c] - m) / s,  m = max over c of x[r, c],  s = sum over c of e^(x[r, c] - m):
// what the variants share. Statistics are fp32 whatever the element type.
//
// A part of a row is described by its own maximum m and its sum s relative to m. Parts merge by
//   m = max(m1, m2),  s = s1·e^(m1 - m) + s2·e^(m2 - m)                (Milakov, Gimelshein 2018)
// so that threads, warps and blocks need not agree on the maximum before they add.
#include <cmath>

#include "kernels/common/exponential.cuh"
#include "kernels/common/rows.cuh"

namespace roofcast::cuda::softmax {

/// The signature of every kernel but that of softmax.cluster: `cluster` blocks a row.
template <class T>
using Kernel = void (*)(const T* x, T* y, std::int64_t rows, int cols, int cluster);

/// A part's maximum (x) and sum (y).
using Part = float2;

__device__ inline float exp_of(float x) {
  return exp2_of(x * kLog2E);
}

/// Merges the threads' parts into their warp's.
__device__ inline Part merge_warp(Part thread) {
  const float max = rows::warp_max(thread.x);
  return {max, rows::warp_sum(thread.y * exp_of(thread.x - anchor(max)))};
}

/// Merges all parts of a row. Each warp merges for itself.
__device__ inline Part merge(const Part* parts, int count) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  Part mine = {-INFINITY, 0};
#pragma unroll 1
  for (int i = lane; i < count; i += 32) {
    const Part part = parts[i];
    const float max = fmaxf(mine.x, part.x);
    const float sum = mine.y * exp_of(mine.x - anchor(max)) + part.y * exp_of(part.x - anchor(max));
    mine = {max, sum};
  }
  return merge_warp(mine);
}

/// Merges the parts of the block's warps into the row's. Where a warp has a row of its own, its
/// part is the row's.
__device__ inline Part merge_block(Part warp, Part* parts) {
  if (blockDim.x == 32) return warp;
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = warp;
  __syncthreads();
  return merge(parts, static_cast<int>(blockDim.x / 32));
}

/// softmax.online, element by element, for addresses that the other kernels cannot take.
template <class T>
Kernel<T> online_by_element();

// What all variants share.
std::string unsupported_problem(const Problem&);
Tensors tensors(const Problem&);
void reference(const Problem&, std::span<const void* const> inputs,
               std::span<double* const> outputs, cudaStream_t);
double tolerance(const Problem&, std::size_t output);

/// Enqueues y = softmax(x).
template <class T>
void launch(Kernel<T> kernel, const rows::Layout& layout, const Problem& p, const Addresses& at,
            cudaStream_t stream) {
  const void* x = at.inputs[0];
  void* y = at.outputs[0];
  std::int64_t rows = p[rows::kRows];
  int cols = static_cast<int>(p[rows::kCols]);
  int cluster = static_cast<int>(layout.cluster);
  void* arguments[] = {&x, &y, &rows, &cols, &cluster};
  rows::launch(reinterpret_cast<const void*>(kernel), rows::grid_of(layout, rows),
               rows::block_of(layout), arguments, stream, {.cluster = layout.cluster});
}

}  // namespace roofcast::cuda::softmax
