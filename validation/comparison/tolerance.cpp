#include "validation/comparison/tolerance.hpp"

#include <fmt/format.h>

#include <string_view>

#include "model/types/quantity_text.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::validation {
namespace {

const Summary* find_group(const Comparison& comparison, const std::string& group) {
  if (comparison.overall.group == group) return &comparison.overall;
  for (const auto* groups : {&comparison.by_family, &comparison.by_regime,
                             &comparison.by_family_and_regime, &comparison.by_gpu}) {
    for (const Summary& summary : *groups) {
      if (summary.group == group) return &summary;
    }
  }
  return nullptr;
}

}  // namespace

Tolerance parse_tolerance(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos && equals > 0) {
    const bool of_100 = text.ends_with('%');
    const auto number = number_of<double>(
        std::string_view(text).substr(equals + 1, text.size() - equals - 1 - (of_100 ? 1 : 0)));
    if (number && *number > 0) return {text.substr(0, equals), of_100 ? *number / 100 : *number};
  }
  throw InputError(fmt::format(
      "expected a tolerance GROUP=SHARE, found \"{}\". Mend: write gemm=10% or all=0.15.", text));
}

std::vector<std::string> breaches(const Comparison& comparison,
                                  const std::vector<Tolerance>& tolerances) {
  std::vector<std::string> out;
  for (const Tolerance& tolerance : tolerances) {
    const Summary* summary = find_group(comparison, tolerance.group);
    if (summary == nullptr || summary->cases == 0) {
      out.push_back(
          fmt::format("no case of \"{}\" to hold against its tolerance", tolerance.group));
    } else if (summary->mean_absolute_error > tolerance.mean_absolute_error) {
      out.push_back(fmt::format("{}: mean absolute error {}, tolerance {}", tolerance.group,
                                percent(summary->mean_absolute_error),
                                percent(tolerance.mean_absolute_error)));
    }
  }
  for (const std::size_t i : comparison.bound_violations) {
    const Row& row = comparison.rows[i];
    out.push_back(fmt::format("{} {}: measured {}, under the limit of {}", row.kernel,
                              row.problem_text, si_text(row.measured_fastest_s, "s"),
                              si_text(row.limit_s, "s")));
  }
  for (const Failure& failure : comparison.failures) {
    out.push_back(fmt::format("{}: {}", failure.kernel, failure.reason));
  }
  if (comparison.missing > 0) {
    out.push_back(
        fmt::format("the run is incomplete, {} of its suite's cases are missing: start `roofcast "
                    "validate` again with the same options and file",
                    comparison.missing));
  }
  return out;
}

}  // namespace roofcast::validation
