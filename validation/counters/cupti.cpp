#include "validation/counters/cupti.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

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

template <class Function>
void load(void* library, const char* name, Function& into) {
  into = reinterpret_cast<Function>(dlsym(library, name));
  if (into == nullptr) throw NoCounters(fmt::format("this CUPTI has no {}", name));
}

Cupti load_all() {
  void* const library = open_library();
  Cupti out{};
  load(library, "cuptiProfilerInitialize", out.profiler_initialize);
  load(library, "cuptiProfilerDeInitialize", out.profiler_deinitialize);
  load(library, "cuptiProfilerGetCounterAvailability", out.counter_availability);
  load(library, "cuptiDeviceGetChipName", out.chip_name);
  load(library, "cuptiProfilerHostInitialize", out.host_initialize);
  load(library, "cuptiProfilerHostDeinitialize", out.host_deinitialize);
  load(library, "cuptiProfilerHostConfigAddMetrics", out.add_metrics);
  load(library, "cuptiProfilerHostGetConfigImageSize", out.config_image_size);
  load(library, "cuptiProfilerHostGetConfigImage", out.config_image);
  load(library, "cuptiProfilerHostEvaluateToGpuValues", out.evaluate);
  load(library, "cuptiRangeProfilerEnable", out.enable);
  load(library, "cuptiRangeProfilerDisable", out.disable);
  load(library, "cuptiRangeProfilerSetConfig", out.set_config);
  load(library, "cuptiRangeProfilerStart", out.start);
  load(library, "cuptiRangeProfilerStop", out.stop);
  load(library, "cuptiRangeProfilerPushRange", out.push_range);
  load(library, "cuptiRangeProfilerPopRange", out.pop_range);
  load(library, "cuptiRangeProfilerDecodeData", out.decode);
  load(library, "cuptiRangeProfilerGetCounterDataSize", out.counter_data_size);
  load(library, "cuptiRangeProfilerCounterDataImageInitialize", out.counter_data_initialize);
  load(library, "cuptiGetResultString", out.result_string);
  return out;
}

}  // namespace

void Cupti::check(CUptiResult result, const char* doing) const {
  if (result == CUPTI_SUCCESS) return;
  const char* text = nullptr;
  (void)result_string(result, &text);
  const bool refused = result == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES;
  throw NoCounters(fmt::format("{}: {}{}", doing, text != nullptr ? text : "unknown error",
                               refused ? "; run as root, or load the driver with "
                                         "NVreg_RestrictProfilingToAdminUsers=0"
                                       : ""));
}

const Cupti& cupti() {
  static const Cupti loaded = load_all();
  return loaded;
}

}  // namespace roofcast::harness
