#pragma once
// For kernels whose accesses have 16 bytes: what lies at another address is copied.
#include <cuda_runtime.h>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda {

inline constexpr std::size_t kAccessBytes = 16;

/// Calls `run` with addresses that are all multiples of 16 bytes. Inputs at other addresses are
/// copied before, outputs after; the copies, and scratch in place of scratch at other addresses,
/// are memory of the stream. Where nothing is misaligned, nothing is copied or taken.
void run_aligned(const Problem&, const Addresses&, cudaStream_t, Tensors (*tensors)(const Problem&),
                 void (*run)(const Problem&, const Addresses&, cudaStream_t));

}  // namespace roofcast::cuda
