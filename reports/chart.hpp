#pragma once
// Charts as Vega-Lite specifications: data and encoding in one JSON document.
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/types/gpu.hpp"
#include "reports/roofline_point.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/runs/run.hpp"

namespace roofcast::reports {

/// More points than this would make a picture of hundreds of megabytes and cover each other.
inline constexpr std::size_t kMostPoints = 20'000;
/// Throws InputError if `count` exceeds kMostPoints.
void check_points(std::size_t count);

/// A roofline as Vega-Lite JSON text. Roofs: DRAM, L2, L1 with shared memory and each arithmetic
/// type of the device, at datasheet clocks; types that no point needs are grey. A point is drawn at
/// its intensity of each level, joined by a line, with its interval and an arrow to its
/// measurement. More than 16 points of several families have a panel per family; a panel of more
/// than 16 points shows neither levels nor intervals. A rate above the point's limit is marked as
/// an error. Intensities beyond kMostRidges DRAM ridges are drawn there. Bars below show the DRAM
/// bandwidth of kernels without FLOPs. Values that are not positive are left out. `width` is the
/// frame's, in px; in a narrow one the names of compute roofs stand inside.
inline constexpr double kRooflineWidth = 620;
/// Width of a chart's frame on a screen of 400 px, in px: axes and names take the rest.
inline constexpr double kNarrowFrame = 210;
std::string roofline_chart(const Gpu& gpu, const std::vector<RooflinePoint>& points,
                           double width = kRooflineWidth);

/// A device and its points on a roofline.
struct DevicePoints {
  const Gpu* gpu = nullptr;
  std::vector<RooflinePoint> points{};
};
/// Several devices in one frame, each with its colour and dash: its DRAM roof and the compute roofs
/// that its points need. One device is drawn by roofline_chart. Throws InputError without a device.
std::string rooflines_chart(const std::vector<DevicePoints>& devices,
                            double width = kRooflineWidth);

/// Predicted time (y) against measured time (x) of every case on logarithmic axes, with the
/// diagonal, a band of ±10% and error bars (measured: p10 to p90, predicted: low to high). A second
/// panel shows the error over predicted DRAM bytes: beside the first, or below it if `width` is
/// less than kTimesWidth. Vega-Lite JSON text.
inline constexpr double kTimesWidth = 400;
std::string predicted_measured_chart(const validation::Comparison& comparison,
                                     double width = kTimesWidth);

/// Predicted ÷ measured time of every case, one row per family, shape and colour by regime, with a
/// band of ±10% and each family's median. Vega-Lite JSON text.
inline constexpr double kErrorWidth = 600;
std::string error_chart(const validation::Comparison& comparison, double width = kErrorWidth);

/// One self-contained HTML page (opens offline). `narrow_json` is the same chart for a phone's
/// width. Throws InputError if the program was built without the page bundle
/// (ROOFCAST_REPORT_BUNDLE=OFF) or a text is no JSON object.
std::string chart_page(const std::string& title, const std::string& vega_lite_json,
                       const std::string& narrow_json = "");

/// The HTML page of a comparison: summary figures, device and conditions, predicted against
/// measured time, errors by family and regime, the worst cases with their parts, a roofline for
/// each family that computes, the table of every case and the device's memory. `run` adds suite,
/// build, driver and clocks. `run_text`, the run's file, is embedded for readers to save.
std::string report_page(const validation::Comparison& comparison, const Gpu& gpu,
                        const std::optional<validation::Run>& run = {},
                        const std::string& run_text = "");

/// Draws a Vega-Lite specification: the bytes of an "svg" or "png" file. Needs Node and the npm
/// packages of reports/; throws InputError that says what is missing and how to mend it. `stop` is
/// called when a signal interrupts the drawing; if it throws, the drawing is killed.
std::string render(
    const std::string& vega_lite_json, const std::string& format,
    const std::function<void()>& stop = [] {});

}  // namespace roofcast::reports
