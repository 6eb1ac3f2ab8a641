#pragma once
// What the microbenchmarks found on one device. Needs no CUDA.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/calibration/curve.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::validation {

/// A value that was measured and cannot be: kept for the record, never used.
struct RefusedValue {
  Curve curve;  ///< which: without its points
  CurvePoint point;
  std::string reason;
};

struct Measurements {
  std::string date;   ///< ISO 8601, UTC
  std::string build;  ///< version and git revision
  DeviceRecord device;
  std::vector<Curve> curves;
  std::vector<RefusedValue> refused{};  ///< (curve_limits.hpp)

  const Curve* find(std::string_view microbenchmark, std::string_view series) const;
  /// The value at an x, or the single number; nothing where it was not measured.
  std::optional<double> at(std::string_view microbenchmark, std::string_view series,
                           double x = 0) const;
};

/// JSON text ↔ device, date, every curve, and what was refused. parse throws InputError naming the
/// file, the pointer and the mend.
std::string to_json(const Measurements& measurements);
Measurements parse_measurements(const std::string& file, const std::string& text);

}  // namespace roofcast::validation
