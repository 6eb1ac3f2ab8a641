#pragma once
#include <cuda_runtime.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace roofcast::cuda {

/// A CUDA call failed: the message names the error and the line that made the call.
class CudaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws CudaError unless the call succeeded. A failed launch is caught by
/// check(cudaGetLastError()).
inline void check(cudaError_t status,
                  const std::source_location where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // clears an error that is not sticky: the next call would report it
  throw CudaError(std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status) +
                  " at " + where.file_name() + ":" + std::to_string(where.line()));
}

}  // namespace roofcast::cuda
