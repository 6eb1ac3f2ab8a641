#include "validation/counters/cupti.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace roofcast::harness {
namespace {

void* open_library() {
  // Looks for the headers' version by name, then in the toolkit's folders.
  const std::string name = fmt::format("libcupti.so.{}", CUDART_VERSION / 1000);
  std::string why;
  for (const char* folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"}) {
    if (void* library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (why.empty()) why = dlerror();
  }
  throw NoCounters(fmt::format("CUPTI is not installed ({})", why));
}

}  // namespace

void* cupti_function(const char* name) {
  static void* const library = open_library();
  void* const function = dlsym(library, name);
  if (function == nullptr) throw NoCounters(fmt::format("this CUPTI has no {}", name));
  return function;
}

void check_cupti(CUptiResult result, const char* doing) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  const auto result_string =
      reinterpret_cast<decltype(&cuptiGetResultString)>(cupti_function("cuptiGetResultString"));
  (void)result_string(result, &text);
  const bool refused = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  throw NoCounters(fmt::format("{}: {}{}", doing, text != nullptr ? text : "unknown error",
                               refused ? "; run as root, or load the driver with "
                                         "NVreg_RestrictProfilingToAdminUsers=0"
                                       : ""));
}

}  // namespace roofcast::harness
