#include "cli/output/check_output.hpp"

#include <fmt/format.h>

#include "cli/output/answer.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "cli/output/visible_text.hpp"

namespace roofcast::cli {
namespace {

using validation::CheckedRow;
using validation::TableCheck;
using validation::UncheckedRow;

std::string_view meaning_of(std::string_view cache) {
  if (cache == "cold") return "L2 holds nothing of use";
  if (cache == "warm") return "L2 holds what an earlier kernel computed, as far as it fits";
  if (cache == "steady") return "launches back to back; weights may stay in L2";
  if (cache == "repeated") return "launches back to back on the same data, which may stay in L2";
  return "as each was measured";
}

std::string times(double factor) {
  return figure_text(factor, 3) + "x";
}

std::string number(double value) {
  return fmt::format("{}", value);
}

}  // namespace

std::string check_text(const TableCheck& check, const CheckedFile& file, const Style& style) {
  const std::size_t all = check.rows.size() + check.unchecked.size();
  std::string text = style.heading(fmt::format("{}: {} of {} rows are faster than their limit",
                                               visible(file.name), check.impossible.size(), all));
  text += fmt::format("\n  cache   {}: {}\n", file.cache, meaning_of(file.cache));
  if (!check.unchecked.empty()) {
    text += fmt::format("  no limit  {} rows, listed below\n", check.unchecked.size());
  }
  if (!check.impossible.empty()) {
    text += fmt::format("\n{}\n", style.heading("no hardware can have measured"));
    TextTable table({{file.place, Align::right},
                     {"kernel"},
                     {"problem"},
                     {"gpu"},
                     {"measured", Align::right},
                     {"limit", Align::right},
                     {"too fast by", Align::right},
                     {"the limit is"}});
    for (const std::size_t index : check.impossible) {
      const CheckedRow& row = check.rows[index];
      table.add({fmt::to_string(row.place), row.kernel, row.problem_text, row.gpu,
                 si_text(row.measured_s, "s"), si_text(row.limit_s, "s"),
                 times(row.times_too_fast()), std::string(name(row.bound))});
    }
    text += table.text(style, "  ");
  }
  if (!check.unchecked.empty()) {
    text += fmt::format("\n{}\n", style.heading("rows without a limit"));
    TextTable table({{file.place, Align::right}, {"kernel"}, {"why"}});
    for (const UncheckedRow& row : check.unchecked) {
      table.add({fmt::to_string(row.place), row.kernel, row.reason});
    }
    text += table.text(style, "  ");
  }
  return text;
}

std::string check_json(const TableCheck& check, const CheckedFile& file) {
  return json_text([&](JsonWriter& json) {
    json.begin_object();
    json.member("schema_version", kSchemaVersion);
    json.member("file", file.name);
    json.member("cache", file.cache);
    json.member("rows", static_cast<std::int64_t>(check.rows.size() + check.unchecked.size()));
    json.member("faster_than_limit", static_cast<std::int64_t>(check.impossible.size()));
    json.objects("impossible", check.impossible, [&](std::size_t index) {
      const CheckedRow& row = check.rows[index];
      json.member(file.place, static_cast<std::int64_t>(row.place));
      json.member("kernel", row.kernel);
      json.member("problem", row.problem_text);
      json.member("gpu", row.gpu);
      json.member("cache", validation::name(row.cache));
      json.member("measured_s", row.measured_s);
      json.member("limit_s", row.limit_s);
      json.member("times_too_fast", row.times_too_fast());
      json.word_member("bound", name(row.bound));
    });
    json.objects("unchecked", check.unchecked, [&](const UncheckedRow& row) {
      json.member(file.place, static_cast<std::int64_t>(row.place));
      json.member("kernel", row.kernel);
      json.member("reason", row.reason);
    });
    json.end_object();
    json.newline();
  });
}

std::string check_csv(const TableCheck& check, const CheckedFile& file) {
  std::string text =
      file.place + ",kernel,problem,gpu,cache,measured_s,limit_s,times_too_fast,bound,reason\n";
  for (const std::size_t index : check.impossible) {
    const CheckedRow& row = check.rows[index];
    const std::vector<std::string> cells = {fmt::to_string(row.place),
                                            row.kernel,
                                            row.problem_text,
                                            row.gpu,
                                            std::string(validation::name(row.cache)),
                                            number(row.measured_s),
                                            number(row.limit_s),
                                            number(row.times_too_fast()),
                                            std::string(name(row.bound)),
                                            ""};
    text += csv_line(cells);
  }
  for (const UncheckedRow& row : check.unchecked) {
    const std::vector<std::string> cells = {
        fmt::to_string(row.place), row.kernel, "", "", "", "", "", "", "", row.reason};
    text += csv_line(cells);
  }
  return text;
}

}  // namespace roofcast::cli
