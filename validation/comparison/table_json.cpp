#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hw_specs/checked_json.hpp"
#include "validation/comparison/table_rows.hpp"

namespace roofcast::validation {
namespace {

using Json = nlohmann::json;

constexpr specs::FileKind kTable = {std::size_t{1} << 30U, "write an array of objects"};

/// The value as a CSV field: 4096.0 becomes "4096".
std::string field_of(const std::string& file, std::size_t row, const std::string& column,
                     const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_integer()) return value.dump();
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  refuse_place(file, "row", row, fmt::format("\"{}\" holds a list or an object", column),
               "write a number, a text, true or false");
}

Fields columns_of(const std::string& file, const Json& rows) {
  Fields header;
  std::size_t place = 1;
  for (const Json& row : rows) {
    if (!row.is_object()) {
      refuse_place(file, "row", place, "expected an object", "write {\"m\": 4096, …} for each row");
    }
    for (const auto& member : row.items()) {
      if (std::find(header.begin(), header.end(), member.key()) == header.end()) {
        header.push_back(member.key());
      }
    }
    ++place;
  }
  return header;
}

}  // namespace

Table parse_json_table(const std::string& file, const std::string& text, const TableQuery& query) {
  const Json rows = specs::parse_checked(file, text, kTable);
  if (!rows.is_array()) {
    throw InputError(fmt::format(
        "{}: expected an array of objects. Mend: write [{{\"kernel\": …, \"time_us\": …}}, …].",
        file));
  }
  const Fields header = columns_of(file, rows);
  RowReader reader(file, "row", query, header);
  std::size_t place = 1;
  for (const Json& row : rows) {
    Fields fields;
    for (const std::string& column : header) {
      const auto found = row.find(column);
      fields.push_back(found == row.end() ? "" : field_of(file, place, column, *found));
    }
    reader.read(place++, std::move(fields));
  }
  return reader.finish();
}

}  // namespace roofcast::validation
