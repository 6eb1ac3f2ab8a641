#pragma once
// Products of fp8 by cuBLASLt, which alone has them.
#include <cuda_runtime.h>

#include <string>

#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::library {

/// Empty if cuBLASLt takes a product of fp8, else why not: it reads both operands along k, by 16
/// bytes.
std::string unsupported_fp8(const Problem&);

/// C [m,n] in bf16 = A [m,k] · B, B stored as [n,k]. Sums as fast as the tensor cores make them
/// (CUBLASLT_MATMUL_DESC_FAST_ACCUM), like those of gemm.wgmma.
void multiply_fp8(const gemm::Shape&, const void* a, const void* b, void* c, cudaStream_t);

}  // namespace roofcast::cuda::library
