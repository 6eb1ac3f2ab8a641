#pragma once
// Splits a profile's time by call, forecasts the calls, and ranks possible changes.
#include <optional>
#include <string>
#include <vector>

#include "validation/profiles/mends.hpp"
#include "validation/profiles/operations.hpp"

namespace roofcast::validation {

/// Work of a call, which with the measured time places it under the roofline.
struct RoofPlace {
  double flops = 0;       ///< per call
  double dram_bytes = 0;  ///< per call; 0: unknown
  bool counted = false;   ///< from hardware counters; else from the forecast
};

/// Why a group has no forecast.
enum class Lacks : unsigned char { nothing, shape, law, name };

/// Equal calls and their forecast. Times are of all calls together.
struct CallGroup {
  TracedCall call;
  std::optional<Recognized> recognized;  ///< from its operator and shapes
  Does does = Does::unknown;             ///< from its operator, else from its longest kernel's name
  std::string_view library;              ///< of the longest kernel; empty: unknown
  std::optional<Prediction> forecast;    ///< of one call
  bool from_counters = false;            ///< the forecast is from counted traffic and work
  std::optional<double> expected_s, limit_s;
  Lacks lacks = Lacks::nothing;
  std::optional<RoofPlace> place;
  std::optional<Occupancy> occupancy;  ///< of the longest kernel
  std::optional<Waves> waves;

  double measured_s() const { return call.kernels_s; }
  std::int64_t count() const { return call.count; }
  /// Whether the measured time is below the limit.
  bool impossible() const { return limit_s && measured_s() < *limit_s; }
  const ProfiledKernel& longest_kernel() const;
};

struct Profile {
  Trace trace;                    ///< without its calls
  std::vector<CallGroup> groups;  ///< the longest first
  double recognized_s = 0;        ///< measured, of calls whose purpose is known
  double compared_s = 0;          ///< measured, of calls with an expected time
  double expected_s = 0;          ///< forecast of the same calls
  double no_shape_s = 0;          ///< measured, of calls without a forecast for lack of shapes
  std::vector<Mend> mends;        ///< the largest saving first
};

/// Forecast of the time that a profiler measures (s), from a kernel's start on the GPU to its end:
/// the expected time with the launch cost replaced by that of a graph node per launch.
double profiled_s(const Prediction& prediction, const Gpu& gpu);

/// The profile of a trace. Forecasts take L2 as warm (CacheState::warm); those of counted kernels
/// take it as cold, since ncu flushes it, and use the measured clock.
Profile profile_of(Trace trace, const Gpu& gpu);

}  // namespace roofcast::validation
