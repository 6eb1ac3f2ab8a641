#include "cli/output/roofline_text.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "cli/output/text_table.hpp"
#include "model/types/quantity_text.hpp"
#include "reports/plot.hpp"
#include "reports/roofs.hpp"

namespace roofcast::cli {
namespace {

using reports::DevicePoints;
using reports::RooflinePoint;

const char* const kNone = "–";

std::string rate(const std::optional<double>& value, std::string_view unit) {
  return value && std::isfinite(*value) && *value > 0 ? si_text(*value, unit) : kNone;
}

std::string intensity_text(double flops_per_byte) {
  const bool known = std::isfinite(flops_per_byte) && flops_per_byte > 0;
  return known ? figure_text(flops_per_byte) + " FLOP/B" : kNone;
}

/// A row for each roof of any device, in the order of the first device that has it: memory levels
/// and then pipes, each fastest first.
std::string roofs_text(const std::vector<DevicePoints>& devices, const Style& style) {
  std::vector<std::string> names;
  std::vector<std::map<std::string, std::string>> texts(devices.size());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Gpu& gpu = *devices[i].gpu;
    std::optional<double> dram;
    for (const reports::MemoryRoof& roof : reports::memory_roofs(gpu)) {
      reports::add_once(names, roof.level);
      texts[i][roof.level] = rate(roof.sheet_bytes_per_s, "B/s");
      if (roof.level == "DRAM") dram = roof.sheet_bytes_per_s;
      if (!roof.sustained_bytes_per_s) continue;
      reports::add_once(names, roof.level + " sustained");
      texts[i][roof.level + " sustained"] = rate(roof.sustained_bytes_per_s, "B/s");
    }
    for (const reports::ComputeRoof& roof : reports::compute_roofs(gpu)) {
      const std::string name = roof.pipe + " " + std::string(roofcast::name(roof.dtype));
      reports::add_once(names, name);
      texts[i][name] = si_text(roof.flops_per_s, "FLOP/s");
      if (dram) texts[i][name] += ", ridge " + intensity_text(roof.flops_per_s / *dram);
    }
  }
  std::vector<TextTable::Column> columns = {{"roof"}};
  for (const DevicePoints& device : devices) columns.push_back({device.gpu->name, Align::right});
  TextTable table(columns);
  for (const std::string& name : names) {
    std::vector<std::string> row = {name};
    for (const auto& own : texts) {
      const auto found = own.find(name);
      row.push_back(found != own.end() ? found->second : kNone);
    }
    table.add(row);
  }
  return table.text(style, "  ");
}

std::string level_text(const RooflinePoint& point, std::string_view level) {
  for (const reports::LevelIntensity& one : point.levels) {
    if (one.level == level) return intensity_text(one.intensity);
  }
  return kNone;
}

std::vector<std::string> row_of(const Gpu& gpu, const RooflinePoint& point, bool measured) {
  const bool computes = point.predicted_flops_per_s > 0;
  const auto shown = [&](const std::optional<double>& flops, double bytes) {
    return computes ? rate(flops, "FLOP/s") : rate(bytes, "B/s");
  };
  // A family has no expected time: what it is predicted to reach is its limit.
  const std::string predicted = shown(point.predicted_flops_per_s, point.dram_bytes_per_s);
  std::vector<std::string> row = {gpu.name,
                                  point.label + (point.is_limit ? " (limit)" : ""),
                                  level_text(point, "L1 + shared"),
                                  level_text(point, "L2"),
                                  intensity_text(point.intensity),
                                  point.is_limit ? kNone : predicted,
                                  point.is_limit ? predicted : shown(point.limit_flops_per_s, 0)};
  if (measured) {
    row.push_back(shown(point.measured_flops_per_s, point.measured_dram_bytes_per_s.value_or(0)));
  }
  return row;
}

std::string points_text(const std::vector<DevicePoints>& devices, const Style& style) {
  bool measured = false;
  for (const DevicePoints& device : devices) {
    for (const RooflinePoint& point : device.points) {
      measured = measured || point.measured_flops_per_s || point.measured_dram_bytes_per_s;
    }
  }
  std::vector<TextTable::Column> columns = {{"GPU"},
                                            {"kernel"},
                                            {"L1 + shared", Align::right},
                                            {"L2", Align::right},
                                            {"DRAM", Align::right},
                                            {"expected", Align::right},
                                            {"limit", Align::right}};
  if (measured) columns.push_back({"measured", Align::right});
  TextTable table(columns);
  bool any = false;
  for (const DevicePoints& device : devices) {
    for (const RooflinePoint& point : device.points) {
      table.add(row_of(*device.gpu, point, measured));
      any = true;
    }
  }
  return any ? "\n" + table.text(style, "  ") : "";
}

}  // namespace

std::string roofline_text(const std::vector<DevicePoints>& devices, const Style& style) {
  return roofs_text(devices, style) + points_text(devices, style);
}

}  // namespace roofcast::cli
