#pragma once
#include <cublas_v2.h>

#include <stdexcept>

namespace roofcast::cuda::library {

/// Throws the description of a cuBLAS status other than success.
inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

}  // namespace roofcast::cuda::library
