#pragma once
#include <pybind11/pybind11.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/output/answer.hpp"

namespace roofcast::python {

/// A table of forecasts by column, as pandas takes it: the columns of the command's CSV.
class Columns {
 public:
  /// `parameters` have columns of their own: those of all kernels asked about.
  explicit Columns(std::vector<std::string> parameters);
  /// Adds a forecast, or a refusal; None where it has no such value.
  void row(const cli::Candidate& candidate);
  /// {title: list}, which leaves nothing here.
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
