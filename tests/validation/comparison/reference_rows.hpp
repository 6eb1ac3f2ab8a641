#pragma once
// Rows of a published table by the names of its columns, and how forecasts meet them.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "validation/calibration/named_rows.hpp"

namespace roofcast::validation {

inline std::vector<NamedRow> reference_rows(const std::string& text) {
  return named_rows("reference table", text);
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
  void add(const Accuracy& other) {
    sum_ += other.sum_;
    signed_sum_ += other.signed_sum_;
    inside_ += other.inside_;
    rows_ += other.rows_;
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
