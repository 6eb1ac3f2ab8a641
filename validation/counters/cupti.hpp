#pragma once
// CUPTI's range profiler, loaded at run time: a machine without it still measures times.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace roofcast::harness {

/// Counters are not available; what() says why.
class NoCounters : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The functions used, with the types of CUPTI's headers.
struct Cupti {
  decltype(&cuptiProfilerInitialize) profiler_initialize;
  decltype(&cuptiProfilerDeInitialize) profiler_deinitialize;
  decltype(&cuptiProfilerGetCounterAvailability) counter_availability;
  decltype(&cuptiDeviceGetChipName) chip_name;
  decltype(&cuptiProfilerHostInitialize) host_initialize;
  decltype(&cuptiProfilerHostDeinitialize) host_deinitialize;
  decltype(&cuptiProfilerHostConfigAddMetrics) add_metrics;
  decltype(&cuptiProfilerHostGetConfigImageSize) config_image_size;
  decltype(&cuptiProfilerHostGetConfigImage) config_image;
  decltype(&cuptiProfilerHostEvaluateToGpuValues) evaluate;
  decltype(&cuptiRangeProfilerEnable) enable;
  decltype(&cuptiRangeProfilerDisable) disable;
  decltype(&cuptiRangeProfilerSetConfig) set_config;
  decltype(&cuptiRangeProfilerStart) start;
  decltype(&cuptiRangeProfilerStop) stop;
  decltype(&cuptiRangeProfilerPushRange) push_range;
  decltype(&cuptiRangeProfilerPopRange) pop_range;
  decltype(&cuptiRangeProfilerDecodeData) decode;
  decltype(&cuptiRangeProfilerGetCounterDataSize) counter_data_size;
  decltype(&cuptiRangeProfilerCounterDataImageInitialize) counter_data_initialize;
  decltype(&cuptiGetResultString) result_string;

  /// Throws NoCounters unless the call succeeded.
  void check(CUptiResult result, const char* doing) const;
};

/// The functions, loaded at the first call. Throws NoCounters.
const Cupti& cupti();

}  // namespace roofcast::harness
