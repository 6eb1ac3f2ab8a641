#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "cli/commands/opening.hpp"
#include "cli/input/table_query.hpp"
#include "cli/output/check_output.hpp"
#include "cli/output/files.hpp"

namespace roofcast::cli {

Manual manual_check() {
  return {
      .examples =
          "  roofcast check examples/tables/products.csv\n"
          "  roofcast check published.csv --kernel elementwise.relu.fused --where op=relu \\\n"
          "                 --column n=rows*cols --cache cold\n"
          "  roofcast check run.json --format csv\n",
      .usage = "roofcast check TABLE.csv|TABLE.json [options]",
      .about =
          R"(Lists the rows of a table of measurements that no hardware can have measured: faster
than their limit. A table is a CSV, or a JSON array of objects, with the columns
kernel, its parameters, gpu, dtype and time_us; or a run file of `roofcast validate`. A
kernel may be a family (gemm): its limit holds for every way to compute it. Exits with
1 where there are such rows.)",
      .options = with_device_options(
          joined({{{"gpu", "NAME|PATH",
                    "only this GPU's rows, or all rows where the table has no column gpu"},
                   {"format", "table|json|csv",
                    "output format (default: as the output's name ends, else table)"},
                   {"output,o", "FILE", "write there instead of standard output"}},
                  table_options(),
                  {{"help,h", "", "this text"}}}))};
}

namespace {

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
      throw UsageError("--{} is about a table; {} is a run file, which says that of each case",
                       option.name, file);
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

ExitCode run_check(const Arguments& arguments) {
  const auto [words, options] = read_arguments(arguments, manual_check());
  const std::string_view format = read_format(options, {"table", "json", "csv"});
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
  const Style style = Style::of_output(options.find("output"));
  write_output(options.find("output"), format == "json"  ? check_json(check, file)
                                       : format == "csv" ? check_csv(check, file)
                                                         : check_text(check, file, style));
  return check.impossible.empty() ? ExitCode::done : ExitCode::out_of_tolerance;
}

}  // namespace roofcast::cli
