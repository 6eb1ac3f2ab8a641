#pragma once
// Hardware counters of one launch, as run files hold them. They need several passes: the launch is
// repeated, each time from the same cache state.
#include <functional>
#include <string>
#include <vector>

#include "validation/counters/range_counter.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::harness {

class CounterSession {
 public:
  /// Enables the profiler on the current context; do no timing during its lifetime. Throws
  /// NoCounters.
  CounterSession();

  /// `prepare` and `launch` each run once a pass; both must have finished when they return. Only
  /// `launch` is counted. Throws NoCounters.
  validation::Counters count(const std::function<void()>& prepare,
                             const std::function<void()>& launch);

  /// Metrics this chip does not have.
  const std::vector<std::string>& missing() const { return counter_.missing(); }

 private:
  RangeCounter counter_;
};

}  // namespace roofcast::harness
