#include "kernels/expression/compile.hpp"

#include <cuda_runtime.h>

#include <map>
#include <mutex>

#include "kernels/common/error.hpp"

#ifdef ROOFCAST_HAS_NVRTC
#include <nvrtc.h>

#include <array>
#endif

namespace roofcast::cuda::expr {

#ifdef ROOFCAST_HAS_NVRTC
namespace {

void check_nvrtc(nvrtcResult status, const std::string& log = {}) {
  if (status == NVRTC_SUCCESS) return;
  throw CudaError("NVRTC: " + std::string(nvrtcGetErrorString(status)) +
                  (log.empty() ? "" : "\n" + log));
}

class NvrtcProgram {
 public:
  explicit NvrtcProgram(const std::string& source) {
    check_nvrtc(
        nvrtcCreateProgram(&program_, source.c_str(), "expression.cu", 0, nullptr, nullptr));
  }
  ~NvrtcProgram() { (void)nvrtcDestroyProgram(&program_); }
  NvrtcProgram(const NvrtcProgram&) = delete;
  NvrtcProgram& operator=(const NvrtcProgram&) = delete;
  NvrtcProgram(NvrtcProgram&&) = delete;
  NvrtcProgram& operator=(NvrtcProgram&&) = delete;

  std::string compile(const std::string& architecture) {
    const std::string option = "--gpu-architecture=" + architecture;
    const std::array<const char*, 2> options = {option.c_str(), "--std=c++17"};
    const nvrtcResult status =
        nvrtcCompileProgram(program_, static_cast<int>(options.size()), options.data());
    check_nvrtc(status, log());
    std::size_t bytes = 0;
    check_nvrtc(nvrtcGetCUBINSize(program_, &bytes));
    std::string code(bytes, '\0');
    check_nvrtc(nvrtcGetCUBIN(program_, code.data()));
    return code;
  }

 private:
  std::string log() {
    std::size_t bytes = 0;
    if (nvrtcGetProgramLogSize(program_, &bytes) != NVRTC_SUCCESS || bytes < 2) return {};
    std::string text(bytes, '\0');
    check_nvrtc(nvrtcGetProgramLog(program_, text.data()));
    text.resize(bytes - 1);
    return text;
  }

  nvrtcProgram program_ = nullptr;
};

std::string architecture_of(int device) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

Kernels load(const std::string& code) {
  cudaLibrary_t library = nullptr;  // stays loaded until the process ends
  check(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  const auto kernel = [&](const char* name) {
    cudaKernel_t found = nullptr;
    check(cudaLibraryGetKernel(&found, library, name));
    return static_cast<const void*>(found);
  };
  return {kernel("map_vectors"), kernel("map_scalar")};
}

}  // namespace

std::string cannot_compile() {
  return {};
}

std::string machine_code(const std::string& source, const std::string& architecture) {
  return NvrtcProgram(source).compile(architecture);
}

Kernels compiled(const std::string& source) {
  static std::mutex one_at_a_time;
  static std::map<std::string, Kernels> known;
  int device = 0;
  check(cudaGetDevice(&device));
  const std::string architecture = architecture_of(device);
  const std::lock_guard lock(one_at_a_time);
  const auto [entry, added] = known.try_emplace(architecture + source);
  if (added) {
    try {
      entry->second = load(machine_code(source, architecture));
    } catch (...) {
      known.erase(entry);
      throw;
    }
  }
  return entry->second;
}

#else

std::string cannot_compile() {
  return "expressions are compiled at run time with NVRTC (CUDA 12.8 or later), which this build "
         "was made without";
}

std::string machine_code(const std::string& /*source*/, const std::string& /*architecture*/) {
  throw CudaError(cannot_compile());
}

Kernels compiled(const std::string& /*source*/) {
  throw CudaError(cannot_compile());
}

#endif

}  // namespace roofcast::cuda::expr
