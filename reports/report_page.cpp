#include <fmt/format.h>

#include <algorithm>

#include "hw_specs/calibration_words.hpp"
#include "reports/chart.hpp"
#include "reports/forecast_charts.hpp"
#include "reports/gpu_charts.hpp"
#include "reports/html_table.hpp"
#include "reports/page.hpp"
#include "reports/plot.hpp"
#include "reports/report_tables.hpp"
#include "reports/text.hpp"

namespace roofcast::reports {
namespace {

using validation::Comparison;
using validation::Row;
using validation::Run;

std::string figures(const Comparison& comparison) {
  const validation::Summary& all = comparison.overall;
  const std::size_t violations = comparison.bound_violations.size();
  const std::size_t failures = comparison.failures.size();
  const std::size_t families = comparison.by_family.size();
  std::string html = "<dl class=\"figures\">\n";
  html += figure("Cases", std::to_string(comparison.rows.size()),
                 fmt::format("in {} {}", families, families == 1 ? "family" : "families"));
  if (!comparison.rows.empty()) {
    html += figure("Mean abs. error", percent(all.mean_absolute_error), "of time",
                   tone(all.mean_absolute_error));
    html += figure("Median abs. error", percent(all.median_absolute_error), "of time",
                   tone(all.median_absolute_error));
    html += figure("In the interval", percent(all.coverage), "measured within [low, high]");
  }
  html += figure("Faster than the limit", std::to_string(violations),
                 violations == 0 ? "no measurement beats it" : "measurements that beat it",
                 violations == 0 ? "good" : "bad");
  html += figure("Failures", std::to_string(failures),
                 failures == 0 ? "no case failed" : "cases without a measurement",
                 failures == 0 ? "good" : "bad");
  if (comparison.missing > 0) {
    html += figure("Missing", std::to_string(comparison.missing),
                   "cases of the suite not measured yet", "bad");
  }
  return html + "</dl>\n";
}

/// Families with FLOPs and DRAM traffic, each with its points: others have no place in a roofline.
std::vector<std::pair<std::string, std::vector<RooflinePoint>>> rooflines(
    const Comparison& comparison, const Gpu& gpu) {
  std::vector<std::string> families;
  for (const Row& row : comparison.rows) {
    if (row.work_flops > 0 && row.work_dram_bytes > 0) add_once(families, row.family);
  }
  std::vector<std::pair<std::string, std::vector<RooflinePoint>>> result;
  for (const std::string& family : families) {
    std::vector<RooflinePoint> points;
    for (const Row& row : comparison.rows) {
      if (row.family != family || !(row.work_flops > 0) || !(row.work_dram_bytes > 0)) continue;
      points.push_back(roofline_point(row, gpu));
    }
    result.emplace_back(family, std::move(points));
  }
  return result;
}

std::string provenance(const Comparison& comparison, const Gpu& gpu,
                       const std::optional<Run>& run) {
  std::string html = "<dl class=\"facts\">\n";
  const auto fact = [&html](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", name, escape_html(value));
  };
  fact("Device", comparison.device);
  fact("Specification", gpu.title.empty() ? gpu.name : gpu.name + " (" + gpu.title + ")");
  fact("Measured", comparison.date);
  if (run) {
    fact("Suite", validation::suite_text(*run));
    fact("Build", run->build);
    fact("Driver", run->device.driver);
    fact("CUDA runtime", run->device.cuda_runtime);
    if (run->device.power_limit_w) fact("Power limit", si(*run->device.power_limit_w, "W"));
    if (run->device.max_sm_clock_hz) {
      fact("Highest SM clock", si(*run->device.max_sm_clock_hz, "Hz"));
    }
    if (run->device.memory_clock_hz) fact("Memory clock", si(*run->device.memory_clock_hz, "Hz"));
  }
  fact("Calibration", specs::calibration_text(gpu));
  return html + "</dl>\n";
}

/// A case of a large error, with its forecast.
struct WorstCase {
  std::string name;
  std::optional<Prediction> prediction;
  double measured_s = 0;
};

std::vector<WorstCase> worst_cases(const Comparison& comparison, const Gpu& gpu) {
  constexpr std::size_t kMost = 8;
  std::vector<WorstCase> cases;
  for (const std::size_t index : comparison.worst) {
    if (cases.size() == kMost) break;
    const Row& row = comparison.rows.at(index);
    std::optional<Prediction> prediction = forecast_of(row, gpu);
    if (!prediction || !prediction->time) continue;
    const std::string name = row.kernel + " " + shape_text(find_kernel(row.kernel), row.problem) +
                             ", " + signed_percent(row.time_s.error());
    cases.push_back({name, std::move(prediction), row.time_s.measured});
  }
  return cases;
}

/// The run's file as data of the page, with a button that saves it; empty if it is no JSON.
std::string embedded_run(const std::string& text) {
  const Json run = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (run.is_discarded()) return "";
  return "<p class=\"tools\"><button type=\"button\" id=\"save-run\">Save the run "
         "(JSON)</button></p>\n"
         "<script type=\"application/json\" id=\"run\">" +
         script_json(run) + "</script>\n";
}

}  // namespace

std::string report_page(const Comparison& comparison, const Gpu& gpu, const std::optional<Run>& run,
                        const std::string& run_text) {
  const std::string device = comparison.device.empty() ? gpu.title : comparison.device;
  const std::string title = "Predicted against measured: " + device;
  std::vector<PageChart> charts;
  const auto draw = [&charts](const std::string& id, double wide, const auto& spec) {
    charts.push_back(page_chart(id, wide, spec));
    return chart_element(id);
  };

  std::string body = page_begin(title, gpu.name + ", measured " + comparison.date);
  body += figures(comparison);
  body += "<h2>Device and conditions</h2>\n" + provenance(comparison, gpu, run) +
          embedded_run(run_text);
  if (!comparison.rows.empty()) {
    body += "<h2>Predicted against measured time</h2>\n" +
            draw("times", kTimesWidth,
                 [&](double width) { return predicted_measured_chart(comparison, width); });
    body +=
        "<h2>Error by family and regime</h2>\n" +
        draw("errors", kErrorWidth, [&](double width) { return error_chart(comparison, width); });
    body += "<h2>By family</h2>\n" + summary_table(comparison.by_family, "Family");
    body += "<h2>By regime</h2>\n" + summary_table(comparison.by_regime, "Regime");
    if (!comparison.by_family_and_regime.empty()) {
      body += "<h2>By family and regime</h2>\n" +
              summary_table(comparison.by_family_and_regime, "Family and regime");
    }
  }
  if (!comparison.bound_violations.empty()) {
    body += "<h2 class=\"bad\">Measured faster than the limit</h2>\n" +
            case_table(comparison, comparison.bound_violations, "violations");
  }
  if (!comparison.worst.empty()) {
    body += "<h2>Largest errors</h2>\n" + case_table(comparison, comparison.worst, "worst");
    const std::vector<WorstCase> worst = worst_cases(comparison, gpu);
    std::vector<NamedForecast> forecasts;
    for (const WorstCase& one : worst) {
      forecasts.push_back({one.name, &*one.prediction, one.measured_s});
    }
    if (!forecasts.empty()) {
      body += draw("worst-parts", kErrorWidth,
                   [&](double width) { return parts_chart(forecasts, width); });
    }
  }
  const auto families = rooflines(comparison, gpu);
  if (!families.empty()) body += "<h2>Rooflines</h2>\n";
  for (std::size_t i = 0; i < families.size(); ++i) {
    body += draw(fmt::format("roofline-{}", i), kRooflineWidth, [&](double width) {
      Json spec = Json::parse(roofline_chart(gpu, families[i].second, width));
      spec["title"]["text"] = families[i].first;
      return spec.dump();
    });
  }
  if (!comparison.rows.empty()) {
    std::vector<std::size_t> all(comparison.rows.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    body += "<h2>Every case</h2>\n" + filter_field("kernel, size, bound", "the cases") +
            case_table(comparison, all, "cases");
  }
  if (!comparison.failures.empty()) {
    body += "<h2>Failures</h2>\n" + failure_table(comparison.failures);
  }
  body += "<h2>Memory of the device</h2>\n" + draw("memory", kErrorWidth, [&](double width) {
            return memory_hierarchy_chart(gpu, width < kErrorWidth);
          });
  body += "</main>";
  return page(title, body, charts);
}

}  // namespace roofcast::reports
