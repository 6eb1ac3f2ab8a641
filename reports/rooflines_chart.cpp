// Several devices in one frame: each device's roofs in its colour and dash, with its points.
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/types/problem.hpp"
#include "reports/chart.hpp"
#include "reports/point_labels.hpp"
#include "reports/roofline_dots.hpp"
#include "reports/roofline_roofs.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

constexpr double kHeight = 430;
/// Width of the whole picture (px): shown 830 px wide in README.md, its texts are 9 px high.
constexpr double kWidest = 1100;
/// Width beside the frame (px): margins, the axis, and the leaders of the roofs' names.
constexpr double kBeside = 190;

/// A device's roofs that are drawn: DRAM, and the compute roofs that its points need.
struct Device {
  std::string name;
  std::optional<double> dram_bytes_per_s;
  std::vector<ComputeRoof> compute;  ///< highest first
};

/// The roofs that the dots need; if no dot says, the highest and that of fp32 on the vector pipes.
std::vector<ComputeRoof> drawn_roofs(const std::vector<ComputeRoof>& all,
                                     const std::vector<Dot>& dots) {
  std::vector<ComputeRoof> drawn;
  const bool known = std::any_of(dots.begin(), dots.end(),
                                 [](const Dot& dot) { return !dot.point->roofs.empty(); });
  for (const ComputeRoof& roof : all) {
    const bool usual = drawn.empty() || (roof.pipe == "vector" && roof.dtype == DType::fp32);
    if (known ? is_asked(roof, dots) : usual) drawn.push_back(roof);
  }
  return drawn;
}

Device device_of(const Gpu& gpu, const std::vector<Dot>& dots) {
  Device device{gpu.name, {}, drawn_roofs(compute_roofs(gpu), dots)};
  for (const MemoryRoof& roof : memory_roofs(gpu)) {
    if (roof.level == "DRAM") device.dram_bytes_per_s = roof.sheet_bytes_per_s;
  }
  return device;
}

/// The roofs of all devices as one set, to lay out axes, names of roofs and names of points.
Roofs together(const std::vector<Device>& devices) {
  Roofs roofs;
  for (const Device& device : devices) {
    if (device.dram_bytes_per_s) {
      roofs.memory.push_back({device.name + " DRAM", device.dram_bytes_per_s, std::nullopt});
    }
    for (const ComputeRoof& roof : device.compute) {
      roofs.compute.push_back({device.name + " " + roof.pipe, roof.dtype, roof.flops_per_s});
    }
  }
  std::stable_sort(roofs.memory.begin(), roofs.memory.end(),
                   [](const auto& a, const auto& b) { return a.highest() > b.highest(); });
  std::stable_sort(roofs.compute.begin(), roofs.compute.end(),
                   [](const auto& a, const auto& b) { return a.flops_per_s > b.flops_per_s; });
  return roofs;
}

/// Adds a line up the DRAM slope and along the highest compute roof, and lines from the slope along
/// the others.
void add_lines(Json& rows, const Device& device, const Frame& f) {
  int line = 0;
  for (const ComputeRoof& roof : device.compute) {
    const double rate = device.dram_bytes_per_s.value_or(0);
    const double ridge = rate > 0 ? roof.flops_per_s / rate : f.x.low;
    const std::string id = device.name + " " + std::to_string(line);
    const auto add = [&](double x, double y) {
      rows.push_back({{"kernel", device.name},
                      {"line", id},
                      {"x", x},
                      {"y", y},
                      {"roof", roof.pipe + " " + std::string(name(roof.dtype))},
                      {"text", si(roof.flops_per_s, "FLOP/s")}});
    };
    if (line++ == 0 && rate > 0) {
      const double begin = std::max(f.x.low, f.y.low / rate);
      add(begin, rate * begin);
    }
    add(ridge, roof.flops_per_s);
    add(f.x.high, roof.flops_per_s);
  }
}

/// Labels of the compute roofs. Beside a wide frame no label joins two devices: "67 TFLOP/s  p100
/// vector fp32".
std::vector<RoofLabel> levels_of(const std::vector<Device>& devices, const Roofs& roofs,
                                 const LogAxis& x, const LogAxis& y,
                                 const std::vector<Pixel>& points) {
  if (is_narrow(x.pixels)) {
    const std::vector<bool> asked(roofs.compute.size(), true);
    return level_labels(roofs.compute, asked, x, y, points);
  }
  std::vector<RoofLabel> labels;
  for (const Device& device : devices) {
    std::vector<ComputeRoof> own = device.compute;
    for (ComputeRoof& roof : own) roof.pipe = device.name + " " + roof.pipe;
    for (RoofLabel& label : level_labels(own, std::vector<bool>(own.size(), true), x, y, {})) {
      label.at.y = y.position(label.level);
      labels.push_back(std::move(label));
    }
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const RoofLabel& a, const RoofLabel& b) { return a.level > b.level; });
  push_apart(labels);
  return labels;
}

void add_labels(Json& data, const std::vector<Device>& devices, const Roofs& roofs, const Frame& f,
                const std::vector<Dot>& dots) {
  const std::vector<Pixel> points = pixels_of(dots, f);
  const double top = roofs.compute.empty() ? f.y.high : roofs.compute.front().flops_per_s;
  const auto levels = levels_of(devices, roofs, f.x, f.y, points);
  data["level labels"] = level_label_rows(levels, f.x, f.y);
  data["slope labels"] =
      slope_label_rows(slope_labels(roofs.memory, f.x, f.y, top, points, levels), f.x, f.y);
}

/// A frame that leaves room for the roofs' names beside it and is at least as high as their stack.
Frame frame_of(const std::vector<Device>& devices, const Roofs& roofs, const std::vector<Dot>& dots,
               double width) {
  const double height = std::min(kHeight, 1.3 * width);
  Frame first = frame_around(roofs, dots, width, height);
  if (is_narrow(width)) return first;
  const auto labels = levels_of(devices, roofs, first.x, first.y, {});
  double longest = 0;
  for (const RoofLabel& label : labels) longest = std::max(longest, text_width(label.text));
  const double room = std::max(kNarrow, kWidest - kBeside - longest);
  const double stack = kRoofLabelHeight * static_cast<double>(labels.size() + 1);
  return frame_around(roofs, dots, std::min(width, room), std::max(height, stack));
}

Json dashes_of(const std::vector<std::string>& names, const Json& legend) {
  const Json all = {{1, 0}, {8, 4}, {2, 3}, {10, 3, 2, 3}, {5, 5}, {14, 4}, {4, 2}, {1, 4}};
  Json range = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) range.push_back(all[i % all.size()]);
  return {{"field", "kernel"},
          {"type", "nominal"},
          {"scale", {{"domain", names}, {"range", range}}},
          {"legend", legend}};
}

void add_roof_layers(Json& layers, const Frame& f, const Json& colours, const Json& dashes) {
  layers.push_back(layer(
      "gpu-roofs", "gpu roofs",
      mark("line", "memory-roof", {{"clip", true}, {"interpolate", "linear"}}),
      f.across({{"detail", {{"field", "line"}}},
                {"color", colours},
                {"strokeDash", dashes},
                {"tooltip", tooltip({{"kernel", "GPU"}, {"roof", "Roof"}, {"text", "Peak"}})}})));
  add_label_layers(layers, "", f);
}

/// All points, with the device's name before the label: the first word gives a point its colour.
std::vector<RooflinePoint> named_by_device(const std::vector<DevicePoints>& devices) {
  std::vector<RooflinePoint> points;
  for (const DevicePoints& device : devices) {
    for (RooflinePoint point : device.points) {
      point.label = device.gpu->name + " " + point.label;
      if (!point.brief.empty()) point.brief = device.gpu->name + " " + point.brief;
      points.push_back(std::move(point));
    }
  }
  return points;
}

}  // namespace

std::string rooflines_chart(const std::vector<DevicePoints>& given, double width) {
  if (given.empty()) throw InputError("a roofline needs a GPU");
  if (given.size() == 1) return roofline_chart(*given.front().gpu, given.front().points, width);
  const std::vector<RooflinePoint> points = named_by_device(given);
  std::vector<Device> devices;
  std::vector<std::string> names;
  std::vector<Dot> dots;
  std::size_t next = 0;
  for (const DevicePoints& device : given) {
    const Roofs roofs{memory_roofs(*device.gpu), compute_roofs(*device.gpu)};
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(next);
    next += device.points.size();
    std::vector<Dot> own;
    for (auto point = begin; point != points.begin() + static_cast<std::ptrdiff_t>(next); ++point) {
      if (auto dot = drawable_dot(*point, roofs)) own.push_back(std::move(*dot));
    }
    devices.push_back(device_of(*device.gpu, own));
    add_once(names, device.gpu->name);
    dots.insert(dots.end(), own.begin(), own.end());
  }
  const Roofs roofs = together(devices);
  const Frame frame = frame_of(devices, roofs, dots, width);
  Json data = {{"gpu roofs", Json::array()}};
  for (const Device& device : devices) add_lines(data["gpu roofs"], device, frame);
  add_labels(data, devices, roofs, frame, dots);

  Json colours = colour("kernel", names, "", legend_columns(names, width, 6));
  colours["legend"]["symbolType"] = "stroke";
  colours["legend"]["symbolSize"] = 400;
  Json layers = Json::array();
  const Json dashes = dashes_of(names, colours["legend"]);
  add_roof_layers(layers, frame, colours, dashes);
  const DeviceDotNames named = names_by_device(dots, width);
  add_dots(data, "", frame, roofs, dots, named.names);
  if (!dots.empty()) add_dot_layers(layers, "", frame, colours, dots.size(), dashes);
  Json bars = bandwidth_panel(data, points, {}, frame.x.pixels);

  std::string title;
  for (const std::string& one : names) title += (title.empty() ? "" : ", ") + one;
  Json lines = Json::array();
  if (!named.names.common.empty()) lines.push_back(named.names.common);
  for (const std::string& kernel : named.kernels) lines.push_back(kernel);
  const std::string said =
      "DRAM and arithmetic at datasheet clocks" +
      std::string(dots.empty() ? "" : " · ○\u00a0DRAM ◇\u00a0L2 △\u00a0L1 and shared");
  for (Json& line : wrapped_lines(said, width)) lines.push_back(std::move(line));
  Json spec = chart("Rooflines of " + title, "", std::move(data));
  spec["title"]["subtitle"] = std::move(lines);
  if (is_narrow(width)) make_narrow(spec, width);
  Json unit = {{"width", frame.x.pixels}, {"height", frame.y.pixels}, {"layer", std::move(layers)}};
  return stacked(std::move(spec), Json::array({std::move(unit)}), std::move(bars), 1,
                 {{"color", "independent"}, {"strokeDash", "independent"}});
}

}  // namespace roofcast::reports
