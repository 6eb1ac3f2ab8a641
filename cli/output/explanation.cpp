#include "cli/output/explanation.hpp"

#include <algorithm>

#include "cli/output/answer_words.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/time_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"

namespace roofcast::cli {
namespace {

std::string formulas_text(std::span<const Formula> formulas, const Style& style) {
  TextTable table({{"resource"},
                   {"amount", Align::right},
                   {"÷ full rate", Align::right},
                   {"= at least", Align::right},
                   {"alone", Align::right},
                   {"the full rate is"},
                   {"source"}});
  for (const Formula& one : formulas) {
    const bool known = one.full_rate > 0;
    table.add({std::string(name(one.resource)), si_text(one.amount, one.unit),
               known ? si_text(one.full_rate, fmt::format("{}/s", one.unit)) : "–",
               known ? si_text(one.least_s(), "s") : "–", si_text(one.alone_s, "s"), one.made_of,
               one.source});
  }
  return table.text(style, "  ");
}

std::string range_text(std::int64_t first, std::int64_t count) {
  return count == 1 ? fmt::format("{}", first) : fmt::format("{}–{}", first, first + count - 1);
}

/// The blocks, dealt evenly over the SMs: a row with a bar for all SMs with the same number.
std::string blocks_text(const Prediction& prediction, const Gpu& gpu, const Style& style) {
  if (!prediction.launch || !prediction.waves || !prediction.occupancy || !gpu.sm_count) return "";
  constexpr std::int64_t kBar = 40;
  const std::int64_t blocks = prediction.launch->blocks();
  const std::int64_t active = prediction.waves->active_sms;
  const std::int64_t each = blocks / active;
  const std::int64_t more = blocks % active;
  const std::int64_t most = each + (more > 0 ? 1 : 0);
  TextTable table({{"SMs", Align::right}, {"blocks of each", Align::right}, {""}});
  const auto add = [&](std::int64_t first, std::int64_t count, std::int64_t of_each) {
    if (count <= 0) return;
    std::string bar;
    const std::int64_t length = of_each * kBar / most;
    for (std::int64_t i = 0; i < length; ++i) bar += "█";
    table.add({range_text(first, count), fmt::format("{}", of_each), bar});
  };
  add(1, more, each + 1);
  add(more + 1, active - more, each);
  add(active + 1, *gpu.sm_count - active, 0);
  const std::int64_t resident = prediction.occupancy->blocks_per_sm;
  return fmt::format("\n  up to {} at a time on an SM{}:\n",
                     resident == 1 ? "one block" : fmt::format("{} blocks", resident),
                     prediction.launches > 1 ? ", in the launch that takes longest" : "") +
         table.text(style, "  ");
}

std::string sensitivities_text(std::span<const Sensitivity> sensitivities, const Style& style) {
  TextTable table({{"value of the GPU"},
                   {"is", Align::right},
                   {"if it were", Align::right},
                   {"time", Align::right},
                   {"source"}});
  for (const Sensitivity& one : sensitivities) {
    table.add({one.key, figure_text(one.value), figure_text(one.larger), signed_percent(one.change),
               one.source});
  }
  return table.text(style, "  ");
}

}  // namespace

std::string explanation_text(const Answer& answer, std::span<const Formula> formulas,
                             std::span<const Sensitivity> sensitivities, const Style& style) {
  const Prediction& prediction = answer.prediction;
  const Forecast& time = *prediction.time;
  std::string text = style.heading(
      visible(fmt::format("{}  {}  on {}", answer.kernel.name(),
                          problem_text(answer.kernel, prediction.problem), answer.gpu.name)));
  text += fmt::format("\n  expected time {}  [{}, {}], limit {}\n\n", si_text(time.expected_s, "s"),
                      si_text(time.low_s, "s"), si_text(time.high_s, "s"),
                      si_text(prediction.limit.time_s, "s"));
  text += time_table(time, style);
  text += '\n' + formulas_text(formulas, style);
  text += blocks_text(prediction, answer.gpu, style);
  text += '\n' + sensitivities_text(sensitivities, style);
  text += "\n  the laws: docs/model.md; their constants: `roofcast show constants`\n";
  return text + verdict_text(answer);
}

void write_explanation(JsonWriter& json, const Answer& answer, std::span<const Formula> formulas,
                       std::span<const Sensitivity> sensitivities) {
  json.begin_object();
  json.key("prediction");
  write_json(json, answer);
  json.objects("formulas", formulas, [&](const Formula& one) {
    json.word_member("resource", name(one.resource));
    json.member("amount", one.amount);
    json.member("unit", one.unit);
    if (one.full_rate > 0) {
      json.member("full_rate_per_s", one.full_rate);
      json.member("least_s", one.least_s());
      json.member("full_rate_is", one.made_of);
      json.member("source", one.source);
    }
    json.member("alone_s", one.alone_s);
  });
  json.objects("sensitivities", sensitivities, [&](const Sensitivity& one) {
    json.member("key", one.key);
    json.member("value", one.value);
    json.member("larger", one.larger);
    json.member("change", one.change);
    json.member("source", one.source);
  });
  json.end_object();
  json.newline();
}

}  // namespace roofcast::cli
