#pragma once
// Test data on the device, and the comparison that decides whether a kernel is right.
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "model/types/dtype.hpp"

namespace roofcast::cuda {

/// Standard normal numbers, each a function of (seed, index) alone: equal whatever the launch.
/// Zeros or ±1 would hide wrong indexing and draw less power than real data.
void fill_normal(void* data, DType dtype, std::size_t elements, std::uint64_t seed, cudaStream_t);

/// Every element NaN (all bits set), so that an element nobody wrote cannot pass a comparison.
void poison(void* data, DType dtype, std::size_t elements, cudaStream_t);

/// max|out - ref| / max(1, max|ref|); infinite if any difference is NaN. Waits for the stream.
double max_error(const void* out, DType dtype, const double* reference, std::size_t elements,
                 cudaStream_t);

}  // namespace roofcast::cuda
