#pragma once
// Reads the rows of a table of measurements (CSV or JSON): fields under the columns of a header.
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.hpp"
#include "validation/comparison/table.hpp"

namespace roofcast::validation {

using Fields = std::vector<std::string>;

/// An InputError that names its place in the table.
struct PlacedError : InputError {
  using InputError::InputError;
};

/// Throws PlacedError: "FILE: at line 3: PROBLEM. Mend: MEND."
[[noreturn]] void refuse_place(const std::string& file, std::string_view unit, std::size_t place,
                               const std::string& problem, const std::string& mend);

/// Reads a table row by row. An empty field is a missing value.
class RowReader {
 public:
  /// `unit` is what places are counted in: "line" or "row".
  RowReader(const std::string& file, std::string_view unit, const TableQuery& query, Fields header);

  /// Reads the row at `place` if the query wants it.
  void read(std::size_t place, Fields fields);
  /// The rows read. Throws PlacedError if there is none.
  Table finish();

 private:
  bool wanted();
  TableRow row();
  /// Throws PlacedError where two columns have that name.
  std::optional<std::size_t> column(std::string_view name) const;
  const std::string& field(std::string_view name);
  [[noreturn]] void refuse(const std::string& problem, const std::string& mend) const;
  double time_s();
  std::int64_t product(const std::string& expression);
  Problem problem(const KernelRef& kernel);

  const std::string& file_;
  std::string_view unit_;
  const TableQuery& query_;
  Fields header_;
  std::vector<bool> used_;
  Fields fields_;
  std::size_t place_ = 1;
  std::vector<TableRow> rows_;
};

/// Splits at the separators, except within quotation marks. Throws as refuse_place.
Fields split_fields(const std::string& file, std::size_t line, const std::string& text,
                    char separator);

}  // namespace roofcast::validation
