#include "validation/comparison/table_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/tokenizer.hpp>

#include "model/predict.hpp"
#include "model/types/parameter_text.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::validation {

void refuse_place(const std::string& file, std::string_view unit, std::size_t place,
                  const std::string& problem, const std::string& mend) {
  throw PlacedError(fmt::format("{}: at {} {}: {}. Mend: {}.", file, unit, place, problem, mend));
}

Fields split_fields(const std::string& file, std::size_t line, const std::string& text,
                    char separator) {
  using Separator = boost::escaped_list_separator<char>;
  try {
    const boost::tokenizer<Separator> tokens(text, Separator('\\', separator, '"'));
    return Fields(tokens.begin(), tokens.end());
  } catch (const boost::escaped_list_error& error) {
    refuse_place(file, "line", line, error.what(),
                 "double a quotation mark or backslash inside a field");
  }
}

RowReader::RowReader(const std::string& file, std::string_view unit, const TableQuery& query,
                     Fields header)
    : file_(file),
      unit_(unit),
      query_(query),
      header_(std::move(header)),
      used_(header_.size(), false) {}

void RowReader::refuse(const std::string& problem, const std::string& mend) const {
  refuse_place(file_, unit_, place_, problem, mend);
}

void RowReader::read(std::size_t place, Fields fields) {
  place_ = place;
  fields_ = std::move(fields);
  if (fields_.size() != header_.size()) {
    refuse(fmt::format("expected {} fields as in the header, found {}", header_.size(),
                       fields_.size()),
           "quote fields that hold a comma");
  }
  if (wanted()) rows_.push_back(row());
}

Table RowReader::finish() {
  if (fields_.empty()) {  // none was read
    refuse_place(file_, unit_, 1, "the table has no rows", "give it one for each measurement");
  }
  if (rows_.empty()) {
    refuse_place(file_, unit_, 1, "no row is left to compare", "check `where` and the GPU's name");
  }
  Table table{std::move(rows_), {}, query_.launch_s, query_.launch};
  for (std::size_t i = 0; i < header_.size(); ++i) {
    if (!used_[i] && !header_[i].empty()) table.ignored_columns.push_back(header_[i]);
  }
  return table;
}

bool RowReader::wanted() {
  if (!query_.gpu.empty() && column("gpu") && field("gpu") != query_.gpu) return false;
  for (const auto& [column, values] : query_.where) {
    const Fields accepted = split_fields(file_, place_, values, ',');
    if (std::find(accepted.begin(), accepted.end(), field(column)) == accepted.end()) return false;
  }
  return true;
}

TableRow RowReader::row() {
  TableRow out;
  out.line = place_;
  // A table of one GPU needs no column `gpu`.
  out.gpu = column("gpu") || query_.gpu.empty() ? field("gpu") : query_.gpu;
  Case& item = out.measured;
  item.kernel = query_.kernel.empty() ? field("kernel") : query_.kernel;
  item.cache = query_.cache;
  item.timing.samples_s = {time_s()};
  try {
    const KernelRef kernel = find_kernel(item.kernel);
    if (kernel.kernel == nullptr && !query_.families) {
      throw InputError(fmt::format("\"{}\" is a family: name a variant", item.kernel));
    }
    item.problem = problem(kernel);
  } catch (const PlacedError&) {
    throw;
  } catch (const InputError& error) {
    refuse(error.what(), "correct the row, or leave it out with `where`");
  }
  return out;
}

std::optional<std::size_t> RowReader::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  if (std::find(found + 1, header_.end(), name) != header_.end()) {
    refuse_place(file_, unit_, 1, fmt::format("two columns are named \"{}\"", name),
                 "rename or remove one of them");
  }
  return static_cast<std::size_t>(found - header_.begin());
}

const std::string& RowReader::field(std::string_view name) {
  if (const auto i = column(name)) {
    used_[*i] = true;
    return fields_[*i];
  }
  const bool has_option = name == "gpu" || name == "dtype" || name == "kernel";
  refuse_place(file_, unit_, 1, fmt::format("expected a column \"{}\", found none", name),
               fmt::format("the columns are {}{}", fmt::join(header_, ", "),
                           has_option ? fmt::format("; or give --{}", name) : ""));
}

double RowReader::time_s() {
  const std::string of_cache = fmt::format("{}_us", name(query_.cache));
  const std::string column_name = !column("time_us") && column(of_cache) ? of_cache : "time_us";
  const std::string& text = field(column_name);
  const auto value = number_of<double>(text);
  if (!value || *value <= 0) {
    refuse(fmt::format("expected a time above 0 in {}, found \"{}\"", column_name, text),
           "write it in microseconds");
  }
  return *value * 1e-6;
}

// "rows*cols*2"
std::int64_t RowReader::product(const std::string& expression) {
  std::int64_t value = 1;
  for (const std::string& factor : split_fields(file_, place_, expression, '*')) {
    const std::string& text = number_of<std::int64_t>(factor) ? factor : field(factor);
    const auto number = number_of<std::int64_t>(text);
    if (!number || __builtin_mul_overflow(value, *number, &value)) {
      throw InputError(fmt::format("expected an integer for {}, found \"{}\"", factor, text));
    }
  }
  return value;
}

Problem RowReader::problem(const KernelRef& kernel) {
  Problem out;
  const bool is_given = query_.dtype && !column("dtype");
  const auto dtype = is_given ? query_.dtype : parse_dtype(field("dtype"));
  if (!dtype) throw InputError(fmt::format("no element type \"{}\"", field("dtype")));
  out.dtype = *dtype;
  unsigned given = 0;
  std::size_t i = 0;
  for (const Parameter& parameter : kernel.parameters()) {
    const std::size_t position = i++;
    const auto set = std::find_if(query_.set.begin(), query_.set.end(),
                                  [&](const auto& entry) { return entry.first == parameter.name; });
    const bool is_set = set != query_.set.end();
    if (!is_set && (!column(parameter.name) || field(parameter.name).empty())) continue;
    const std::string source = is_set ? set->second : std::string(parameter.name);
    if (is_named(parameter)) {
      set_named_value(parameter, out, position, column(source) ? field(source) : source);
    } else {
      out[position] = product(source);
    }
    given |= 1U << position;
  }
  check(kernel, out, given);
  return out;
}

}  // namespace roofcast::validation
