#pragma once
// What NVIDIA's libraries reach on the same problems, behind the same interface.
#include <span>

#include "kernels/common/kernel.hpp"

namespace roofcast::cuda::library {

/// stream.memcpy: cudaMemcpyAsync from device to device.
KernelEntry memcpy();

/// gemm.library: cuBLAS in fp32 (no TF32), tf32, fp16 and bf16. Only where the build found cuBLAS.
KernelEntry cublas_gemm();
/// The same for the problems of this project's kernels: their settings stand where those of
/// gemm.library do. On the tensor cores B has two layouts, and fp8 goes to cuBLASLt.
KernelEntry cublas_gemm_of_simt_kernels();
KernelEntry cublas_gemm_of_tensor_kernels();

}  // namespace roofcast::cuda::library
