#pragma once
// Sums of a [rows, cols] matrix of n elements, accumulated in fp32 and rounded once to its type:
//
//   reduce.row       y[r] = Σ_c x[r, c]          reads n, writes rows
//   reduce.weighted  y[r] = Σ_c w[c]·x[r, c]     reads n + cols, writes rows
//   reduce.global    y    = Σ_r Σ_c x[r, c]      reads n, writes 1
//
// The order of additions is fixed by shape and settings, and no atomics are used: a second run
// gives the same bits. Where rows are few, each is split into `split` chunks, with a block (or a
// warp) each, so that even a single long row fills the GPU; a second launch adds the chunks' sums,
// 4 bytes each.
#include "kernels/common/rows.cuh"
#include "model/kernels/reduce/reduce.hpp"

namespace roofcast::cuda::reduce {

using roofcast::reduce::Layout;

/// The arguments of every kernel. `partial` is [rows, split]; it is not used where split = 1.
template <class T>
struct Sum {
  const T *x, *weights;
  T* y;
  float* partial;
  std::int64_t rows, cols, chunk;  ///< chunk: elements
  int split;

  __device__ void put(std::int64_t row, int of_chunk, float sum) const {
    if (split == 1) {
      y[row] = narrow<T>(sum);
    } else {
      partial[row * split + of_chunk] = sum;
    }
  }
};

template <class T>
using Kernel = void (*)(Sum<T>);

template <class T>
Kernel<T> plain();
template <class T>
Kernel<T> weighted(bool aligned);
template <class T>
Kernel<T> finish();

}  // namespace roofcast::cuda::reduce
