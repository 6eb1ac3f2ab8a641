#pragma once
// Results of the microbenchmarks on one device. Needs no CUDA.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/calibration/curve.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {

/// An impossible measured value (curve_limits.hpp): kept for the record, never used.
struct RefusedValue {
  Curve curve;  ///< its curve, without points
  CurvePoint point;
  std::string reason;
};

struct Measurements {
  std::string date;   ///< ISO 8601, UTC
  std::string build;  ///< version and git revision
  DeviceRecord device;
  std::vector<Curve> curves;
  std::vector<RefusedValue> refused{};  ///< see curve_limits.hpp

  const Curve* find(std::string_view microbenchmark, std::string_view series) const;
  /// The value at `x`, or the single number (x = 0); nothing if it was not measured.
  std::optional<double> at(std::string_view microbenchmark, std::string_view series,
                           double x = 0) const;
};

/// JSON text ↔ measurements. parse_measurements throws InputError naming the file, the pointer and
/// the mend.
std::string to_json(const Measurements& measurements);
Measurements parse_measurements(const std::string& file, const std::string& text);

}  // namespace roofcast::validation
