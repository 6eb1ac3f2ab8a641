#pragma once
// What a trace's time went into, what the same operators are forecast to take, and what to change first.
#include <optional>
#include <string>
#include <vector>

#include "validation/profiles/operations.hpp"

namespace roofcast::validation {

/// Equal calls: the same operator, shapes and layout.
struct CallGroup {
  TracedCall call;  ///< the first; its kernels_s is the group's
  std::int64_t count = 0;
  std::optional<Recognized> recognized;
  std::optional<Prediction> forecast;  ///< of one call
  double measured_s() const { return call.kernels_s; }
  double forecast_s() const { return forecast ? count_d() * forecast->time->expected_s : 0; }
  double limit_s() const { return forecast ? count_d() * forecast->limit.time_s : 0; }

 private:
  double count_d() const { return static_cast<double>(count); }
};

/// One change, and the time that it is forecast to save.
struct Mend {
  std::string what;
  double saved_s = 0;
  std::int64_t calls = 0;  ///< that it changes
};

struct Profile {
  Trace trace;                    ///< without its calls
  std::vector<CallGroup> groups;  ///< the longest first
  double recognized_s = 0;        ///< of trace.busy_s
  double forecast_s = 0;          ///< of the recognized ones
  std::vector<Mend> mends;        ///< the largest saving first; they add up but for launches
};

/// Forecasts are of data in L2 as far as it stays there between launches. Calls that no forecast exists for
/// stay unrecognized.
Profile profile_of(Trace trace, const Gpu& gpu);

}  // namespace roofcast::validation
