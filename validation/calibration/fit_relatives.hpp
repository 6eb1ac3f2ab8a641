#pragma once
// Error of forecasts from a relative's constants: leave-one-out over the measured GPUs.
#include <span>
#include <string>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/comparison/reference.hpp"

namespace roofcast::validation {

/// The GPU `name` with its own datasheet and the sustained values and half-widths of the nearest
/// other measured GPU. Throws InputError for an unknown name and if no other GPU was measured.
Gpu left_out(const std::string& name);

/// Errors of the forecasts of a left-out GPU.
struct LeftOut {
  std::string gpu;
  std::string relative;
  bool same_die = false;
  std::size_t cases = 0;
  double mean_absolute_error = 0;  ///< of time, relative
  /// Factor on the relative's half-widths with which they hold 95% of the measured times, as
  /// fit_reference's do. At least 1.
  double widening = 1;
};

/// Judges the rows of one GPU that were forecast for left_out(name). Throws InputError without
/// rows.
LeftOut judge(const Gpu& gpu, std::span<const Row> rows);

/// The rows of a published table that are not marked `fitted`, forecast for the left-out GPU with
/// the table's launch cost.
std::vector<Row> held_out_rows(std::span<const ReferenceRow> rows, const Gpu& gpu);

/// Rows of a table and the left-out GPU that they are forecast for.
struct TableOfGpu {
  Gpu gpu;
  std::vector<ReferenceRow> rows;
};

/// The launch cost (s), common to all tables, that minimizes the mean |log(predicted ÷ measured)|
/// of the rows marked `fitted`.
double fit_table_launch_s(std::span<const TableOfGpu> tables);

}  // namespace roofcast::validation
