#include <fmt/format.h>

#include "cli/output/comparison_output.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::cli {
namespace {

using validation::Comparison;
using validation::Row;
using validation::Summary;

std::string optional_percent(const std::optional<double>& share) {
  return share ? percent(*share) : "–";
}

void add_summary(TextTable& table, const Summary& summary, bool emphasized = false) {
  table.add({summary.group, fmt::format("{}", summary.cases), percent(summary.mean_absolute_error),
             percent(summary.median_absolute_error), signed_percent(summary.worst_error),
             percent(summary.coverage), optional_percent(summary.dram_error),
             optional_percent(summary.l2_error), optional_percent(summary.cycles_error)},
            emphasized);
}

std::string summaries_text(const Comparison& comparison, const Style& style) {
  TextTable table({{"time error"},
                   {"cases", Align::right},
                   {"mean", Align::right},
                   {"median", Align::right},
                   {"worst", Align::right},
                   {"in interval", Align::right},
                   {"DRAM bytes", Align::right},
                   {"L2 bytes", Align::right},
                   {"cycles", Align::right}});
  add_summary(table, comparison.overall, true);
  if (comparison.large) add_summary(table, *comparison.large);
  for (const auto* group : {&comparison.by_gpu, &comparison.by_family, &comparison.by_regime,
                            &comparison.by_family_and_regime}) {
    // A single GPU's row would repeat the row of all cases.
    if (group->size() < 2 && group == &comparison.by_gpu) continue;
    for (const Summary& summary : *group) add_summary(table, summary);
  }
  return table.text(style, "  ");
}

std::string rows_text(const Comparison& comparison, const std::vector<std::size_t>& chosen,
                      bool against_limit, const Style& style) {
  TextTable table({{"kernel"},
                   {"problem"},
                   {"gpu"},
                   {"measured", Align::right},
                   {against_limit ? "limit" : "predicted", Align::right},
                   {"error", Align::right},
                   {"bound"}});
  for (const std::size_t index : chosen) {
    const Row& row = comparison.rows[index];
    const double measured = against_limit ? row.measured_fastest_s : row.time_s.measured;
    const double reference = against_limit ? row.limit_s : row.time_s.predicted;
    table.add({row.kernel, row.problem_text, row.gpu, si_text(measured, "s"),
               si_text(reference, "s"), signed_percent(reference / measured - 1),
               std::string(name(row.bound))});
  }
  return table.text(style, "  ");
}

}  // namespace

std::string comparison_text(const Comparison& comparison, const Style& style) {
  std::string title = comparison.gpu.empty() ? comparison.device : comparison.gpu;
  if (!comparison.gpu.empty() && !comparison.device.empty()) {
    title += fmt::format(" ({})", comparison.device);
  }
  if (!comparison.date.empty()) title += fmt::format(", {}", comparison.date);
  if (!comparison.suite.empty()) title += fmt::format(", {}", comparison.suite);
  std::string text =
      fmt::format("{}\n{}", style.heading(visible(title)), summaries_text(comparison, style));
  if (!comparison.worst.empty()) {
    text += fmt::format("\n{}\n{}", style.heading("worst cases"),
                        rows_text(comparison, comparison.worst, false, style));
  }
  text += fmt::format("\n{}\n", style.heading("measured faster than the limit"));
  text += comparison.bound_violations.empty()
              ? "  none\n"
              : rows_text(comparison, comparison.bound_violations, true, style);
  const bool of_table = comparison.device.empty();
  if (of_table && !comparison.bound_violations.empty()) {
    text += "  were launches repeated on the same data? Then ask with --cache repeated\n";
  }
  if (!comparison.failures.empty()) {
    text += fmt::format("\n{}\n", style.heading("without a measurement or a forecast"));
    TextTable table({{""}, {""}, {""}});
    for (const validation::Failure& failure : comparison.failures) {
      table.add({failure.kernel, validation::problem_text(failure.kernel, failure.problem),
                 failure.reason});
    }
    text += table.text(style, "  ");
  }
  if (comparison.missing > 0) {
    text += fmt::format("\n{}\n  {} cases of the suite\n", style.heading("not measured yet"),
                        comparison.missing);
  }
  return text;
}

}  // namespace roofcast::cli
