#include "validation/calibration/measurements.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "validation/runs/device_json.hpp"

namespace roofcast::validation {

const Curve* Measurements::find(std::string_view microbenchmark, std::string_view series) const {
  const auto found = std::find_if(curves.begin(), curves.end(), [&](const Curve& curve) {
    return curve.microbenchmark == microbenchmark && curve.series == series;
  });
  return found == curves.end() ? nullptr : &*found;
}

std::optional<double> Measurements::at(std::string_view microbenchmark, std::string_view series,
                                       double x) const {
  const Curve* curve = find(microbenchmark, series);
  if (curve == nullptr) return std::nullopt;
  const auto found = std::find_if(curve->points.begin(), curve->points.end(),
                                  [x](const CurvePoint& point) { return point.x == x; });
  return found == curve->points.end() ? std::nullopt : std::optional(found->value);
}

std::string to_json(const Measurements& measurements) {
  nlohmann::ordered_json out;
  out["schema_version"] = 1;
  out["date"] = measurements.date;
  out["build"] = measurements.build;
  out["device"] = device_json(measurements.device);
  out["curves"] = nlohmann::ordered_json::array();
  for (const Curve& curve : measurements.curves) {
    nlohmann::ordered_json one = {
        {"microbenchmark", curve.microbenchmark}, {"series", curve.series}, {"unit", curve.unit}};
    if (curve.x_name.empty()) {
      one["value"] = curve.points.at(0).value;
    } else {
      one["x"] = curve.x_name;
      one["points"] = nlohmann::ordered_json::array();
      for (const CurvePoint& point : curve.points) one["points"].push_back({point.x, point.value});
    }
    out["curves"].push_back(std::move(one));
  }
  return out.dump(1) + "\n";
}

}  // namespace roofcast::validation
