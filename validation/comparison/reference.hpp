#pragma once
// Published measurements of a framework's kernels over rows and elements, on GPUs that this project
// cannot run on: the rows to fit constants to and the rows to hold the forecast against.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validation/runs/run.hpp"

namespace roofcast::validation {

/// Operations of the table and the kernel that stands for them.
struct ReferenceOperation {
  std::string_view ops;     ///< in the table's column op: "add,mul"
  std::string_view group;   ///< errors are reported by group
  std::string_view kernel;  ///< launched as the framework launches it: the same bytes and blocks
  bool by_elements;         ///< n = rows·cols; otherwise rows and cols
};
std::span<const ReferenceOperation> reference_operations();

/// What a launch takes in the table beyond the kernel (s): each was timed alone, by the framework's
/// profiler, with L2 full of what the launch before wrote. A condition of the table, not of a GPU.
double reference_launch_s();

struct ReferenceRow {
  std::string_view group;
  Case measured;
  std::size_t line = 0;
  bool fitted = false;  ///< constants may be fitted to it: the first, third … row of its kernel
};

/// The rows of one GPU of a table with the columns gpu, dtype, op, rows, cols and time_us (fp32
/// operations timed one by one, over and over: steady), in the order of the operations. Throws
/// InputError as parse_table does.
std::vector<ReferenceRow> reference_rows(const std::string& file, const std::string& text,
                                         std::string_view gpu);

}  // namespace roofcast::validation
