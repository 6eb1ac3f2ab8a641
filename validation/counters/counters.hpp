#pragma once
// Hardware counters of one launch: CUPTI's range profiler, user ranges, user replay. The counters
// do not fit in one pass, so the launch is repeated, each time from the same cache state.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "validation/runs/run.hpp"

namespace roofcast::harness {

class CounterSession {
 public:
  /// Enables the profiler on the current context: time nothing while it lives. Throws NoCounters.
  CounterSession();
  ~CounterSession();
  CounterSession(const CounterSession&) = delete;
  CounterSession& operator=(const CounterSession&) = delete;

  /// `prepare` and `launch` each run once a pass; both must have finished when they return. Only
  /// `launch` is counted. Throws NoCounters.
  validation::Counters count(const std::function<void()>& prepare,
                             const std::function<void()>& launch);

  /// Metrics this chip does not have.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  struct Session;
  std::unique_ptr<Session> session_;
  std::vector<std::string> missing_;
};

}  // namespace roofcast::harness
