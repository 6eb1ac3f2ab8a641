#pragma once
// Published times of a framework's row and elementwise kernels, on GPUs that this project cannot
// run on, split into rows to fit constants to and rows to test forecasts with.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validation/runs/run.hpp"

namespace roofcast::validation {

/// Operations of the table and the kernel that represents them.
struct ReferenceOperation {
  std::string_view ops;     ///< in the table's column op: "add,mul"
  std::string_view group;   ///< errors are reported by group
  std::string_view kernel;  ///< its plan has the framework's bytes and blocks
  bool by_elements;         ///< n = rows·cols; otherwise rows and cols
};
std::span<const ReferenceOperation> reference_operations();

/// Launch cost (s) in the table beyond the kernel: each launch was timed alone, by the framework's
/// profiler, with L2 full of the previous launch's writes. A property of the table, not of a GPU.
double reference_launch_s();

struct ReferenceRow {
  std::string_view group;
  Case measured;
  std::size_t line = 0;
  bool fitted = false;  ///< to fit constants to: rows 1, 3, … of its operation
};

/// The rows of one GPU, in the order of the operations, of a table with the columns gpu, dtype, op,
/// rows, cols and time_us. Operations are fp32 and were timed repeatedly: CacheState::steady.
/// Throws InputError as parse_table does.
std::vector<ReferenceRow> reference_rows(const std::string& file, const std::string& text,
                                         std::string_view gpu);

}  // namespace roofcast::validation
