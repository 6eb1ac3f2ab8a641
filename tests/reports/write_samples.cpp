// Writes every kind of chart and page for the scripts that look at them: write_samples FOLDER
#include <filesystem>
#include <fstream>
#include <iostream>

#include "reports/forecast_charts.hpp"
#include "reports/gpu_charts.hpp"
#include "reports/sweep_chart.hpp"
#include "tests/reports/samples.hpp"

namespace {

/// Every quantity's axis, linear and logarithmic, with and without intervals and measurements.
std::string sample_sweep(const roofcast::reports::Quantity& quantity, bool wide,
                         const std::string& name, double width = roofcast::reports::kSweepWidth) {
  roofcast::reports::SweepPlot plot{name, "a sample device", "stride: words", &quantity, {}};
  for (const char* kernel : {"access.row_wise", "access.column_wise"}) {
    roofcast::reports::SweepLine line{kernel + (" " + name), {}};
    double value = 0.5;
    for (double x = wide ? 64 : 0; line.points.size() < 12; x = wide ? 2 * x : x + 1) {
      line.points.push_back({x, value, {}, {}, {}, name});
      if (quantity.of_time) {
        line.points.back().low = 0.9 * value;
        line.points.back().high = 1.1 * value;
        line.points.back().measured = 1.05 * value;
      }
      value *= wide ? 1.6 : 1.05;
    }
    plot.lines.push_back(std::move(line));
  }
  return sweep_chart(plot, width);
}

roofcast::Prediction sample_forecast() {
  roofcast::Prediction prediction;
  roofcast::Forecast time;
  time.waterfall[roofcast::Part::launch] = 0.2e-3;
  time.waterfall[roofcast::Part::dram] = 1.5e-3;
  time.waterfall[roofcast::Part::tail] = 0.3e-3;
  time.expected_s = 2e-3;
  time.low_s = 1.8e-3;
  time.high_s = 2.4e-3;
  prediction.time = time;
  prediction.waves = roofcast::Waves{3.88, 3, 0.88, 0.97, 132};
  prediction.launches = 1;
  prediction.work.requested = {3.2e9, 6e7};
  prediction.work.l1 = {3.2e9, 6e7};
  prediction.work.l2 = {3.2e9, 6e7};
  prediction.work.dram = {3.2e8, 6e7};
  return prediction;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace roofcast::reports;
  if (argc != 2) {
    std::cerr << "usage: write_samples FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  std::filesystem::create_directories(folder);
  const auto write = [&folder](const char* name, const std::string& text) {
    std::ofstream(folder / name, std::ios::binary) << text;
  };

  const std::string roofline = roofline_chart(sample_gpu(), sample_points());
  const std::string times = predicted_measured_chart(sample_comparison());
  write("roofline.json", roofline);
  write("times.json", times);
  write("errors.json", error_chart(sample_comparison()));
  write("memory.json", memory_hierarchy_chart(sample_gpu()));
  write("generations.json", generations_chart(sample_generations()));
  write("roofline.html", chart_page("Roofline of a sample", roofline,
                                    roofline_chart(sample_gpu(), sample_points(), kNarrowFrame)));
  write("report.html", report_page(sample_comparison(), sample_gpu(), sample_run(),
                                   R"({"note": "</script><img src=x>"})"));
  write("narrow-roofline.json", roofline_chart(sample_gpu(), sample_points(), kNarrowFrame));
  write("narrow-times.json", predicted_measured_chart(sample_comparison(), kNarrowFrame));
  write("narrow-errors.json", error_chart(sample_comparison(), kNarrowFrame));
  write("narrow-memory.json", memory_hierarchy_chart(sample_gpu(), true));
  write("narrow-generations.json", generations_chart(sample_generations(), true));
  roofcast::Gpu twice = sample_gpu();
  const roofcast::Gpu once = sample_gpu();
  twice.name = "twice";
  twice.memory.dram_bandwidth_bytes_per_s = 2 * *twice.memory.dram_bandwidth_bytes_per_s;
  for (const double width : {kRooflineWidth, kNarrowFrame}) {
    write(width == kNarrowFrame ? "narrow-rooflines.json" : "rooflines.json",
          rooflines_chart({{&once, {sample_points()[3]}}, {&twice, {sample_points()[3]}}}, width));
  }
  roofcast::Prediction forecast = sample_forecast();
  for (const double width : {kErrorWidth, kNarrowFrame}) {
    const std::string place = width == kNarrowFrame ? "narrow-" : "";
    const std::vector<NamedForecast> two = {{"gemm.tiled on a", &forecast, 2.5e-3},
                                            {"gemm.tiled on b", &forecast}};
    write((place + "parts.json").c_str(), parts_chart(two, width));
    write((place + "timeline.json").c_str(), timeline_chart(two, width));
    write((place + "traffic.json").c_str(), traffic_chart(two, width));
  }

  for (const Quantity& quantity : quantities()) {
    for (const bool wide : {false, true}) {
      const std::string name = (wide ? "wide-sweep-" : "sweep-") + std::string(quantity.name);
      write((name + ".json").c_str(), sample_sweep(quantity, wide, name));
    }
  }
  const std::string sweep = sample_sweep(quantities().front(), true, "sweep");
  write("sweep.html", chart_page("A sweep", sweep));
  write("narrow-sweep.json", sample_sweep(quantities().front(), true, "sweep", kNarrowFrame));

  SweepPlot scattered{"Rate", "device",       "m: rows",       &quantities().front(),
                      {},     "power of two", {"1", "2", "8"}, true};
  for (const int power : {1, 8}) {
    scattered.lines.push_back({std::to_string(power), {}});
    for (int i = 1; i < 9; ++i) {
      const double x = 1000 + 16 * i + power;
      scattered.lines.back().points.push_back({x, 1e-6 * x, {}, {}, 1.1e-6 * x, "", i / 3.0, ""});
    }
  }
  write("scattered-sweep.json", sweep_chart(scattered));

  // The edges: no points, a device of few known values, one family, nothing at all, hostile text.
  write("empty-roofline.json", roofline_chart(sample_gpu(), {}));
  roofcast::Gpu bare;
  bare.name = "bare";
  write("bare-roofline.json", roofline_chart(bare, {}));
  roofcast::Gpu few;
  few.name = "few";
  few.kind = roofcast::DeviceKind::tpu;
  few.peak_flops_per_s[roofcast::DType::bf16] = 275e12;
  few.memory.dram_bandwidth_bytes_per_s = 1.2e12;
  write("few-roofline.json", roofline_chart(few, {{"gemm", 400, 270e12, {}, {}}}));
  roofcast::validation::Comparison one = sample_comparison();
  std::erase_if(one.rows, [](const auto& row) { return row.family != "gemm"; });
  write("one-family-times.json", predicted_measured_chart(one));
  write("empty-times.json", predicted_measured_chart({}));
  write("empty-sweep.json", sweep_chart({"", "", "", &quantities().front(), {}}));
  write("hostile-sweep.json", sample_sweep(quantities().front(), true, kHostile));

  auto hostile = sample_comparison();
  hostile.device = kHostile;
  hostile.rows[0].kernel = kHostile;
  hostile.rows[0].family = kHostile;
  hostile.rows[0].problem_text = kHostile + "\xff";
  hostile.rows[3].kernel = kHostile;
  hostile.failures[0].reason = kHostile;
  hostile.by_family[0].group = kHostile;
  roofcast::Gpu gpu = sample_gpu();
  gpu.title = kHostile;
  gpu.sustained.source = kHostile;
  write("hostile.html", report_page(hostile, gpu, sample_run()));
  write("hostile-times.json", predicted_measured_chart(hostile));
  write("hostile-roofline.json", roofline_chart(gpu, {{kHostile, 1, 1e12, 2.0, 2e12}}));
  return 0;
}
