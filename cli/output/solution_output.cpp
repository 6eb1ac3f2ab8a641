#include "cli/output/solution_output.hpp"

#include <fmt/format.h>

#include "cli/input/numbers.hpp"
#include "cli/output/units.hpp"

namespace roofcast::cli {
namespace {

/// "time 48.1 µs; dram alone takes 44 µs and binds"
std::string forecast_text(const Point& point) {
  if (!point.prediction) return fmt::format("refused: {}", point.refusal);
  const Prediction& prediction = *point.prediction;
  const ByResource& terms = prediction.time ? prediction.time->terms : prediction.limit.terms;
  const Resource limiting = binding(terms);
  return fmt::format(
      "{} {}; {} alone takes {} and binds", prediction.time ? "time" : "limit",
      si_text(prediction.time ? prediction.time->expected_s : prediction.limit.time_s, "s"),
      name(limiting), si_text(terms[limiting], "s"));
}

std::string method_text(const Solution& solution, const Unknown& unknown) {
  std::string text =
      solution.every_value
          ? fmt::format("every value was forecast ({})", solution.forecasts)
          : fmt::format(
                "{} forecasts: values in equal ratios, and bisection to {} where the answer "
                "changes; two changes between neighbours may be unseen",
                solution.forecasts, unknown.whole() ? "the whole number" : "7 digits");
  if (solution.refused > 0) {
    text += fmt::format("; {} values are refused and count as not fulfilling", solution.refused);
  }
  return text;
}

/// The value at which the answer first changes. Where the condition holds at the range's start, the
/// last value of the first span; else the first value for which the condition holds.
const Point& turning_point(const Solution& solution) {
  const Span& first = solution.spans.front();
  return first.first.position == 0 ? first.last : first.first;
}

std::string why_not(const Solution& solution, const Unknown& unknown, const Condition& condition) {
  return fmt::format("{} holds for no {} from {} to {}: at the start {}, at the end {}",
                     condition.text, unknown.name(), unknown.at(0), unknown.at(unknown.last()),
                     forecast_text(solution.lowest), forecast_text(solution.highest));
}

void write_point(JsonWriter& json, const Point& point, const Unknown& unknown) {
  json.begin_object();
  json.member("value", parse_real("the value", unknown.at(point.position)));
  if (point.prediction) {
    json.member("limit_s", point.prediction->limit.time_s);
    if (const auto& time = point.prediction->time) {
      json.member("expected_s", time->expected_s);
      json.word_member("bound", name(binding(time->terms)));
    }
  } else {
    json.member("error", point.refusal);
  }
  json.end_object();
}

}  // namespace

std::string solution_text(const Solution& solution, const Unknown& unknown,
                          const Condition& condition) {
  std::string text;
  const auto line = [&](const Point& point) {
    text += fmt::format("  {}={}: {}\n", unknown.name(), unknown.at(point.position),
                        forecast_text(point));
  };
  if (solution.spans.empty()) {
    text = fmt::format("{} holds for no {} from {} to {}\n", condition.text, unknown.name(),
                       unknown.at(0), unknown.at(unknown.last()));
    line(solution.lowest);
    line(solution.highest);
  }
  for (const auto& [first, last] : solution.spans) {
    text += fmt::format("{} holds for {} from {} to {}\n", condition.text, unknown.name(),
                        unknown.at(first.position), unknown.at(last.position));
    line(first);
    if (last.position != first.position) line(last);
  }
  return text + fmt::format("  {}\n", method_text(solution, unknown));
}

void write_json(JsonWriter& json, const Solution& solution, const Unknown& unknown,
                const Condition& condition) {
  json.begin_object();
  json.boolean("found", !solution.spans.empty());
  if (solution.spans.empty()) {
    json.member("why", why_not(solution, unknown, condition));
  } else {
    const Point& point = turning_point(solution);
    json.member("parameter", unknown.name());
    json.member("value", parse_real("the value", unknown.at(point.position)));
    if (point.prediction && point.prediction->time) {
      json.member("expected_s", point.prediction->time->expected_s);
    }
    json.word_member("exact", solution.every_value ? "scan" : "bisection");
  }
  json.member("find", unknown.name());
  json.member("until", condition.text);
  json.objects("holds", solution.spans, [&](const Span& span) {
    json.key("from");
    write_point(json, span.first, unknown);
    json.key("to");
    write_point(json, span.last, unknown);
  });
  json.begin_array("range");
  write_point(json, solution.lowest, unknown);
  write_point(json, solution.highest, unknown);
  json.end_array();
  json.word_member("method", solution.every_value ? "every_value" : "bisection");
  json.member("forecasts", static_cast<std::int64_t>(solution.forecasts));
  json.member("refused", static_cast<std::int64_t>(solution.refused));
  json.end_object();
  json.newline();
}

}  // namespace roofcast::cli
