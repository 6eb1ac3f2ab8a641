#pragma once
// What NVIDIA's libraries reach on the same problems, behind the same interface.
#include <span>

#include "kernels/common/kernel.hpp"
#include "model/kernels/gemm_library.hpp"
#include "model/kernels/gemm_tensor.hpp"

namespace roofcast::cuda::library {

/// stream.memcpy: cudaMemcpyAsync from device to device.
KernelEntry memcpy();

/// gemm.library: cuBLAS in fp32 (no TF32), tf32, fp16 and bf16. Only where the build found cuBLAS.
KernelEntry cublas_gemm();

/// Position of what the model's gemm.library does not tell apart: 1 if B is [n,k].
inline constexpr std::size_t kStoredTransposed = Problem::kMaxParameters - 1;
/// The product of one of this project's kernels as gemm.library takes it.
constexpr Problem library_product(const Problem& p) {
  namespace own = roofcast::gemm;
  Problem q{.dtype = p.dtype, .values = {p[own::kM], p[own::kN], p[own::kK]}};
  q[own::kBatch] = 1;
  if (p.dtype != DType::fp32) q[kStoredTransposed] = p[own::tensor::kTransposedB];
  return q;
}

}  // namespace roofcast::cuda::library
