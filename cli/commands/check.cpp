#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cli/commands/opening.hpp"
#include "cli/input/table_query.hpp"
#include "cli/output/check_output.hpp"
#include "cli/output/files.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kCheckHelp = {
    "  roofcast check examples/tables/products.csv\n"
    "  roofcast check published.csv --kernel elementwise.relu.fused --where op=relu \\\n"
    "                 --column n=rows*cols --cache cold\n"
    "  roofcast check run.json --format csv\n",
    "roofcast check TABLE.csv|TABLE.json [options]",
    "Lists the rows of a table of measurements that no hardware can have measured: faster than "
    "their\n"
    "limit. A table is a CSV, or a JSON array of objects, with the columns kernel, its "
    "parameters,\n"
    "gpu, dtype and time_us; or a run file of `roofcast validate`. A kernel may be a family "
    "(gemm):\n"
    "its limit holds for every way to compute it. Exits with 1 where there are such rows."};

std::vector<Option> option_table() {
  std::vector<Option> options = {
      {"gpu", "NAME|PATH", "only this GPU's rows, or all rows where the table has no column gpu"},
      {"format", "table|json|csv", "output format (default: table)"},
      {"output,o", "FILE", "write there instead of standard output"}};
  for (auto& option : table_options()) options.push_back(std::move(option));
  options.push_back({"help,h", "", "this text"});
  for (auto& option : device_option_table()) options.push_back(std::move(option));
  return options;
}

bool is_run(const std::string& text) {
  const nlohmann::json document = nlohmann::json::parse(text, nullptr, false);
  return document.is_object() && document.contains("cases");
}

struct Checked {
  validation::TableCheck check;
  CheckedFile file;
};

Checked check_run(const std::string& file, const std::string& text, const Options& options,
                  Devices& devices) {
  for (const Option& option : table_options()) {
    if (options.has(option.name)) {
      throw UsageError(
          fmt::format("--{} is about a table; {} is a run file, which says that of each case",
                      option.name, file));
    }
  }
  const validation::Run run = validation::parse_run(file, text);
  return {validation::check_run(run, devices.get(device_of_run(file, run, options))),
          {file, "case", "of each case"}};
}

Checked check_file(const std::string& file, const Options& options, Devices& devices) {
  const std::string text = read_file(file);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const char opening = first == std::string::npos ? ' ' : text[first];
  if (opening == '{' && is_run(text)) return check_run(file, text, options, devices);
  validation::TableQuery query = read_table_query(options, devices);
  query.families = true;
  const bool is_json = opening == '[' || opening == '{';
  const validation::Table table = is_json ? validation::parse_json_table(file, text, query)
                                          : validation::parse_table(file, text, query);
  if (!table.ignored_columns.empty()) {
    warn(fmt::format("columns not used: {}", fmt::join(table.ignored_columns, ", ")));
  }
  return {validation::check_table(table, [&](std::string_view name) { return devices.find(name); }),
          {file, is_json ? "row" : "line", std::string(name(query.cache))}};
}

}  // namespace

Manual manual_check() {
  return {kCheckHelp, option_table()};
}

ExitCode run_check(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  const auto given = read_arguments(arguments, kCheckHelp, known);
  if (!given) return ExitCode::done;
  const auto& [words, options] = *given;
  constexpr std::array<std::string_view, 3> formats = {"table", "json", "csv"};
  const std::string_view format = one_of("--format", options.get("format", "table"), formats);
  if (words.size() != 1) {
    throw UsageError("which table? For example: roofcast check examples/tables/products.csv");
  }
  Devices devices(read_device_options(options));
  const Checked checked = check_file(words.front(), options, devices);
  const auto& [check, file] = checked;
  if (check.rows.empty()) {
    const std::string why = check.unchecked.empty() ? "" : ": " + check.unchecked.front().reason;
    throw InputError(fmt::format("{}: no row could be checked{}", file.name, why));
  }
  const Style style = options.has("output") ? Style(false) : Style::of_standard_output();
  write_output(options.find("output"), format == "json"  ? check_json(check, file)
                                       : format == "csv" ? check_csv(check, file)
                                                         : check_text(check, file, style));
  return check.impossible.empty() ? ExitCode::done : ExitCode::out_of_tolerance;
}

}  // namespace roofcast::cli
