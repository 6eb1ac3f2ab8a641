#pragma once
// Products of fp8 by cuBLASLt: cuBLAS has none.
#include <cuda_runtime.h>

#include <string>

#include "kernels/gemm/tensor.hpp"

namespace roofcast::cuda::library {

/// Empty if cuBLASLt takes a product of fp8, else why not: it needs both operands contiguous along
/// k, and multiples of 16 for k, n and the rows.
std::string unsupported_fp8(const Problem&);

/// C [m,n] in bf16 = A [m,k] · B, B stored as [n,k]. Accumulates in the tensor cores' fast mode
/// (CUBLASLT_MATMUL_DESC_FAST_ACCUM), like gemm.wgmma.
void multiply_fp8(const gemm::Shape&, const void* a, const void* b, void* c, cudaStream_t);

}  // namespace roofcast::cuda::library
