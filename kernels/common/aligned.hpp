#pragma once
// For kernels that have only 16-byte accesses: misaligned arrays are copied.
#include <cuda_runtime.h>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda {

inline constexpr std::size_t kAccessBytes = 16;

/// Calls `run` with addresses that are all multiples of 16 bytes. Misaligned inputs are copied
/// before it, misaligned outputs after it, and misaligned scratch is replaced. The memory for this
/// is allocated and freed on the stream; if every address is aligned, none is.
void run_aligned(const Problem&, const Addresses&, cudaStream_t, Tensors (*tensors)(const Problem&),
                 void (*run)(const Problem&, const Addresses&, cudaStream_t));

}  // namespace roofcast::cuda
