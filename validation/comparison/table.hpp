#pragma once
// Published measurements: a CSV whose columns are kernel parameters, gpu, dtype and time_us. A
// table of several cache states has a column for each, as cold_us, in place of time_us.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/comparison/compare.hpp"

namespace roofcast::validation {

/// How to read a table whose columns are not all named as a kernel's parameters.
struct TableQuery {
  std::string kernel;  ///< kernel of all rows; empty: from the column `kernel`
  std::string gpu;  ///< reads only this GPU's rows, or all if there is no column `gpu`; empty: all
  std::optional<DType> dtype{};  ///< element type of all rows, if there is no column `dtype`
  /// Reads only rows whose column has one of these values: {"op", "relu,gelu"}.
  std::vector<std::pair<std::string, std::string>> where;
  /// Sets a parameter to a product of columns and integers, {"n", "rows*cols"}; a parameter whose
  /// values have names, to a column or to a name: {"pass", "backward"}.
  std::vector<std::pair<std::string, std::string>> set;
  /// Cache state of all rows; libraries are mostly timed by many launches back to back.
  CacheState cache = CacheState::steady;
  std::optional<LaunchMode> launch{};  ///< launch mode; absent: as launch_costs chooses
  /// Launch cost in the table (s), in place of the device's own.
  std::optional<double> launch_s{};
  bool families = false;  ///< accepts a family as kernel, if only limits are needed
};

/// "name=value" for `where` and `set`. Throws InputError.
std::pair<std::string, std::string> parse_assignment(const std::string& text);

struct TableRow {
  std::string gpu;
  Case measured;
  std::size_t line = 0;  ///< in the file, from 1
};

struct Table {
  std::vector<TableRow> rows;
  std::vector<std::string> ignored_columns;  ///< present, but no parameter of the kernel
  std::optional<double> launch_s{};          ///< as in the query
  std::optional<LaunchMode> launch{};        ///< as in the query
};

/// `gpu` with `launch_s` as the cost of each launch, in every launch mode: the cost comes from how
/// a table was timed, not from the device.
Gpu with_launch_cost(Gpu gpu, double launch_s);

/// Parses a CSV. Throws InputError naming the file, the line, the column and the mend.
Table parse_table(const std::string& file, const std::string& text, const TableQuery& query);

/// Parses a JSON array of objects, whose members are the columns; `line` counts objects from 1.
Table parse_json_table(const std::string& file, const std::string& text, const TableQuery& query);

/// The GPU of that name; null if there is none.
using FindGpu = std::function<const Gpu*(std::string_view)>;

/// Forecasts and compares every row. Throws InputError at a GPU that is not found; rows without a
/// forecast become failures.
Comparison compare_table(const std::string& file, const Table& table, const FindGpu& find_gpu);

}  // namespace roofcast::validation
