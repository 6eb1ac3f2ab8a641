#pragma once
// Finds impossible measurements: times below their limit.
#include <string>
#include <vector>

#include "validation/comparison/table.hpp"

namespace roofcast::validation {

/// One measurement beside its limit.
struct CheckedRow {
  std::size_t place = 0;  ///< line of the table, or position in the run, from 1
  std::string gpu;
  std::string kernel;
  std::string problem_text;  ///< "m=4096 n=4096 k=4096 bf16"
  CacheState cache = CacheState::steady;
  double measured_s = 0;  ///< the fastest sample
  double limit_s = 0;
  Resource bound = Resource::launch;  ///< resource that sets the limit

  /// Limit ÷ measurement: above 1 the time is impossible.
  double times_too_fast() const { return limit_s / measured_s; }
  bool impossible() const { return measured_s < limit_s; }
};

/// A row that has no limit, and why.
struct UncheckedRow {
  std::size_t place = 0;
  std::string kernel;
  std::string reason;
};

struct TableCheck {
  std::vector<CheckedRow> rows;
  std::vector<std::size_t> impossible;  ///< indices into rows, the largest times_too_fast first
  std::vector<UncheckedRow> unchecked;
};

TableCheck check_table(const Table& table, const FindGpu& find_gpu);
TableCheck check_run(const Run& run, const Gpu& gpu);

}  // namespace roofcast::validation
