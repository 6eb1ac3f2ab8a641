#pragma once
// CUPTI's range profiler, loaded at run time: a machine without it still measures times.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <stdexcept>

namespace roofcast::harness {

/// Counters are not available; what() says why.
class NoCounters : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The address of a function of CUPTI, which is loaded at the first call. Throws NoCounters.
void* cupti_function(const char* name);

/// Calls a function of CUPTI with its parameters. Throws NoCounters if this CUPTI does not have it.
template <class Parameters>
CUptiResult call_cupti(const char* name, Parameters& parameters) {
  return reinterpret_cast<CUptiResult (*)(Parameters*)>(cupti_function(name))(&parameters);
}

/// Throws NoCounters, with what was being done, unless the call succeeded.
void check_cupti(CUptiResult result, const char* doing);

}  // namespace roofcast::harness
