#pragma once
#include <pybind11/pybind11.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/output/answer.hpp"

namespace roofcast::python {

/// A table of forecasts by column, as pandas takes it, with the columns of the command's CSV.
class Columns {
 public:
  /// `parameters` are those of all kernels in the table; each has a column.
  explicit Columns(std::vector<std::string> parameters);
  /// Adds a row: a forecast or a refusal, with None for values that it does not have.
  void row(const cli::Candidate& candidate);
  /// Moves the columns out as {title: list}; call it once, at the end.
  pybind11::dict take();

 private:
  void add(std::string_view title);
  void put(const pybind11::object& value);
  void put_parameters(const KernelRef& kernel, const Problem& problem);
  void put_bounds(const std::optional<Prediction>& prediction);

  std::vector<std::string> parameters_;
  std::vector<std::pair<std::string, pybind11::list>> columns_;
  std::size_t next_ = 0;
};

}  // namespace roofcast::python
