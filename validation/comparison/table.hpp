#pragma once
// Published measurements: a CSV whose columns are kernel parameters, gpu, dtype and time_us.
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
  std::string kernel;  ///< for every row; empty: the table has a column `kernel`
  std::string gpu;     ///< only rows of that GPU, or of all where no column `gpu` is; empty: all
  /// Only rows where a column has one of these values: {"op", "relu,gelu"}.
  std::vector<std::pair<std::string, std::string>> where;
  /// A parameter as a product of columns and integers, {"n", "rows*cols"}; one that is given by
  /// name as a column or the name itself: {"pass", "backward"}.
  std::vector<std::pair<std::string, std::string>> set;
  /// How libraries are mostly timed: many launches back to back.
  CacheState cache = CacheState::steady;
  std::optional<LaunchMode> launch{};  ///< how; absent: as launch_costs has it
  /// What timing one launch took in the table, in place of the device's own launch cost (s).
  std::optional<double> launch_s{};
  bool families = false;  ///< a kernel may be a family: then its limit alone is asked for
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
  std::optional<double> launch_s{};          ///< of the query
  std::optional<LaunchMode> launch{};        ///< of the query
};

/// The device where each launch costs `launch_s`, whoever submits it: how a table was timed is not
/// the device's.
Gpu with_launch_cost(Gpu gpu, double launch_s);

/// Throws InputError naming the file, the line, the column and the mend.
Table parse_table(const std::string& file, const std::string& text, const TableQuery& query);

/// The same of a JSON array of objects, whose members are the columns; `line` counts the objects
/// from 1.
Table parse_json_table(const std::string& file, const std::string& text, const TableQuery& query);

/// Forecasts every row; `find_gpu` gives null for a name it does not know. Rows without a forecast
/// become failures.
Comparison compare_table(const std::string& file, const Table& table,
                         const std::function<const Gpu*(std::string_view)>& find_gpu);

}  // namespace roofcast::validation
