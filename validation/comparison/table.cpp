#include "validation/comparison/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/tokenizer.hpp>
#include <sstream>

#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"
#include "validation/runs/numbers.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::validation {
namespace {

using Fields = std::vector<std::string>;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[noreturn]] void refuse_line(const std::string& file, std::size_t line, const std::string& problem,
                              const std::string& mend) {
  throw InputError(fmt::format("{}: at line {}: {}. Mend: {}.", file, line, problem, mend));
}

Fields split(const std::string& file, std::size_t line, const std::string& text, char separator) {
  using Separator = boost::escaped_list_separator<char>;
  try {
    const boost::tokenizer<Separator> tokens(text, Separator('\\', separator, '"'));
    return Fields(tokens.begin(), tokens.end());
  } catch (const boost::escaped_list_error& error) {
    refuse_line(file, line, error.what(), "double a quotation mark or backslash inside a field");
  }
}

/// The columns of the table and the row at hand.
class Reader {
 public:
  Reader(const std::string& file, const TableQuery& query, Fields header)
      : file_(file), query_(query), header_(std::move(header)), used_(header_.size(), false) {}

  void next(std::size_t line, Fields fields) {
    line_ = line;
    fields_ = std::move(fields);
    if (fields_.size() != header_.size()) {
      refuse_line(file_, line_,
                  fmt::format("expected {} fields as in the header, found {}", header_.size(),
                              fields_.size()),
                  "quote fields that hold a comma");
    }
  }

  bool wanted() {
    if (!query_.gpu.empty() && column("gpu") && field("gpu") != query_.gpu) return false;
    for (const auto& [column, values] : query_.where) {
      const Fields accepted = split(file_, line_, values, ',');
      if (std::find(accepted.begin(), accepted.end(), field(column)) == accepted.end())
        return false;
    }
    return true;
  }

  TableRow row() {
    TableRow out;
    out.line = line_;
    out.gpu = query_.gpu.empty() || column("gpu") ? field("gpu") : query_.gpu;
    Case& item = out.measured;
    item.kernel = query_.kernel.empty() ? field("kernel") : query_.kernel;
    item.cache = query_.cache;
    item.timing.samples_s = {time_s()};
    try {
      const KernelRef kernel = find_kernel(item.kernel);
      if (kernel.kernel == nullptr) {
        throw InputError(fmt::format("\"{}\" is a family: name a variant", item.kernel));
      }
      item.problem = problem(kernel);
    } catch (const InputError& error) {
      refuse_line(file_, line_, error.what(), "correct the row, or leave it out with `where`");
    }
    return out;
  }

  Fields ignored() const {
    Fields out;
    for (std::size_t i = 0; i < header_.size(); ++i) {
      if (!used_[i]) out.push_back(header_[i]);
    }
    return out;
  }

 private:
  std::optional<std::size_t> column(std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    if (found == header_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header_.begin());
  }

  const std::string& field(std::string_view name) {
    if (const auto i = column(name)) {
      used_[*i] = true;
      return fields_[*i];
    }
    refuse_line(file_, 1, fmt::format("expected a column \"{}\", found none", name),
                fmt::format("the columns are {}", fmt::format("{}", fmt::join(header_, ", "))));
  }

  double time_s() {
    const std::string& text = field("time_us");
    const auto value = number_of<double>(text);
    if (!value || *value <= 0) {
      refuse_line(file_, line_,
                  fmt::format("expected a time above 0 in time_us, found \"{}\"", text),
                  "write it in microseconds");
    }
    return *value * 1e-6;
  }

  /// "rows*cols*2"
  std::int64_t product(const std::string& expression) {
    std::int64_t value = 1;
    for (const std::string& factor : split(file_, line_, expression, '*')) {
      const std::string& text = number_of<std::int64_t>(factor) ? factor : field(factor);
      const auto number = number_of<std::int64_t>(text);
      if (!number || __builtin_mul_overflow(value, *number, &value)) {
        throw InputError(fmt::format("expected an integer for {}, found \"{}\"", factor, text));
      }
    }
    return value;
  }

  Problem problem(const KernelRef& kernel) {
    Problem out;
    const auto dtype = parse_dtype(field("dtype"));
    if (!dtype) throw InputError(fmt::format("no element type \"{}\"", field("dtype")));
    out.dtype = *dtype;
    unsigned given = 0;
    std::size_t i = 0;
    for (const Parameter& parameter : kernel.parameters()) {
      const auto set = std::find_if(query_.set.begin(), query_.set.end(), [&](const auto& entry) {
        return entry.first == parameter.name;
      });
      const bool is_set = set != query_.set.end();
      if (is_set || column(parameter.name)) {
        const std::string source = is_set ? set->second : std::string(parameter.name);
        if (is_named(parameter)) {
          set_named_value(parameter, out, i, column(source) ? field(source) : source);
        } else {
          out[i] = product(source);
        }
        given |= 1U << i;
      }
      ++i;
    }
    check(kernel, out, given);
    return out;
  }

  const std::string& file_;
  const TableQuery& query_;
  Fields header_;
  std::vector<bool> used_;
  Fields fields_;
  std::size_t line_ = 1;
};

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
  std::istringstream in(text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size())
                                                         : text);
  Table table;
  std::optional<Reader> reader;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    Fields fields = split(file, number, line, ',');
    if (!reader) {
      reader.emplace(file, query, std::move(fields));
      continue;
    }
    reader->next(number, std::move(fields));
    if (reader->wanted()) table.rows.push_back(reader->row());
  }
  if (!reader) refuse_line(file, 1, "expected a header line, found nothing", "name the columns");
  if (table.rows.empty()) {
    refuse_line(file, 1, "no row is left to compare", "check `where` and the GPU's name");
  }
  table.ignored_columns = reader->ignored();
  table.launch_s = query.launch_s;
  table.launch = query.launch;
  return table;
}

Gpu with_launch_cost(Gpu gpu, double launch_s) {
  gpu.sustained.stream_launch_s = launch_s;
  gpu.sustained.graph_launch_s = launch_s;
  gpu.sustained.launch_gap_s = launch_s;
  gpu.sustained.host_submit_s.reset();
  return gpu;
}

Comparison compare_table(const std::string& file, const Table& table,
                         const std::function<const Gpu*(std::string_view)>& find_gpu) {
  std::vector<Row> rows;
  std::vector<Failure> failures;
  for (const TableRow& row : table.rows) {
    const Gpu* gpu = find_gpu(row.gpu);
    if (gpu == nullptr) {
      refuse_line(file, row.line, fmt::format("there is no GPU \"{}\"", row.gpu),
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
