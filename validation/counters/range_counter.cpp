#include "validation/counters/range_counter.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <span>
#include <utility>

#include "kernels/common/error.hpp"
#include "validation/counters/cupti.hpp"

namespace roofcast::harness {
namespace {

/// A parameter block for CUPTI, zero except for its size.
template <class T>
T block(std::size_t size) {
  T out{};
  out.structSize = size;
  return out;
}
#define ROOFCAST_CUPTI_BLOCK(type) block<type>(type##_STRUCT_SIZE)

CUcontext current_context() {
  // Found through the runtime: machines without a GPU lack the driver's library, so nothing links
  // it.
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  cuda::check(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &entry, 12000, cudaEnableDefault,
                                               &found));
  cuda::check(cudaFree(nullptr));  // creates the context
  CUcontext context = nullptr;
  if (entry == nullptr ||
      reinterpret_cast<CUresult (*)(CUcontext*)>(entry)(&context) != CUDA_SUCCESS) {
    throw NoCounters("the driver does not give the CUDA context (cuCtxGetCurrent)");
  }
  return context;
}

}  // namespace

struct RangeCounter::Session {
  CUpti_Profiler_Host_Object* host = nullptr;
  CUpti_RangeProfiler_Object* range = nullptr;
  bool initialized = false;
  std::vector<const char*> names;
  std::vector<std::uint8_t> config;
  std::vector<std::uint8_t> data;

  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ~Session() {
    if (range != nullptr) {
      auto disable = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_Disable_Params);
      disable.pRangeProfilerObject = range;
      (void)call_cupti("cuptiRangeProfilerDisable", disable);
    }
    release_host();
    if (initialized) {
      auto deinitialize = ROOFCAST_CUPTI_BLOCK(CUpti_Profiler_DeInitialize_Params);
      (void)call_cupti("cuptiProfilerDeInitialize", deinitialize);
    }
  }

  void release_host() {
    if (host == nullptr) return;
    auto deinitialize = ROOFCAST_CUPTI_BLOCK(CUpti_Profiler_Host_Deinitialize_Params);
    deinitialize.pHostObject = host;
    (void)call_cupti("cuptiProfilerHostDeinitialize", deinitialize);
    host = nullptr;
  }

  void initialize(CUcontext context) {
    auto profiler = ROOFCAST_CUPTI_BLOCK(CUpti_Profiler_Initialize_Params);
    check_cupti(call_cupti("cuptiProfilerInitialize", profiler), "starting the profiler");
    initialized = true;
    int device = 0;
    cuda::check(cudaGetDevice(&device));
    auto chip = ROOFCAST_CUPTI_BLOCK(CUpti_Device_GetChipName_Params);
    chip.deviceIndex = static_cast<std::size_t>(device);
    check_cupti(call_cupti("cuptiDeviceGetChipName", chip), "asking for the chip's name");

    auto available = ROOFCAST_CUPTI_BLOCK(CUpti_Profiler_GetCounterAvailability_Params);
    available.ctx = context;
    check_cupti(call_cupti("cuptiProfilerGetCounterAvailability", available),
                "asking which counters may be read");
    availability.resize(available.counterAvailabilityImageSize);
    available.pCounterAvailabilityImage = availability.data();
    check_cupti(call_cupti("cuptiProfilerGetCounterAvailability", available),
                "asking which counters may be read");
    chip_name = chip.pChipName;
    open_host();
  }

  void open_host() {
    auto initialize_host = ROOFCAST_CUPTI_BLOCK(CUpti_Profiler_Host_Initialize_Params);
    initialize_host.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    initialize_host.pChipName = chip_name.c_str();
    initialize_host.pCounterAvailabilityImage = availability.data();
    check_cupti(call_cupti("cuptiProfilerHostInitialize", initialize_host),
                "describing the chip's counters");
    host = initialize_host.pHostObject;
  }

  CUptiResult add_metrics(std::span<const char*> chosen) {
    auto add = ROOFCAST_CUPTI_BLOCK(CUpti_Profiler_Host_ConfigAddMetrics_Params);
    add.pHostObject = host;
    add.ppMetricNames = chosen.data();
    add.numMetrics = chosen.size();
    return call_cupti("cuptiProfilerHostConfigAddMetrics", add);
  }

  /// Whether the chip has the metric. The host object is opened anew afterwards, since a refused
  /// metric may leave it in an undefined state.
  bool has(const std::string& metric) {
    const char* name = metric.c_str();
    const bool known = add_metrics({&name, 1}) == CUPTI_SUCCESS;
    release_host();
    open_host();
    return known;
  }

  void configure(CUcontext context, std::span<const std::string> metrics) {
    for (const std::string& metric : metrics) names.push_back(metric.c_str());
    check_cupti(add_metrics(names), "choosing the counters");
    auto size = ROOFCAST_CUPTI_BLOCK(CUpti_Profiler_Host_GetConfigImageSize_Params);
    size.pHostObject = host;
    check_cupti(call_cupti("cuptiProfilerHostGetConfigImageSize", size), "planning the passes");
    config.resize(size.configImageSize);
    auto image = ROOFCAST_CUPTI_BLOCK(CUpti_Profiler_Host_GetConfigImage_Params);
    image.pHostObject = host;
    image.configImageSize = config.size();
    image.pConfigImage = config.data();
    check_cupti(call_cupti("cuptiProfilerHostGetConfigImage", image), "planning the passes");

    auto enable = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_Enable_Params);
    enable.ctx = context;
    check_cupti(call_cupti("cuptiRangeProfilerEnable", enable), "enabling the range profiler");
    range = enable.pRangeProfilerObject;
    auto data_size = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_GetCounterDataSize_Params);
    data_size.pRangeProfilerObject = range;
    data_size.pMetricNames = names.data();
    data_size.numMetrics = names.size();
    data_size.maxNumOfRanges = 1;
    data_size.maxNumRangeTreeNodes = 1;
    check_cupti(call_cupti("cuptiRangeProfilerGetCounterDataSize", data_size),
                "sizing the counter data");
    data.resize(data_size.counterDataSize);
  }

  void rearm() {
    auto fresh = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_CounterDataImage_Initialize_Params);
    fresh.pRangeProfilerObject = range;
    fresh.counterDataSize = data.size();
    fresh.pCounterData = data.data();
    check_cupti(call_cupti("cuptiRangeProfilerCounterDataImageInitialize", fresh),
                "clearing the counter data");
    auto set = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_SetConfig_Params);
    set.pRangeProfilerObject = range;
    set.configSize = config.size();
    set.pConfig = config.data();
    set.counterDataImageSize = data.size();
    set.pCounterDataImage = data.data();
    set.range = CUPTI_UserRange;
    set.replayMode = CUPTI_UserReplay;
    set.maxRangesPerPass = 1;
    set.numNestingLevels = 1;
    set.minNestingLevel = 1;
    set.passIndex = 0;
    set.targetNestingLevel = 1;
    check_cupti(call_cupti("cuptiRangeProfilerSetConfig", set), "configuring the range profiler");
  }

  /// One pass; true when it was the last.
  bool pass(const std::function<void()>& launch) {
    auto start = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_Start_Params);
    start.pRangeProfilerObject = range;
    check_cupti(call_cupti("cuptiRangeProfilerStart", start), "starting a pass");
    auto push = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_PushRange_Params);
    push.pRangeProfilerObject = range;
    push.pRangeName = "launch";
    check_cupti(call_cupti("cuptiRangeProfilerPushRange", push), "opening the range");
    launch();
    auto pop = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_PopRange_Params);
    pop.pRangeProfilerObject = range;
    check_cupti(call_cupti("cuptiRangeProfilerPopRange", pop), "closing the range");
    auto stop = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_Stop_Params);
    stop.pRangeProfilerObject = range;
    check_cupti(call_cupti("cuptiRangeProfilerStop", stop), "ending a pass");
    return stop.isAllPassSubmitted != 0;
  }

  std::vector<double> values() {
    auto decode = ROOFCAST_CUPTI_BLOCK(CUpti_RangeProfiler_DecodeData_Params);
    decode.pRangeProfilerObject = range;
    check_cupti(call_cupti("cuptiRangeProfilerDecodeData", decode), "decoding the counters");
    std::vector<double> out(names.size());
    auto evaluate = ROOFCAST_CUPTI_BLOCK(CUpti_Profiler_Host_EvaluateToGpuValues_Params);
    evaluate.pHostObject = host;
    evaluate.pCounterDataImage = data.data();
    evaluate.counterDataImageSize = data.size();
    evaluate.rangeIndex = 0;
    evaluate.ppMetricNames = names.data();
    evaluate.numMetrics = names.size();
    evaluate.pMetricValues = out.data();
    check_cupti(call_cupti("cuptiProfilerHostEvaluateToGpuValues", evaluate),
                "evaluating the counters");
    return out;
  }

  std::string chip_name;
  std::vector<std::uint8_t> availability;
};

RangeCounter::RangeCounter(const std::vector<std::string>& metrics)
    : session_(std::make_unique<Session>()) {
  CUcontext context = current_context();
  session_->initialize(context);
  for (const std::string& metric : metrics) {
    (session_->has(metric) ? metrics_ : missing_).push_back(metric);
  }
  session_->configure(context, metrics_);
}

RangeCounter::~RangeCounter() = default;

std::vector<double> RangeCounter::count(const std::function<void()>& prepare,
                                        const std::function<void()>& launch) {
  constexpr int kMostPasses = 64;
  session_->rearm();
  bool last = false;
  for (int i = 0; !last; ++i) {
    if (i == kMostPasses) throw NoCounters("CUPTI asked for pass after pass without an end");
    prepare();
    last = session_->pass(launch);
  }
  return session_->values();
}

}  // namespace roofcast::harness
