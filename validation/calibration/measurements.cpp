#include "validation/calibration/measurements.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hw_specs/checked_json.hpp"
#include "hw_specs/json_node.hpp"
#include "hw_specs/text_file.hpp"
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

namespace {

using Json = nlohmann::ordered_json;
using specs::JsonNode;

constexpr const char* kWrittenBy = "restore the file from where `roofcast calibrate` wrote it";

Json curve_json(const Curve& curve) {
  return {{"microbenchmark", curve.microbenchmark}, {"series", curve.series}, {"unit", curve.unit}};
}

Json refused_json(const RefusedValue& refused) {
  Json out = curve_json(refused.curve);
  if (!refused.curve.x_name.empty()) {
    out["x"] = refused.curve.x_name;
    out["at"] = refused.point.x;
  }
  out["value"] = refused.point.value;
  out["reason"] = refused.reason;
  return out;
}

Curve named_curve(const JsonNode& node) {
  const auto x = node.find("x");
  return {node.at("microbenchmark").text(),
          node.at("series").text(),
          x ? x->text() : "",
          node.at("unit").text(),
          {}};
}

Curve curve_from_json(const JsonNode& node) {
  node.allow_only({"microbenchmark", "series", "unit", "value", "x", "points"});
  Curve curve = named_curve(node);
  if (curve.x_name.empty()) {
    curve.points.push_back({0, node.at("value").number()});
    return curve;
  }
  for (const JsonNode& point : node.at("points").items()) {
    const auto pair = point.items();
    if (pair.size() != 2) point.refuse("a pair of x and value", kWrittenBy);
    curve.points.push_back({pair[0].number(), pair[1].number()});
  }
  return curve;
}

RefusedValue refused_from_json(const JsonNode& node) {
  node.allow_only({"microbenchmark", "series", "unit", "x", "at", "value", "reason"});
  const auto at = node.find("at");
  return {named_curve(node),
          {at ? at->number() : 0, node.at("value").number()},
          node.at("reason").text()};
}

}  // namespace

std::string to_json(const Measurements& measurements) {
  Json out;
  out["schema_version"] = 1;
  out["date"] = measurements.date;
  out["build"] = measurements.build;
  out["device"] = device_json(measurements.device);
  out["curves"] = Json::array();
  for (const Curve& curve : measurements.curves) {
    Json one = curve_json(curve);
    if (curve.x_name.empty()) {
      one["value"] = curve.points.at(0).value;
    } else {
      one["x"] = curve.x_name;
      one["points"] = Json::array();
      for (const CurvePoint& point : curve.points) one["points"].push_back({point.x, point.value});
    }
    out["curves"].push_back(std::move(one));
  }
  if (!measurements.refused.empty()) out["refused"] = Json::array();
  for (const RefusedValue& one : measurements.refused) out["refused"].push_back(refused_json(one));
  return out.dump(1) + "\n";
}

Measurements parse_measurements(const std::string& file, const std::string& text) {
  const nlohmann::json document =
      specs::parse_checked(file, text, {specs::kMostFileBytes, kWrittenBy});
  const JsonNode root(file, document);
  root.allow_only({"schema_version", "date", "build", "device", "curves", "refused"});
  (void)root.at("schema_version").integer(1, 1);
  Measurements out;
  out.date = root.at("date").text();
  out.build = root.at("build").text();
  out.device = device_from_json(root.at("device"));
  for (const JsonNode& node : root.at("curves").items()) {
    out.curves.push_back(curve_from_json(node));
  }
  if (const auto refused = root.find("refused")) {
    for (const JsonNode& node : refused->items()) out.refused.push_back(refused_from_json(node));
  }
  return out;
}

}  // namespace roofcast::validation
