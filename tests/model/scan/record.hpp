#pragma once
// Records of the program's answers, which show what a change of the model changes; a recorded value
// is not thereby right. The first line names the columns.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace roofcast::testing {

inline std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found;
  std::istringstream rest(line);
  for (std::string cell; std::getline(rest, cell, ',');) found.push_back(cell);
  return found;
}

/// Whether lines agree, but for what compilers round differently.
inline bool same(const std::string& recorded, const std::string& now) {
  if (recorded == now) return true;
  char* end = nullptr;
  const double a = std::strtod(recorded.c_str(), &end);
  if (end == recorded.c_str() || *end != '\0') return false;
  const double b = std::strtod(now.c_str(), &end);
  return std::abs(a - b) <= 1e-9 * std::abs(a);
}

/// Holds the lines against the record of that name in this folder, or writes it where the
/// environment has ROOFCAST_RECORD_FORECASTS.
inline void expect_as_recorded(const std::string& record, const std::vector<std::string>& now) {
  const std::string path = ROOFCAST_RECORDS + ("/" + record);
  if (std::getenv("ROOFCAST_RECORD_FORECASTS") != nullptr) {
    std::ofstream file(path);
    for (const std::string& line : now) file << line << '\n';
    ASSERT_TRUE(file.flush()) << "cannot write " << path;
    return;
  }
  std::ifstream file(path);
  std::vector<std::string> recorded;
  for (std::string line; std::getline(file, line);) recorded.push_back(line);
  ASSERT_EQ(recorded.size(), now.size()) << "other questions than in " << path;
  const std::vector<std::string> columns = cells(now.front());
  std::size_t changed = 0;
  std::string first;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const auto before = cells(recorded[i]);
    const auto after = cells(now[i]);
    std::string differences;
    for (std::size_t c = 0; c < std::max(before.size(), after.size()); ++c) {
      const std::string was = c < before.size() ? before[c] : "";
      const std::string is = c < after.size() ? after[c] : "";
      const std::string column = c < columns.size() ? columns[c] : columns.back();
      if (!same(was, is)) differences += " " + column + " " + was + " -> " + is;
    }
    if (differences.empty()) continue;
    constexpr std::size_t kShown = 20;
    if (++changed <= kShown) first += "\n  " + after[0] + " " + after[1] + ":" + differences;
  }
  EXPECT_EQ(changed, 0U) << changed << " of " << now.size()
                         << " lines differ from the record; the first:" << first
                         << "\nIf that is meant, write the record again (forecasts_test.cpp)";
}

}  // namespace roofcast::testing
