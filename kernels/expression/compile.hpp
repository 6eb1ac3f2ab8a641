#pragma once
// Compiles source to kernels at run time, by NVRTC and the runtime's library loader (no link to
// libcuda).
#include <string>

namespace roofcast::cuda::expr {

/// Empty if this build can compile at run time, else why not.
std::string cannot_compile();

/// Machine code of the source for an architecture such as "sm_90". Throws CudaError with NVRTC's
/// log.
std::string machine_code(const std::string& source, const std::string& architecture);

/// The two kernels of source(), as the runtime's launch and occupancy functions take them.
struct Kernels {
  const void* vectors = nullptr;
  const void* scalar = nullptr;
};

/// The kernels of a source for the current device, compiled and loaded once in this process for
/// each architecture. Throws CudaError.
Kernels compiled(const std::string& source);

}  // namespace roofcast::cuda::expr
