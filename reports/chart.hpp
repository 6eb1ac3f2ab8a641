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

/// More points than this make a picture of hundreds of megabytes in which none can be seen.
inline constexpr std::size_t kMostPoints = 20'000;
/// InputError for more.
void check_points(std::size_t count);

/// Roofs for DRAM, L2, shared memory and each arithmetic type the device has, at datasheet clocks:
/// those of types that no point needs are grey. Each point stands at the intensity of every level
/// it knows, joined; with its interval, and an arrow to what was measured. A rate above the point's
/// limit is marked as an error. Beyond kMostIntensity ridges of DRAM a point stands at the frame.
/// Kernels without FLOPs have bars of DRAM bandwidth below. Many points of several families have a
/// panel a family. What is not positive has no place on logarithmic axes and is left out. Vega-Lite
/// JSON text. `width` is that of the frame in pixels; a narrow one has the names of levels inside.
inline constexpr double kRooflineWidth = 620;
/// Frame of a chart on a screen of 400 px, in pixels: axes and names have the rest.
inline constexpr double kNarrowFrame = 210;
std::string roofline_chart(const Gpu& gpu, const std::vector<RooflinePoint>& points,
                           double width = kRooflineWidth);

/// The points of one device.
struct DevicePoints {
  const Gpu* gpu = nullptr;
  std::vector<RooflinePoint> points{};
};
/// Several devices in one frame, each in its colour and dash: its DRAM and the arithmetic that its
/// points need. Of one device the same as roofline_chart. InputError without a device.
std::string rooflines_chart(const std::vector<DevicePoints>& devices,
                            double width = kRooflineWidth);

/// Predicted time over measured time of every case on logarithmic axes, with the diagonal, a band
/// of ±10% and error bars (measured: p10 to p90, predicted: low to high); beside it the error over
/// the bytes moved, or below it where a frame of that width leaves no room beside. Vega-Lite JSON
/// text.
inline constexpr double kTimesWidth = 400;
std::string predicted_measured_chart(const validation::Comparison& comparison,
                                     double width = kTimesWidth);

/// Predicted over measured time of every case, a line a family, shapes by regime, with a band of
/// ±10% and each family's median. Vega-Lite JSON text.
inline constexpr double kErrorWidth = 600;
std::string error_chart(const validation::Comparison& comparison, double width = kErrorWidth);

/// One self-contained page (opens offline). Throws InputError where the program was built without
/// the page bundle (ROOFCAST_REPORT_BUNDLE=OFF) or the text is no JSON.
/// `narrow_json`: the same chart for a phone's width.
std::string chart_page(const std::string& title, const std::string& vega_lite_json,
                       const std::string& narrow_json = "");

/// The page of a comparison: device and conditions, summary figures, errors by family and regime,
/// the worst cases with their parts, a roofline for each family that computes, the device's memory,
/// the table of every case. The run, where given, adds driver, build and suite; its file's text is
/// embedded, so that the page hands it out again.
std::string report_page(const validation::Comparison& comparison, const Gpu& gpu);
std::string report_page(const validation::Comparison& comparison, const Gpu& gpu,
                        const validation::Run& run, const std::string& run_text = "");

/// The picture of a specification, as the bytes of an "svg" or "png" file. Needs Node and the npm
/// packages of reports/; throws InputError naming what is missing and how to mend it. `stop` is
/// called when a signal interrupts the drawing; if it throws, the drawing ends.
std::string render(
    const std::string& vega_lite_json, const std::string& format,
    const std::function<void()>& stop = [] {});

}  // namespace roofcast::reports
