#include "reports/report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "reports/html_table.hpp"
#include "reports/text.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::reports {
namespace {

using validation::Comparison;
using validation::Failure;
using validation::Pair;
using validation::Row;
using validation::Summary;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::string error_cell(const std::optional<Pair>& pair) {
  const double error = pair && pair->measured != 0 ? pair->error() : kNone;
  return number_cell(error, signed_percent(error), tone(std::abs(error)));
}

std::string optional_percent(const std::optional<double>& value) {
  const double share = value.value_or(kNone);
  return number_cell(share, percent(share), tone(share));
}

/// The problem as text; only its type if the catalog no longer has the kernel.
std::string problem_of(const Failure& failure) {
  try {
    return validation::problem_text(failure.kernel, failure.problem);
  } catch (const InputError&) {
    return std::string(name(failure.problem.dtype));
  }
}

struct Column {
  std::string_view name;
  std::string_view meaning;
  bool is_text;
  std::function<std::string(const Row&)> cell;
  std::function<bool(const Row&)> known = [](const Row&) { return true; };
};

const std::vector<Column>& columns() {
  static const std::vector<Column> all = {
      {"Kernel", "", true, [](const Row& r) { return name_cell(r.kernel); }},
      {"Problem", "", true, [](const Row& r) { return text_cell(r.problem_text); }},
      {"Predicted", "expected time", false,
       [](const Row& r) { return time_cell(r.time_s.predicted); }},
      {"Measured", "median", false, [](const Row& r) { return time_cell(r.time_s.measured); }},
      {"Error", "predicted ÷ measured − 1", false,
       [](const Row& r) { return error_cell(r.time_s); }},
      {"Within", "the measured median lies inside [low, high]", false,
       [](const Row& r) {
         const double measured_s = r.time_s.measured;
         const bool inside = r.predicted_low_s <= measured_s && measured_s <= r.predicted_high_s;
         return number_cell(inside ? 1 : 0, inside ? "yes" : "no", inside ? "" : "warn");
       }},
      {"Cache",
       "cold: L2 holds nothing of use; warm: what an earlier kernel just computed; steady: "
       "launches back to back; repeated: on the same data",
       true, [](const Row& r) { return text_cell(validation::name(r.cache)); },
       [](const Row& r) { return r.cache != CacheState::cold; }},
      {"Bound by", "what bounds the forecast", true,
       [](const Row& r) { return text_cell(name(r.bound)); }},
      {"Limit", "no measurement may be shorter", false,
       [](const Row& r) { return time_cell(r.limit_s); }},
      {"Of limit", "limit ÷ measured", false,
       [](const Row& r) {
         const double share = r.limit_s / r.time_s.measured;
         return number_cell(share, percent(share), share > 1 ? "bad" : "");
       }},
      {"DRAM", "error of DRAM bytes", false, [](const Row& r) { return error_cell(r.dram_bytes); },
       [](const Row& r) { return r.dram_bytes.has_value(); }},
      {"L2", "error of L2 bytes", false, [](const Row& r) { return error_cell(r.l2_bytes); },
       [](const Row& r) { return r.l2_bytes.has_value(); }},
      {"Cycles", "error of SM cycles", false, [](const Row& r) { return error_cell(r.sm_cycles); },
       [](const Row& r) { return r.sm_cycles.has_value(); }},
      {"FLOPs", "error of FLOPs counted", false, [](const Row& r) { return error_cell(r.flops); },
       [](const Row& r) { return r.flops.has_value(); }},
      {"To library", "library time ÷ measured, interleaved", false,
       [](const Row& r) {
         const double share = r.baseline_s.value_or(kNone) / r.time_s.measured;
         return number_cell(share, percent(share));
       },
       [](const Row& r) { return r.baseline_s.has_value(); }},
  };
  return all;
}

}  // namespace

std::string_view tone(double absolute_error) {
  if (absolute_error <= 0.1) return "good";
  return absolute_error <= 0.25 ? "warn" : "bad";
}

std::string summary_table(const std::vector<Summary>& groups, std::string_view group_heading) {
  double largest = 0;
  for (const Summary& group : groups) largest = std::max(largest, group.mean_absolute_error);
  std::string body;
  for (const Summary& group : groups) {
    const double width = largest > 0 ? 90 * group.mean_absolute_error / largest : 0;
    body += "<tr>" + text_cell(group.group) +
            number_cell(static_cast<double>(group.cases), std::to_string(group.cases)) +
            number_cell(group.mean_absolute_error,
                        fmt::format(R"(<span class="bar" style="width:{:.0f}px"></span>{})", width,
                                    percent(group.mean_absolute_error)),
                        tone(group.mean_absolute_error)) +
            number_cell(group.median_absolute_error, percent(group.median_absolute_error),
                        tone(group.median_absolute_error)) +
            number_cell(group.worst_error, signed_percent(group.worst_error),
                        tone(std::abs(group.worst_error))) +
            number_cell(group.coverage, percent(group.coverage)) +
            optional_percent(group.dram_error) + optional_percent(group.l2_error) +
            optional_percent(group.cycles_error) + "</tr>\n";
  }
  const std::string head =
      heading(group_heading, true) + heading("Cases", false) +
      heading("Mean abs. error", false, "of time") + heading("Median", false, "absolute, of time") +
      heading("Worst", false, "signed, of time") +
      heading("In the interval", false, "share of measured medians inside [low, high]") +
      heading("DRAM bytes", false, "mean absolute error") +
      heading("L2 bytes", false, "mean absolute error") +
      heading("SM cycles", false, "mean absolute error");
  return table("", head, body);
}

std::string case_table(const Comparison& comparison, const std::vector<std::size_t>& rows,
                       std::string_view id) {
  std::vector<const Column*> shown;
  std::string head;
  for (const Column& column : columns()) {
    // Omit a column without a value in any case.
    if (std::none_of(comparison.rows.begin(), comparison.rows.end(), column.known)) continue;
    shown.push_back(&column);
    head += heading(column.name, column.is_text, column.meaning);
  }
  std::string body;
  for (const std::size_t row : rows) {
    body += "<tr>";
    for (const Column* column : shown) body += column->cell(comparison.rows.at(row));
    body += "</tr>\n";
  }
  return table(id, head, body);
}

std::string failure_table(const std::vector<Failure>& failures) {
  std::string body;
  for (const Failure& failure : failures) {
    body += "<tr>" + text_cell(failure.kernel) + text_cell(problem_of(failure)) +
            text_cell(failure.reason) + "</tr>\n";
  }
  return table("", heading("Kernel", true) + heading("Problem", true) + heading("Reason", true),
               body);
}

}  // namespace roofcast::reports
