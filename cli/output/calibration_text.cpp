#include "cli/output/calibration_text.hpp"

#include <fmt/format.h>

#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"

namespace roofcast::cli {
namespace {

// Values with clocks ("clk") in their unit take no SI prefix.
std::string quantity(double value, const std::string& unit) {
  const bool scaled = unit == "B/s" || unit == "s" || unit == "Hz";
  return scaled ? si_text(value, unit) : figure_text(value);
}

std::string place(double x, const std::string& x_name) {
  return x_name.ends_with("_bytes") && x >= 1024 ? binary_bytes(x) : figure_text(x);
}

std::string points_text(const validation::Curve& curve) {
  constexpr std::size_t kWidth = 100;
  std::string text;
  std::string line = "   ";
  for (const validation::CurvePoint& point : curve.points) {
    const std::string cell =
        fmt::format(" {}: {} ", place(point.x, curve.x_name), quantity(point.value, curve.unit));
    if (line.size() + cell.size() > kWidth) {
      text += line + '\n';
      line = "   ";
    }
    line += cell;
  }
  return text + line + '\n';
}

}  // namespace

std::string curves_text(const validation::Measurements& measured, const Style& style) {
  std::string text;
  std::string microbenchmark;
  for (const validation::Curve& curve : measured.curves) {
    if (curve.microbenchmark != microbenchmark) {
      microbenchmark = curve.microbenchmark;
      text += style.heading(microbenchmark) + '\n';
    }
    if (curve.x_name.empty() && !curve.points.empty()) {
      text += fmt::format("  {}: {}{}\n", curve.series, quantity(curve.points[0].value, curve.unit),
                          curve.unit.find("clk") == std::string::npos ? "" : ' ' + curve.unit);
    } else {
      text += fmt::format("  {} ({}) by {}\n{}", curve.series, curve.unit, curve.x_name,
                          points_text(curve));
    }
  }
  return text;
}

std::string overlay_text(const validation::Overlay& overlay, const Style& style) {
  TextTable table({{"value"}, {"", Align::right}, {"from"}, {"note"}});
  for (const validation::OverlayValue& value : overlay.values) {
    table.add({value.key, fmt::format("{:.6g}", value.value), value.source, value.note});
  }
  return '\n' + table.text(style);
}

}  // namespace roofcast::cli
