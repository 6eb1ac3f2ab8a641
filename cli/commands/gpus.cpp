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

Manual manual_gpus() {
  return {
      .examples =
          "  roofcast gpus\n"
          "  roofcast gpus h200-sxm\n"
          "  roofcast gpus a100-sxm4-80gb h100-sxm5 h200-sxm\n"
          "  roofcast gpus h200-sxm --set sm_count=144 --format json\n"
          "  roofcast gpus h200-sxm -o memory.svg\n"
          "  roofcast gpus -o generations.svg\n",
      .usage = "roofcast gpus [NAME|PATH...] [options]",
      .about =
          R"(Lists the devices; with one name, each value of its specification and where it comes
from; with several, their values side by side. With -o, a chart: the memory hierarchy
of one device, or arithmetic against bandwidth over the generations of all.)",
      .options = with_device_options(
          {{"format", "table|json|csv", "output format (default: table)"},
           {"output,o", "FILE", "chart.html, chart.svg, chart.png or chart.json"},
           {"help,h", "", "this text"}})};
}

namespace {

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

Cell bytes(const std::optional<double>& value) {
  return value ? Cell{binary_bytes(*value), *value} : unknown();
}

Cell rate(const std::optional<double>& value) {
  return value ? Cell{si_text(*value, "B/s"), *value} : unknown();
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
                     bytes(gpu.memory.dram_bytes),
                     rate(gpu.memory.dram_bandwidth_bytes_per_s),
                     bytes(gpu.memory.l2_bytes),
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

std::string table_text(const Cells& cells) {
  std::vector<TextTable::Column> columns;
  for (const Cell& title : cells.front()) columns.push_back({title.text});
  TextTable table(std::move(columns));
  for (std::size_t i = 1; i < cells.size(); ++i) {
    std::vector<std::string> row;
    for (const Cell& cell : cells[i]) row.push_back(cell.text);
    table.add(std::move(row));
  }
  return table.text(Style::of_standard_output());
}

/// The values of JSON; unknown ones are empty.
std::string csv_text(const Cells& cells) {
  std::string text;
  for (const auto& row : cells) {
    std::vector<std::string> fields;
    fields.reserve(row.size());
    for (const auto& [shown, value] : row) {
      fields.push_back(value.is_string() ? value.get<std::string>()
                       : value.is_null() ? ""
                                         : value.dump());
    }
    text += csv_line(fields);
  }
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

ExitCode run_gpus(const Arguments& arguments) {
  const auto [given, options] = read_arguments(arguments, manual_gpus());
  const Arguments words = distinct_devices("the command", given);
  const std::string_view format = read_format(options, {"table", "json", "csv"});
  const DeviceOptions device = read_device_options(options);
  for (const std::string_view option : {"set", "overlay"}) {
    if (words.empty() && options.has(option)) {
      throw UsageError("--{} is about one GPU: name it, as in roofcast gpus h200-sxm", option);
    }
  }

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
  write_output(std::nullopt, format == "json"  ? json_text(cells)
                             : format == "csv" ? csv_text(cells)
                                               : table_text(cells));
  return ExitCode::done;
}

}  // namespace roofcast::cli
