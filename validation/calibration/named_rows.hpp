#pragma once
// Rows of a published CSV table by column name, for fits and comparisons.
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "validation/comparison/table_rows.hpp"

namespace roofcast::validation {

using NamedFields = std::map<std::string, std::string>;

/// Every row in order. Throws InputError as split_fields.
inline std::vector<NamedFields> named_rows(const std::string& file, const std::string& text) {
  std::istringstream in(text);
  std::size_t number = 0;
  std::string line;
  const auto next = [&] {
    ++number;
    if (!std::getline(in, line)) return false;
    if (line.ends_with('\r')) line.pop_back();
    return true;
  };
  std::vector<NamedFields> rows;
  if (!next()) return rows;
  const auto names = split_fields(file, number, line, ',');
  while (next()) {
    const auto values = split_fields(file, number, line, ',');
    NamedFields& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) row[names[i]] = values[i];
  }
  return rows;
}

}  // namespace roofcast::validation
