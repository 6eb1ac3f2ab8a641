#pragma once
// NVIDIA's libraries on the problems of this project's kernels, as entries like theirs.
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::library {

/// stream.memcpy: cudaMemcpyAsync from device to device.
KernelEntry memcpy();

/// gemm.library: cuBLAS in fp32 (no TF32), tf32, fp16 and bf16. Only where the build found cuBLAS.
KernelEntry cublas_gemm();
/// cuBLAS for problems of this project's gemm kernels, whose values after m, n and k are settings
/// of those kernels, not of gemm.library. For the tensor kernels A and B may be stored transposed,
/// and fp8 goes to cuBLASLt.
KernelEntry cublas_gemm_of_simt_kernels();
KernelEntry cublas_gemm_of_tensor_kernels();

}  // namespace roofcast::cuda::library
