#pragma once
// What a profile's time went into, what the same operators are forecast to take, and what to change
// first.
#include <optional>
#include <string>
#include <vector>

#include "validation/profiles/mends.hpp"
#include "validation/profiles/operations.hpp"

namespace roofcast::validation {

/// Where a kernel lies under the roofline, as measured.
struct RoofPlace {
  double flops = 0;       ///< of one call
  double dram_bytes = 0;  ///< of one call; 0: not known
  bool counted = false;   ///< by hardware counters; else the forecast's
};

/// Why a group has no forecast.
enum class Lacks : unsigned char { nothing, shape, law, name };

/// Equal calls with what the model says of them. Times are of all calls.
struct CallGroup {
  TracedCall call;
  std::optional<Recognized> recognized;  ///< by its shapes
  Does does = Does::unknown;             ///< by its operator, else by its longest kernel's name
  std::string_view library;              ///< whose kernel that is; empty: not known
  std::optional<Prediction> forecast;    ///< of one call
  bool from_counters = false;  ///< the forecast is of the traffic and work that was counted
  std::optional<double> expected_s, limit_s;
  Lacks lacks = Lacks::nothing;
  std::optional<RoofPlace> place;
  std::optional<Occupancy> occupancy;  ///< of the kernel that takes longest
  std::optional<Waves> waves;

  double measured_s() const { return call.kernels_s; }
  std::int64_t count() const { return call.count; }
  /// No hardware can have measured it.
  bool impossible() const { return limit_s && measured_s() < *limit_s; }
  const ProfiledKernel& longest_kernel() const;
};

struct Profile {
  Trace trace;                    ///< without its calls
  std::vector<CallGroup> groups;  ///< the longest first
  double recognized_s = 0;        ///< of operations that are known by name or operator
  double compared_s = 0;          ///< measured, of those with an expected time
  double expected_s = 0;          ///< of these
  double no_shape_s = 0;          ///< of products and attention whose shapes are not known
  std::vector<Mend> mends;        ///< the largest saving first
};

/// What a profiler measures of a forecast launch: from the kernel's start on the GPU to its end.
/// The host's part is none of it; what is left of a start is what a node of a graph takes.
double profiled_s(const Prediction& prediction, const Gpu& gpu);

/// Of a trace, forecasts are of data in L2 as far as it stays there between launches; of counted
/// kernels, of an empty L2 (ncu clears it) at the clock that was measured.
Profile profile_of(Trace trace, const Gpu& gpu);

}  // namespace roofcast::validation
