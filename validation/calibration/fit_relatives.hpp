#pragma once
// How good a forecast from a relative's constants is: each measured GPU left out in turn.
#include <span>
#include <string>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/comparison/reference.hpp"

namespace roofcast::validation {

/// The device of that name by its own datasheet, with the constants of the nearest GPU that this
/// project measured, itself left out; the interval as wide as there. Throws InputError for a name
/// that is none's, and where no other GPU was measured.
Gpu left_out(const std::string& name);

/// What the forecasts of a left-out GPU showed.
struct LeftOut {
  std::string gpu;
  std::string relative;
  bool same_die = false;
  std::size_t cases = 0;
  double mean_absolute_error = 0;  ///< of time, relative
  /// By how much the relative's half-widths have to grow to hold as large a share of the measured
  /// times as half-widths are made to hold where a GPU is calibrated: 95%. At least 1.
  double widening = 1;
};

/// Rows of one GPU, forecast as left_out(name) says. Throws InputError without rows.
LeftOut judge(const Gpu& gpu, std::span<const Row> rows);

/// The rows of a published table that nothing was fitted to, forecast for the left-out GPU with the
/// table's launch cost.
std::vector<Row> held_out_rows(std::span<const ReferenceRow> rows, const Gpu& gpu);

/// Rows of a table, with the device as left out.
struct TableOfGpu {
  Gpu gpu;
  std::vector<ReferenceRow> rows;
};

/// The one launch cost (s) that makes the mean |log(predicted ÷ measured)| of the rows to fit to
/// least, each row counting the same.
double fit_table_launch_s(std::span<const TableOfGpu> tables);

}  // namespace roofcast::validation
