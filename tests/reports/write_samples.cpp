// Writes every kind of chart and page for the scripts that look at them: write_samples FOLDER
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "reports/forecast_charts.hpp"
#include "reports/gpu_charts.hpp"
#include "reports/model_charts.hpp"
#include "reports/sweep_chart.hpp"
#include "tests/reports/samples.hpp"

namespace {

/// Every quantity's axis, linear and logarithmic, with and without intervals and measurements.
std::string sample_sweep(const roofcast::reports::Quantity& quantity, bool wide,
                         const std::string& name, double width = roofcast::reports::kSweepWidth,
                         int lines = 2) {
  roofcast::reports::SweepPlot plot{name, "a sample device", "stride: words", &quantity, {}};
  for (int i = 0; i < lines; ++i) {
    const std::string kernel = i == 0 ? "access.row_wise " : "access.column_wise ";
    roofcast::reports::SweepLine line{kernel + name + (i > 1 ? std::to_string(i) : ""), {}};
    double value = 0.5 + 0.01 * i;
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

/// A name that fits no line of a phone's screen.
const std::string kLongName =
    "attention.flash3 batch=4 heads=32 seq_q=16384 seq_kv=16384 head_dim=128 causal=1 bf16, -12%";

std::vector<roofcast::transformer::TimelineEvent> sample_events() {
  std::vector<roofcast::transformer::TimelineEvent> events;
  using roofcast::transformer::Section;
  double start_s = 0;
  for (std::int64_t layer = 0; layer < 24; ++layer) {
    for (const char* part : {"attention", "feed-forward", "normalization", "collectives"}) {
      events.push_back({{part, "gemm", "tensor"}, layer, start_s, 1e-4});
      start_s += 1e-4;
    }
  }
  events.push_back({{"optimizer", "adam", "dram", Section::once}, 0, start_s, 5e-4});
  return events;
}

/// A kernel without FLOPs.
roofcast::reports::RooflinePoint copying_point(const std::string& label) {
  roofcast::reports::RooflinePoint point;
  point.label = label;
  point.dram_bytes_per_s = 2.9e12;
  point.measured_dram_bytes_per_s = 2.7e12;
  return point;
}

/// Points as of a run of many kernels.
std::vector<roofcast::reports::RooflinePoint> points_of_families() {
  std::vector<roofcast::reports::RooflinePoint> points;
  for (const char* family : {"gemm", "attention", "elementwise"}) {
    for (int i = 0; i < 12; ++i) {
      const double rate = 1e12 * std::pow(1.7, i);
      points.push_back({std::string(family) + ".variant" + std::to_string(i % 6) +
                            " n=" + std::to_string(1024 << i),
                        2 * std::pow(1.8, i),
                        rate,
                        {},
                        0.9 * rate});
    }
  }
  points.push_back(copying_point("stream.copy n=268435456"));
  return points;
}

/// Two GPUs; one's points lie close to each other.
std::vector<roofcast::reports::ModelPoint> sample_model_points() {
  std::vector<roofcast::reports::ModelPoint> points;
  for (const double speed : {1.0, 1.7}) {
    const std::string line =
        speed > 1 ? "8 × h200-sxm, 4096 tokens" : "a100-sxm4-80gb, 4096 tokens";
    for (double batch = 1; batch < 100; batch *= 2) {
      const double rate = 2000 * speed * batch / (1 + batch / 16);
      points.push_back({line,
                        batch,
                        rate,
                        0.9 * rate,
                        1.1 * rate,
                        batch / rate,
                        {8e9, 0, 0, 1e8 * batch, 5e8 * batch, 1e9},
                        80e9});
    }
  }
  return points;
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
  roofcast::Gpu thrice = twice;
  thrice.name = "a100-pcie-80gb";
  thrice.memory.dram_bandwidth_bytes_per_s = 0.4 * *once.memory.dram_bandwidth_bytes_per_s;
  twice.memory.dram_bandwidth_bytes_per_s = 2 * *twice.memory.dram_bandwidth_bytes_per_s;
  for (const double width : {kRooflineWidth, kNarrowFrame}) {
    write(width == kNarrowFrame ? "narrow-rooflines.json" : "rooflines.json",
          rooflines_chart({{&once, {sample_points()[3]}}, {&twice, {sample_points()[3]}}}, width));
    const std::vector<RooflinePoint> all = sample_points();
    const std::vector<RooflinePoint> mixed = {all[3], copying_point("stream.copy n=268435456"),
                                              copying_point("transpose.tiled rows=4096 cols=4096")};
    write(width == kNarrowFrame ? "narrow-mixed-rooflines.json" : "mixed-rooflines.json",
          rooflines_chart({{&once, mixed}, {&twice, mixed}}, width));
    write(width == kNarrowFrame ? "narrow-families-roofline.json" : "families-roofline.json",
          roofline_chart(once, points_of_families(), width));
    write(width == kNarrowFrame ? "narrow-mixed-roofline.json" : "mixed-roofline.json",
          roofline_chart(once, mixed, width));
    write(width == kNarrowFrame ? "narrow-three-rooflines.json" : "three-rooflines.json",
          rooflines_chart({{&once, all}, {&twice, all}, {&thrice, {all[3], all[5]}}}, width));
  }
  roofcast::Prediction forecast = sample_forecast();
  for (const double width : {kErrorWidth, kNarrowFrame}) {
    const std::string place = width == kNarrowFrame ? "narrow-" : "";
    const std::vector<NamedForecast> two = {{"gemm.tiled on a", &forecast, 2.5e-3},
                                            {"gemm.tiled on b", &forecast}};
    write((place + "parts.json").c_str(), parts_chart(two, width));
    write((place + "timeline.json").c_str(), timeline_chart(two, width));
    write((place + "traffic.json").c_str(), traffic_chart(two, width));
    const std::vector<NamedForecast> named = {{kLongName, &forecast, 2.5e-3},
                                              {"gemm.tiled on b", &forecast}};
    write((place + "long-parts.json").c_str(), parts_chart(named, width));
    write((place + "long-timeline.json").c_str(), timeline_chart(named, width));
    write((place + "long-traffic.json").c_str(), traffic_chart(named, width));
  }
  const ModelAxes axes{"qwen3-32b, service of 2048 tokens in, 256 out", "Concurrent requests",
                       "Between tokens of a request"};
  for (const double width : {kModelWidth, kNarrowFrame}) {
    const std::string place = width == kNarrowFrame ? "narrow-" : "";
    const std::vector<ModelPoint> points = sample_model_points();
    write((place + "step.json").c_str(), step_timeline_chart(axes.title, sample_events(), width));
    write((place + "model-memory.json").c_str(), model_memory_chart(axes, points, width));
    write((place + "model-rate.json").c_str(), model_rate_chart(axes, points, width));
    write((place + "model-latency.json").c_str(), model_latency_chart(axes, points, width));
  }

  for (const Quantity& quantity : quantities()) {
    for (const bool wide : {false, true}) {
      const std::string name = (wide ? "wide-sweep-" : "sweep-") + std::string(quantity.name);
      write((name + ".json").c_str(), sample_sweep(quantity, wide, name));
    }
  }
  const std::string sweep = sample_sweep(quantities().front(), true, "sweep");
  for (const double width : {kSweepWidth, kNarrowFrame}) {
    write(width == kNarrowFrame ? "narrow-six-sweep.json" : "six-sweep.json",
          sample_sweep(quantities().front(), true, "of one shape on ", width, 6));
  }
  const std::string narrow_sweep = sample_sweep(quantities().front(), true, "sweep", kNarrowFrame);
  write("sweep.html", chart_page("A sweep", sweep, narrow_sweep));
  write("narrow-sweep.json", narrow_sweep);

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
  write("narrow-scattered-sweep.json", sweep_chart(scattered, kNarrowFrame));

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
