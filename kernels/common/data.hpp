#pragma once
// Test data on the device, and the comparison that decides whether a kernel is right.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda {

/// Writes standard normal numbers, each a function of (seed, index) alone. int8: 32 times as large,
/// rounded and clamped to [-128, 127]. Zeros or ±1 would hide wrong indexing and draw less power
/// than real data.
void fill_normal(void* data, DType dtype, std::size_t elements, std::uint64_t seed, cudaStream_t);

/// Sets all bits, which makes every element of a floating type NaN: an element that no kernel
/// writes cannot pass a comparison.
void poison(void* data, DType dtype, std::size_t elements, cudaStream_t);

/// The largest, over the rows of the tensor, of max|out - ref| / max|ref|: each row, or the whole
/// tensor where it names no row, is held to its own largest value. Infinite if a difference is NaN
/// or infinite, or if a row's reference is all 0 and its output is not. Unused elements of rows are
/// left out. Waits for the stream.
double max_error(const void* out, const Tensor&, const double* reference, cudaStream_t);

}  // namespace roofcast::cuda
