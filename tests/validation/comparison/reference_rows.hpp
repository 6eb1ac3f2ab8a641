#pragma once
// Rows of a published table by the names of its columns, and how forecasts meet them.
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace roofcast::validation {

struct NamedRow {
  std::size_t position = 0;
  std::map<std::string, std::string> fields;

  const std::string& operator[](const char* name) const { return fields.at(name); }
  std::int64_t whole(const char* name) const { return std::stoll(fields.at(name)); }
  double real(const char* name) const { return std::stod(fields.at(name)); }
  bool even() const { return position % 2 == 0; }
};

inline std::vector<std::string> split_row(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, ',');) {
    if (word.ends_with('\r')) word.pop_back();
    words.push_back(word);
  }
  return words;
}

inline std::vector<NamedRow> reference_rows(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = split_row(line);
  std::vector<NamedRow> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> words = split_row(line);
    NamedRow& row = rows.emplace_back();
    row.position = rows.size() - 1;
    for (std::size_t i = 0; i < names.size() && i < words.size(); ++i)
      row.fields[names[i]] = words[i];
  }
  return rows;
}

/// Mean absolute error of time, and the share of rows inside the interval.
class Accuracy {
 public:
  void add(double expected_s, double low_s, double high_s, double measured_s) {
    sum_ += std::abs(expected_s / measured_s - 1);
    signed_sum_ += expected_s / measured_s - 1;
    inside_ += measured_s >= low_s && measured_s <= high_s ? 1 : 0;
    ++rows_;
  }
  double error() const { return sum_ / rows_; }
  double coverage() const { return inside_ / rows_; }
  double rows() const { return rows_; }
  void print(const std::string& name) const {
    std::printf("%-34s %4.0f rows: mean error %4.1f%% (mean %+5.1f%%), %3.0f%% in the interval\n",
                name.c_str(), rows_, 100 * error(), 100 * signed_sum_ / rows_, 100 * coverage());
  }

 private:
  double sum_ = 0, signed_sum_ = 0, inside_ = 0, rows_ = 0;
};

}  // namespace roofcast::validation
