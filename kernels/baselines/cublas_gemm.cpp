// cuBLAS, the baseline of the gemm kernels.
#include <cublas_v2.h>

#include <array>

#include "kernels/baselines/baselines.hpp"
#include "kernels/baselines/cublas_check.hpp"
#include "kernels/baselines/cublas_fp8.hpp"
#include "kernels/gemm/tensor.hpp"
#include "model/libraries/gemm.hpp"

namespace roofcast::cuda::library {
namespace {

using gemm::kK;
using gemm::kM;
using gemm::kN;

/// One handle a host thread, made at its first use: making one takes far longer than a product.
cublasHandle_t handle() {
  struct Handle {
    Handle() { check(cublasCreate(&value)); }
    ~Handle() { (void)cublasDestroy(value); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    cublasHandle_t value = nullptr;
  };
  thread_local const Handle handle;
  return handle.value;
}

struct Types {
  cudaDataType_t stored;
  cublasComputeType_t compute;  // CUBLAS_COMPUTE_32F does not round fp32 inputs to TF32
};

Types types(DType dtype) {
  switch (dtype) {
    case DType::tf32:
      return {CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case DType::fp16:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F};
    case DType::bf16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    default:
      return {CUDA_R_32F, CUBLAS_COMPUTE_32F};
  }
}

std::string unsupported(const Problem& p) {
  if (p.dtype != DType::fp32 && p.dtype != DType::tf32 && p.dtype != DType::fp16 &&
      p.dtype != DType::bf16) {
    return "gemm.library runs in fp32, tf32, fp16 and bf16, not " + std::string(name(p.dtype));
  }
  return p[kM] < 1 || p[kN] < 1 || p[kK] < 1 ? "m, n and k must be at least 1" : "";
}

// cuBLAS reads a row-major matrix as its column-major transpose, so it is asked for
// C^T = B^T·A^T: B first, and n and m exchanged. `of_a` and `of_b` transpose operands that are
// stored as A [k,m] or B [n,k].
void multiply(const gemm::Shape& s, cublasOperation_t of_a, cublasOperation_t of_b, DType dtype,
              const Addresses& at, cudaStream_t stream) {
  const float alpha = 1, beta = 0;
  const Types type = types(dtype);
  check(cublasSetStream(handle(), stream));
  if (s.matrices == 1) {
    return check(cublasGemmEx_64(handle(), of_b, of_a, s.n, s.m, s.k, &alpha, at.inputs[1],
                                 type.stored, s.row_b, at.inputs[0], type.stored, s.row_a, &beta,
                                 at.outputs[0], type.stored, s.row_c, type.compute,
                                 CUBLAS_GEMM_DEFAULT));
  }
  check(cublasGemmStridedBatchedEx_64(
      handle(), of_b, of_a, s.n, s.m, s.k, &alpha, at.inputs[1], type.stored, s.row_b, s.matrix_b,
      at.inputs[0], type.stored, s.row_a, s.matrix_a, &beta, at.outputs[0], type.stored, s.row_c,
      s.matrix_c, s.matrices, type.compute, CUBLAS_GEMM_DEFAULT));
}

// Dense matrices, A [m,k] and B [k,n].
void multiply_dense(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const gemm::Shape s = {static_cast<int>(p[kM]),
                         static_cast<int>(p[kN]),
                         static_cast<int>(p[kK]),
                         p[kK],
                         p[kN],
                         p[kN]};
  multiply(s, CUBLAS_OP_N, CUBLAS_OP_N, p.dtype, at, stream);
}

constexpr std::array kConfigurations = {Problem{}};  // cuBLAS chooses its own

KernelEntry entry() {
  return {
      .name = "gemm.library",
      .configurations = kConfigurations,
      .unsupported = unsupported,
      .tensors = gemm::tensors,
      .launches = [](const Problem&) { return std::vector<Launch>{}; },
      .run = multiply_dense,
      .reference = gemm::reference,
      .tolerance = gemm::tolerance,
  };
}

}  // namespace

KernelEntry cublas_gemm() {
  KernelEntry plain = entry();
  plain.unsupported = [](const Problem& p) -> std::string {
    using namespace roofcast::gemm;
    if (p[kBatch] > 1) return "gemm.library is measured without a batch";
    if (p[kQuantize] != kNothing || p[kEpilogue] != kPlain) {
      return "gemm.library is measured without 'quantize' and 'epilogue': leave them out";
    }
    if (p[kLayout] != kNN || p[kLda] != 0 || p[kLdb] != 0) {
      return "gemm.library is measured with dense rows of A [m,k] and B [k,n]: leave out 'layout', "
             "'lda' and 'ldb'";
    }
    return unsupported(p);
  };
  // tensor_reference takes any type; as in multiply_dense, A is [m,k] and B [k,n].
  plain.reference = [](const Problem& p, std::span<const void* const> inputs,
                       std::span<double* const> outputs, cudaStream_t stream) {
    Problem product{.dtype = p.dtype, .values = {p[kM], p[kN], p[kK]}};
    product[gemm::kBatch] = 1;
    gemm::tensor_reference(product, inputs, outputs, stream);
  };
  return plain;
}

KernelEntry cublas_gemm_of_simt_kernels() {
  return entry();
}

KernelEntry cublas_gemm_of_tensor_kernels() {
  KernelEntry tensor = entry();
  tensor.unsupported = [](const Problem& p) {
    return p.dtype == DType::fp8 ? unsupported_fp8(p) : unsupported(p);
  };
  tensor.tensors = gemm::tensor_tensors;
  tensor.run = [](const Problem& p, const Addresses& at, cudaStream_t stream) {
    const auto layout = [&](std::size_t transposed) {
      return p[transposed] != 0 ? CUBLAS_OP_T : CUBLAS_OP_N;
    };
    if (p.dtype == DType::fp8) {
      return multiply_fp8(gemm::shape_of(p), at.inputs[0], at.inputs[1], at.outputs[0], stream);
    }
    multiply(gemm::shape_of(p), layout(gemm::kTransposedA), layout(gemm::kTransposedB), p.dtype, at,
             stream);
  };
  tensor.reference = gemm::tensor_reference;
  tensor.tolerance = gemm::tensor_tolerance;
  return tensor;
}

}  // namespace roofcast::cuda::library
