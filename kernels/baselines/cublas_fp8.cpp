#include "kernels/baselines/cublas_fp8.hpp"

#include <cublasLt.h>

#include <array>
#include <memory>
#include <stdexcept>

#include "kernels/baselines/cublas_check.hpp"
#include "kernels/common/error.hpp"

namespace roofcast::cuda::library {
namespace {

/// Owners of the objects that cuBLASLt creates.
template <class T, auto kDestroy>
struct Destroys {
  using pointer = T;
  void operator()(T value) const { (void)kDestroy(value); }
};
template <class T, auto kDestroy>
using Owned = std::unique_ptr<T, Destroys<T, kDestroy>>;
using Handle = Owned<cublasLtHandle_t, cublasLtDestroy>;
using Description = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;  // what NVIDIA advises for Hopper

/// The layout of a column-major matrix, as cuBLAS stores them. `column`: elements from one column
/// to the next.
Layout layout(cudaDataType_t type, int rows, int columns, std::int64_t column) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), column));
  return Layout(made);
}

/// A product of one shape, with the algorithm that cuBLASLt expects to be the fastest. It is kept
/// because the heuristic takes longer than many products.
struct Chosen {
  std::array<std::int64_t, 6> shape;
  Description description;
  Layout a, b, c;
  cublasLtMatmulAlgo_t algorithm;
};

/// The cuBLASLt handle, workspace and last choice of one host thread.
class Library {
 public:
  Library() {
    cublasLtHandle_t made = nullptr;
    check(cublasLtCreate(&made));
    handle_.reset(made);
    cuda::check(cudaMalloc(&workspace_, kWorkspaceBytes));
  }
  ~Library() { (void)cudaFree(workspace_); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // cuBLAS reads a row-major matrix as its column-major transpose, so it computes C^T = B·A^T. It
  // sees B [n,k] as a matrix of k rows and n columns, and transposes it.
  void multiply(const gemm::Shape& s, const void* a, const void* b, void* c, cudaStream_t stream) {
    const std::array<std::int64_t, 6> shape = {s.m, s.n, s.k, s.row_a, s.row_b, s.row_c};
    if (!chosen_ || chosen_->shape != shape) chosen_ = choose(shape, s);
    const float alpha = 1, beta = 0;
    check(cublasLtMatmul(handle_.get(), chosen_->description.get(), &alpha, b, chosen_->a.get(), a,
                         chosen_->b.get(), &beta, c, chosen_->c.get(), c, chosen_->c.get(),
                         &chosen_->algorithm, workspace_, kWorkspaceBytes, stream));
  }

 private:
  std::unique_ptr<Chosen> choose(const std::array<std::int64_t, 6>& shape, const gemm::Shape& s) {
    cublasLtMatmulDesc_t description = nullptr;
    check(cublasLtMatmulDescCreate(&description, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    auto made = std::make_unique<Chosen>(Chosen{shape,
                                                Description(description),
                                                layout(CUDA_R_8F_E4M3, s.k, s.n, s.row_b),
                                                layout(CUDA_R_8F_E4M3, s.k, s.m, s.row_a),
                                                layout(CUDA_R_16BF, s.n, s.m, s.row_c),
                                                {}});
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
      check(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof(value)));
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference));
    const Preference owned(preference);
    check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                               &kWorkspaceBytes, sizeof(kWorkspaceBytes)));
    cublasLtMatmulHeuristicResult_t best{};
    int found = 0;
    check(cublasLtMatmulAlgoGetHeuristic(handle_.get(), description, made->a.get(), made->b.get(),
                                         made->c.get(), made->c.get(), preference, 1, &best,
                                         &found));
    if (found == 0) throw std::runtime_error("cuBLASLt has no algorithm for this product of fp8");
    made->algorithm = best.algo;
    return made;
  }

  Handle handle_;
  void* workspace_ = nullptr;
  std::unique_ptr<Chosen> chosen_;
};

}  // namespace

std::string unsupported_fp8(const Problem& p) {
  constexpr std::int64_t kVector = 16;  // bytes, and elements of A and B
  const gemm::Shape s = gemm::shape_of(p);
  if (p[gemm::kTransposedA] != 0 || p[gemm::kTransposedB] != 1 || s.matrices != 1) {
    return "gemm.library takes products of fp8 with A [m,k] and B [n,k], without a batch";
  }
  if (s.k % kVector != 0 || s.n % kVector != 0 || s.row_a % kVector != 0 ||
      s.row_b % kVector != 0 || s.row_c * 2 % kVector != 0) {
    return "gemm.library takes products of fp8 with k, n and rows that are multiples of 16";
  }
  return {};
}

void multiply_fp8(const gemm::Shape& shape, const void* a, const void* b, void* c,
                  cudaStream_t stream) {
  thread_local Library library;
  library.multiply(shape, a, b, c, stream);
}

}  // namespace roofcast::cuda::library
