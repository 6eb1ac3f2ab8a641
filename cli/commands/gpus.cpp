#include <algorithm>
#include <map>

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

constexpr HelpPage kHelp = {
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

/// Rows of cells, the first row the titles: what every format prints.
using Cells = std::vector<std::vector<std::string>>;

std::string optional_prefix(const std::optional<double>& value, std::string_view unit) {
  return value ? si_text(*value, unit) : "–";
}

Cells list_cells(const DeviceOptions& device) {
  Cells cells = {{"name", "year", "SMs", "DRAM", "DRAM bandwidth", "L2", "calibration", "title"}};
  for (const std::string_view name : device_names()) {
    const Gpu gpu = load_device(std::string(name), device);
    cells.push_back({gpu.name, fmt::format("{}", gpu.year),
                     gpu.sm_count ? fmt::format("{}", *gpu.sm_count) : "–",
                     optional_prefix(gpu.memory.dram_bytes, "B"),
                     optional_prefix(gpu.memory.dram_bandwidth_bytes_per_s, "B/s"),
                     optional_prefix(gpu.memory.l2_bytes, "B"), specs::calibration_word(gpu),
                     gpu.title});
  }
  return cells;
}

Cells source_cells(const specs::Source& source) {
  Cells cells = {{"key", "value", "source"}};
  for (const specs::SourcedValue& value : specs::values_with_sources(source)) {
    cells.push_back({value.pointer.substr(1), value.value, value.source});
  }
  return cells;
}

Cells side_by_side(const std::vector<std::string>& names, const DeviceOptions& device) {
  Cells cells = {{"key"}};
  std::vector<std::string> keys;
  std::vector<std::map<std::string, std::string>> columns;
  for (const std::string& name : names) {
    cells[0].push_back(name);
    auto& column = columns.emplace_back();
    for (const auto& value : specs::values_with_sources(device_source(name, device))) {
      if (std::find(keys.begin(), keys.end(), value.pointer) == keys.end()) {
        keys.push_back(value.pointer);
      }
      column[value.pointer] = value.value;
    }
  }
  for (const std::string& key : keys) {
    auto& row = cells.emplace_back(1, key.substr(1));
    for (const auto& column : columns) {
      const auto found = column.find(key);
      row.push_back(found == column.end() ? "–" : found->second);
    }
  }
  return cells;
}

std::string table_text(const Cells& cells) {
  std::vector<TextTable::Column> columns;
  for (const std::string& title : cells.front()) columns.push_back({title});
  TextTable table(std::move(columns));
  for (std::size_t i = 1; i < cells.size(); ++i) table.add(cells[i]);
  return table.text(Style::of_standard_output());
}

std::string csv_text(const Cells& cells) {
  std::string text;
  for (const auto& row : cells) text += csv_line(row);
  return text;
}

std::string json_text(const Cells& cells) {
  fmt::memory_buffer out;
  JsonWriter json(out);
  json.begin_array();
  for (std::size_t row = 1; row < cells.size(); ++row) {
    json.begin_object();
    for (std::size_t i = 0; i < cells[row].size(); ++i) {
      json.foreign_key(cells.front()[i]);
      json.string(cells[row][i]);
    }
    json.end_object();
  }
  json.end_array();
  json.newline();
  return fmt::to_string(out);
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
                       path);
  }
  std::vector<Gpu> gpus;
  for (const std::string_view name : device_names()) {
    const bool wanted = words.empty() || std::find(words.begin(), words.end(), name) != words.end();
    if (wanted) gpus.push_back(load_device(std::string(name), device));
  }
  for (const std::string& word : words) one_of("a GPU", word, device_names());
  write_chart("Arithmetic and bandwidth over generations", reports::generations_chart(gpus), path);
}

}  // namespace

ExitCode run_gpus(const Arguments& arguments) {
  const std::vector<Option> known = option_table();
  const auto given = read_arguments(arguments, kHelp, known);
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
