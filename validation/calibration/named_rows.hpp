#pragma once
// Rows of a published CSV table by column name, for fits and comparisons.
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "validation/comparison/table_rows.hpp"

namespace roofcast::validation {

struct NamedRow {
  std::size_t position = 0;  ///< from 0, the header not counted
  std::map<std::string, std::string> fields;

  const std::string& operator[](const char* name) const { return fields.at(name); }
  std::int64_t whole(const char* name) const { return std::stoll(fields.at(name)); }
  double real(const char* name) const { return std::stod(fields.at(name)); }
  bool even() const { return position % 2 == 0; }
};

/// Every row in order. Throws InputError as split_fields.
inline std::vector<NamedRow> named_rows(const std::string& file, const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> names;
  std::vector<NamedRow> rows;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    const auto values = split_fields(file, number, line, ',');
    if (number == 1) {
      names = values;
      continue;
    }
    NamedRow& row = rows.emplace_back(NamedRow{rows.size(), {}});
    for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
      row.fields[names[i]] = values[i];
    }
  }
  return rows;
}

}  // namespace roofcast::validation
