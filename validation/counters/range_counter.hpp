#pragma once
// Metrics of one launch by name, from CUPTI's range profiler with user ranges and user replay.
// Several passes repeat the launch, each time from the same cache state.
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace roofcast::harness {

class RangeCounter {
 public:
  /// Enables the profiler on the current context; do no timing during its lifetime. Throws
  /// NoCounters.
  explicit RangeCounter(const std::vector<std::string>& metrics);
  ~RangeCounter();
  RangeCounter(const RangeCounter&) = delete;
  RangeCounter& operator=(const RangeCounter&) = delete;

  /// `prepare` and `launch` each run once a pass; both must have finished when they return. Only
  /// `launch` is counted. One value for each of metrics(). Throws NoCounters.
  std::vector<double> count(const std::function<void()>& prepare,
                            const std::function<void()>& launch);

  /// The requested metrics that this chip has.
  const std::vector<std::string>& metrics() const { return metrics_; }
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  struct Session;
  std::vector<std::string> metrics_;
  std::vector<std::string> missing_;
  std::unique_ptr<Session> session_;
};

}  // namespace roofcast::harness
