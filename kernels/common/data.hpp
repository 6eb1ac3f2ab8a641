#pragma once
// Test data on the device, and the comparison that decides whether a kernel is right.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda {

/// Standard normal numbers, each a function of (seed, index) alone: equal whatever the launch.
/// int8: 32 times as large, to the nearest that there is. Zeros or ±1 would hide wrong indexing and
/// draw less power than real data.
void fill_normal(void* data, DType dtype, std::size_t elements, std::uint64_t seed, cudaStream_t);

/// Makes every element NaN (all bits set), so that an element nobody wrote cannot pass a
/// comparison.
void poison(void* data, DType dtype, std::size_t elements, cudaStream_t);

/// The largest, over the rows of the tensor, of max|out - ref| / max|ref|: each row, or the whole
/// tensor where it names no row, is held to its own largest value. Infinite if a difference is NaN
/// or infinite, or if the reference is 0 where the output is not. Unused elements of rows are left
/// out. Waits for the stream.
double max_error(const void* out, const Tensor&, const double* reference, cudaStream_t);

}  // namespace roofcast::cuda
