#pragma once
// Rows of a published table by the names of its columns, for the programs that fit to them.
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "hw_specs/loader.hpp"

namespace roofcast::validation {

using Fields = std::map<std::string, std::string>;

inline std::vector<std::string> split_fields(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> fields;
  for (std::string field; std::getline(in, field, ',');) {
    if (field.ends_with('\r')) field.pop_back();
    fields.push_back(field);
  }
  return fields;
}

/// Every row in order; none where there is no such file.
inline std::vector<Fields> named_rows(const char* path) {
  std::ifstream in(path);
  std::vector<Fields> rows;
  std::string line;
  std::getline(in, line);
  const auto names = split_fields(line);
  while (std::getline(in, line)) {
    const auto values = split_fields(line);
    Fields& row = rows.emplace_back();
    for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) row[names[i]] = values[i];
  }
  return rows;
}

/// A shipped GPU with its calibration.
inline Gpu shipped_gpu(const std::string& name) {
  const specs::Embedded* found = specs::find_embedded(name);
  specs::Source source;
  source.file = name;
  source.text = found->text;
  source.overlay_file = found->overlay_text.empty() ? "" : name;
  source.overlay_text = found->overlay_text;
  return specs::load(source);
}

}  // namespace roofcast::validation
