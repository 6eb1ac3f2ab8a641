#include "model/kernels/gemm/gemm.hpp"

#include <array>

#include "model/counting/io_complexity.hpp"
#include "model/kernels/gemm/simt.hpp"

namespace roofcast::gemm {
namespace {

constexpr std::array kFamilyTypes = kAllDTypes;

// validation/sweeps/gemm.json.
constexpr std::array kValidated = {ValidatedRange{kM, 64, 50304}, ValidatedRange{kN, 64, 50257},
                                   ValidatedRange{kK, 128, 16384}};

Work work(const Problem& problem) {
  const auto m = static_cast<double>(problem[kM]);
  const auto n = static_cast<double>(problem[kN]);
  const auto k = static_cast<double>(problem[kK]);
  const double element = size_bytes(problem.dtype);
  Work result;
  result.vector_flops = 2 * m * n * k;
  result.compulsory = {(m * k + k * n) * element, m * n * element};
  return result;
}

IoComplexity io(const Problem& problem, double compulsory_bytes, double on_chip_bytes) {
  return matrix_product_io(static_cast<double>(problem[kM]), static_cast<double>(problem[kN]),
                           static_cast<double>(problem[kK]), size_bytes(problem.dtype),
                           compulsory_bytes, on_chip_bytes);
}

}  // namespace

constinit const KernelFamily kFamily = {
    "gemm",    "C[m,n] = A[m,k]·B[k,n], row-major", kShape, kFamilyTypes, work, io, kVariants,
    kValidated};

}  // namespace roofcast::gemm
