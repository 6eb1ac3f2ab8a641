#include "validation/comparison/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "validation/comparison/table_rows.hpp"

namespace roofcast::validation {
namespace {

// Whether a document in JSON begins with the line: a bracket, then a member, an element or the end.
bool looks_like_json(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with('[') && !line.starts_with('{')) return false;
  const std::size_t next = line.find_first_not_of(" \t", 1);
  return next == std::string_view::npos ||
         std::string_view("[{\"").find(line[next]) != std::string_view::npos;
}

}  // namespace

std::pair<std::string, std::string> parse_assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw InputError(fmt::format(
        "expected NAME=VALUE, found \"{}\". Mend: write for example op=relu or n=rows*cols.",
        text));
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Table parse_table(const std::string& file, const std::string& text, const TableQuery& query) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::istringstream in(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size())
                                                         : text);
  std::optional<RowReader> reader;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    if (!reader && looks_like_json(line)) {
      refuse_place(file, "line", number, "expected a header line, found JSON",
                   "write the table as CSV");
    }
    Fields fields = split_fields(file, number, line, ',');
    if (reader) {
      reader->read(number, std::move(fields));
    } else {
      reader.emplace(file, "line", query, std::move(fields));
    }
  }
  if (!reader) {
    refuse_place(file, "line", 1, "expected a header line, found nothing", "name the columns");
  }
  return reader->finish();
}

Gpu with_launch_cost(Gpu gpu, double launch_s) {
  gpu.sustained.stream_launch_s = launch_s;
  gpu.sustained.graph_launch_s = launch_s;
  gpu.sustained.launch_gap_s = launch_s;
  gpu.sustained.host_submit_s.reset();
  return gpu;
}

Comparison compare_table(const std::string& file, const Table& table, const FindGpu& find_gpu) {
  std::vector<Row> rows;
  std::vector<Failure> failures;
  for (const TableRow& row : table.rows) {
    const Gpu* gpu = find_gpu(row.gpu);
    if (gpu == nullptr) {
      refuse_place(file, "line", row.line, fmt::format("there is no GPU \"{}\"", row.gpu),
                   "use the names that `roofcast gpus` prints");
    }
    try {
      rows.push_back(compare_case(row.measured,
                                  table.launch_s ? with_launch_cost(*gpu, *table.launch_s) : *gpu,
                                  table.launch));
    } catch (const InputError& error) {
      failures.push_back({row.measured.kernel, row.measured.problem,
                          fmt::format("line {}: no forecast: {}", row.line, error.what())});
    }
  }
  Comparison out = summarize(std::move(rows));
  out.gpu = out.by_gpu.size() == 1 ? out.by_gpu.front().group : "";
  out.device = file;
  out.failures = std::move(failures);
  return out;
}

}  // namespace roofcast::validation
