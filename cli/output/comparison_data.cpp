#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/output/answer.hpp"
#include "cli/output/comparison_output.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::cli {
namespace {

using validation::Comparison;
using validation::Pair;
using validation::Row;
using validation::Summary;

/// Stands for an unknown value; JSON has no NaN, so it is printed as null.
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

void write_summary(JsonWriter& json, const Summary& summary) {
  json.begin_object();
  json.member("group", summary.group);
  json.member("cases", static_cast<std::int64_t>(summary.cases));
  json.member("mean_absolute_error", summary.mean_absolute_error);
  json.member("median_absolute_error", summary.median_absolute_error);
  json.member("worst_error", summary.worst_error);
  json.member("coverage", summary.coverage);
  json.member("dram_bytes_error", summary.dram_error.value_or(kNone));
  json.member("l2_bytes_error", summary.l2_error.value_or(kNone));
  json.member("sm_cycles_error", summary.cycles_error.value_or(kNone));
  json.end_object();
}

void write_summaries(JsonWriter& json, std::string_view key, const std::vector<Summary>& groups) {
  json.array(key, groups, [&](const Summary& summary) { write_summary(json, summary); });
}

void write_pair(JsonWriter& json, std::string_view key, const std::optional<Pair>& pair) {
  json.key(key);
  if (!pair) return json.null();
  json.begin_object();
  json.member("predicted", pair->predicted);
  json.member("measured", pair->measured);
  json.end_object();
}

void write_row(JsonWriter& json, const Row& row) {
  json.begin_object();
  json.member("gpu", row.gpu);
  json.member("kernel", row.kernel);
  json.member("problem", row.problem_text);
  json.member("cache", validation::name(row.cache));
  json.member("regime", validation::name(row.regime));
  json.member("bound", name(row.bound));
  write_pair(json, "time_s", row.time_s);
  json.member("error", row.time_s.error());
  json.member("low_s", row.predicted_low_s);
  json.member("high_s", row.predicted_high_s);
  json.member("limit_s", row.limit_s);
  json.member("measured_fastest_s", row.measured_fastest_s);
  json.member("measured_p10_s", row.measured_low_s);
  json.member("measured_p90_s", row.measured_high_s);
  write_pair(json, "sm_cycles", row.sm_cycles);
  write_pair(json, "dram_bytes", row.dram_bytes);
  write_pair(json, "l2_bytes", row.l2_bytes);
  write_pair(json, "flops", row.flops);
  write_pair(json, "blocks_per_sm", row.blocks_per_sm);
  if (row.baseline_s) {
    json.member("baseline", row.baseline);
    json.member("baseline_s", *row.baseline_s);
  }
  json.end_object();
}

void write_indices(JsonWriter& json, std::string_view key, const std::vector<std::size_t>& rows) {
  json.array(key, rows,
             [&](const std::size_t row) { json.number(static_cast<std::int64_t>(row)); });
}

void write_comparison(JsonWriter& json, const Comparison& comparison) {
  json.begin_object();
  json.member("gpu", comparison.gpu);
  json.member("device", comparison.device);
  json.member("date", comparison.date);
  if (!comparison.suite.empty()) json.member("suite", comparison.suite);
  json.key("overall");
  write_summary(json, comparison.overall);
  write_summaries(json, "by_gpu", comparison.by_gpu);
  write_summaries(json, "by_family", comparison.by_family);
  write_summaries(json, "by_regime", comparison.by_regime);
  write_summaries(json, "by_family_and_regime", comparison.by_family_and_regime);
  json.key("over_128_mb");
  if (comparison.large) {
    write_summary(json, *comparison.large);
  } else {
    json.null();
  }
  write_indices(json, "bound_violations", comparison.bound_violations);
  write_indices(json, "worst", comparison.worst);
  json.objects("failures", comparison.failures, [&](const validation::Failure& failure) {
    json.member("kernel", failure.kernel);
    json.member("problem", validation::problem_text(failure.kernel, failure.problem));
    json.member("reason", failure.reason);
  });
  json.member("missing_cases", static_cast<std::int64_t>(comparison.missing));
  json.array("rows", comparison.rows, [&](const Row& row) { write_row(json, row); });
  json.end_object();
}

std::string number(double value) {
  return fmt::format("{}", value);
}

std::string half(const std::optional<Pair>& pair, double Pair::*member) {
  return pair ? number((*pair).*member) : "";
}

}  // namespace

std::string comparison_json(std::span<const Comparison> comparisons) {
  return json_text([&](JsonWriter& json) {
    json.begin_object();
    json.member("schema_version", kSchemaVersion);
    json.array("comparisons", comparisons,
               [&](const Comparison& comparison) { write_comparison(json, comparison); });
    json.end_object();
    json.newline();
  });
}

std::string comparison_csv(std::span<const Comparison> comparisons) {
  std::string text =
      "gpu,kernel,problem,cache,regime,bound,predicted_s,measured_s,error,low_s,high_s,limit_s,"
      "measured_fastest_s,measured_p10_s,measured_p90_s,predicted_sm_cycles,measured_sm_cycles,"
      "predicted_dram_bytes,measured_dram_bytes,predicted_l2_bytes,measured_l2_bytes,baseline,"
      "baseline_s,failure\n";
  const auto columns = static_cast<std::size_t>(std::count(text.begin(), text.end(), ',')) + 1;
  for (const Comparison& comparison : comparisons) {
    for (const Row& row : comparison.rows) {
      std::vector<std::string> cells = {row.gpu,
                                        row.kernel,
                                        row.problem_text,
                                        std::string(validation::name(row.cache)),
                                        std::string(validation::name(row.regime)),
                                        std::string(name(row.bound))};
      for (const double value : {row.time_s.predicted, row.time_s.measured, row.time_s.error(),
                                 row.predicted_low_s, row.predicted_high_s, row.limit_s,
                                 row.measured_fastest_s, row.measured_low_s, row.measured_high_s}) {
        cells.push_back(number(value));
      }
      for (const auto& pair : {row.sm_cycles, row.dram_bytes, row.l2_bytes}) {
        cells.push_back(half(pair, &Pair::predicted));
        cells.push_back(half(pair, &Pair::measured));
      }
      cells.insert(cells.end(), {row.baseline, row.baseline_s ? number(*row.baseline_s) : "", ""});
      text += csv_line(cells);
    }
    for (const validation::Failure& failure : comparison.failures) {
      std::vector<std::string> cells(columns);
      cells[0] = comparison.gpu;
      cells[1] = failure.kernel;
      cells[2] = validation::problem_text(failure.kernel, failure.problem);
      cells.back() = failure.reason;
      text += csv_line(cells);
    }
  }
  return text;
}

}  // namespace roofcast::cli
