#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands/opening.hpp"
#include "cli/input/device.hpp"
#include "cli/output/answer.hpp"
#include "cli/output/chart_output.hpp"
#include "cli/output/files.hpp"
#include "cli/output/text_table.hpp"
#include "cli/output/units.hpp"
#include "hw_specs/calibration_words.hpp"
#include "reports/gpu_charts.hpp"

namespace roofcast::cli {
namespace {

constexpr HelpPage kGpusHelp = {
    "  roofcast gpus\n"
    "  roofcast gpus h200-sxm\n"
    "  roofcast gpus a100-sxm4-80gb h100-sxm5 h200-sxm\n"
    "  roofcast gpus h200-sxm --set sm_count=144 --format json\n"
    "  roofcast gpus h200-sxm -o memory.svg\n"
    "  roofcast gpus -o generations.svg\n",
    "roofcast gpus [NAME|PATH...] [options]",
    "Lists the devices; with one name, each value of its specification and where it comes from;\n"
    "with several, their values side by side. With -o, a chart: the memory hierarchy of one "
    "device, or\n"
    "arithmetic against bandwidth over the generations of all."};

std::vector<Option> option_table() {
  std::vector<Option> options = {
      {"format", "table|json|csv", "output format (default: table)"},
      {"output,o", "FILE", "chart.html, chart.svg, chart.png or chart.json"},
      {"help,h", "", "this text"}};
  for (auto& option : device_option_table()) options.push_back(std::move(option));
  return options;
}

enum class Format : unsigned char { table, json, csv };

using Json = nlohmann::ordered_json;

/// A table cell: its text for people and its JSON value for programs. A title's value is its JSON
/// key; the value of an unknown quantity is null.
struct Cell {
  std::string text;
  Json value;
};

Cell word(const std::string& text) {
  return {text, text};
}

/// Rows of cells, the first row the titles, from which every format is printed.
using Cells = std::vector<std::vector<Cell>>;

Cell unknown() {
  return {"–", nullptr};
}

Cell quantity(const std::optional<double>& value, std::string_view unit) {
  return value ? Cell{si_text(*value, unit), *value} : unknown();
}

/// A value of a specification, which is JSON text.
Cell parsed(const std::string& text) {
  return {text, Json::parse(text)};
}

Cells list_cells(const DeviceOptions& device) {
  Cells cells = {{word("name"),
                  word("year"),
                  {"SMs", "sm_count"},
                  {"DRAM", "dram_bytes"},
                  {"DRAM bandwidth", "dram_bandwidth_bytes_per_s"},
                  {"L2", "l2_bytes"},
                  word("calibration"),
                  word("title")}};
  for (const std::string_view name : device_names()) {
    const Gpu gpu = load_device(std::string(name), device);
    cells.push_back({word(gpu.name),
                     {fmt::to_string(gpu.year), gpu.year},
                     gpu.sm_count ? Cell{fmt::to_string(*gpu.sm_count), *gpu.sm_count} : unknown(),
                     quantity(gpu.memory.dram_bytes, "B"),
                     quantity(gpu.memory.dram_bandwidth_bytes_per_s, "B/s"),
                     quantity(gpu.memory.l2_bytes, "B"),
                     word(std::string(specs::calibration_word(gpu))),
                     word(gpu.title)});
  }
  return cells;
}

Cells source_cells(const specs::Source& source) {
  Cells cells = {{word("key"), word("value"), word("source")}};
  for (const specs::SourcedValue& value : specs::values_with_sources(source)) {
    cells.push_back({word(value.pointer.substr(1)), parsed(value.value), word(value.source)});
  }
  return cells;
}

Cells side_by_side(const std::vector<std::string>& names, const DeviceOptions& device) {
  Cells cells = {{word("key")}};
  std::vector<std::string> keys;
  std::vector<std::map<std::string, std::string>> columns;
  for (const std::string& name : names) {
    cells[0].push_back(word(name));
    auto& column = columns.emplace_back();
    for (const auto& value : specs::values_with_sources(device_source(name, device))) {
      if (std::find(keys.begin(), keys.end(), value.pointer) == keys.end()) {
        keys.push_back(value.pointer);
      }
      column[value.pointer] = value.value;
    }
  }
  for (const std::string& key : keys) {
    auto& row = cells.emplace_back(1, word(key.substr(1)));
    for (const auto& column : columns) {
      const auto found = column.find(key);
      row.push_back(found == column.end() ? unknown() : parsed(found->second));
    }
  }
  return cells;
}

std::vector<std::string> texts(const std::vector<Cell>& row) {
  std::vector<std::string> found;
  found.reserve(row.size());
  for (const Cell& cell : row) found.push_back(cell.text);
  return found;
}

std::string table_text(const Cells& cells) {
  std::vector<TextTable::Column> columns;
  for (const Cell& title : cells.front()) columns.push_back({title.text});
  TextTable table(std::move(columns));
  for (std::size_t i = 1; i < cells.size(); ++i) table.add(texts(cells[i]));
  return table.text(Style::of_standard_output());
}

std::string csv_text(const Cells& cells) {
  std::string text;
  for (const auto& row : cells) text += csv_line(texts(row));
  return text;
}

/// Numbers are in SI units; unknown values are left out.
std::string json_text(const Cells& cells) {
  Json rows = Json::array();
  for (std::size_t row = 1; row < cells.size(); ++row) {
    Json& object = rows.emplace_back(Json::object());
    for (std::size_t i = 0; i < cells[row].size(); ++i) {
      const Json& value = cells[row][i].value;
      if (!value.is_null()) object[cells.front()[i].value.get<std::string>()] = value;
    }
  }
  return rows.dump() + '\n';
}

Format read_format(const Options& options) {
  constexpr std::array<std::string_view, 3> formats = {"table", "json", "csv"};
  const auto chosen = one_of("--format", options.get("format", "table"), formats);
  if (chosen == "json") return Format::json;
  return chosen == "csv" ? Format::csv : Format::table;
}

void draw(const Arguments& words, const DeviceOptions& device,
          const std::optional<std::string>& path) {
  if (words.size() == 1) {
    const Gpu gpu = load_device(words.front(), device);
    return write_chart(fmt::format("Memory of {}", gpu.title), reports::memory_hierarchy_chart(gpu),
                       path, [&gpu] { return reports::memory_hierarchy_chart(gpu, true); });
  }
  std::vector<Gpu> gpus;
  const auto all = device_names();
  const Arguments names = words.empty() ? Arguments(all.begin(), all.end()) : words;
  for (const std::string& name : names) gpus.push_back(load_device(name, device));
  write_chart("Arithmetic and bandwidth over generations", reports::generations_chart(gpus), path,
              [&gpus] { return reports::generations_chart(gpus, true); });
}

}  // namespace

Manual manual_gpus() {
  return {kGpusHelp, option_table()};
}

ExitCode run_gpus(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  const auto given = read_arguments(arguments, kGpusHelp, known);
  if (!given) return ExitCode::done;
  const auto& [words, options] = *given;
  const Format format = read_format(options);
  const DeviceOptions device = read_device_options(options);

  if (options.has("output")) {
    if (options.has("format")) {
      throw UsageError("--format is for tables: a chart's file name says its format");
    }
    draw(words, device, options.find("output"));
    return ExitCode::done;
  }

  Cells cells;
  if (words.empty()) {
    cells = list_cells(device);
  } else if (words.size() == 1) {
    cells = source_cells(device_source(words.front(), device));
  } else {
    cells = side_by_side(words, device);
  }
  switch (format) {
    case Format::table:
      write_output(std::nullopt, table_text(cells));
      break;
    case Format::csv:
      write_output(std::nullopt, csv_text(cells));
      break;
    case Format::json:
      write_output(std::nullopt, json_text(cells));
      break;
  }
  return ExitCode::done;
}

}  // namespace roofcast::cli
