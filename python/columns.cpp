#include "python/columns.hpp"

#include <cmath>

#include "cli/output/figures.hpp"
#include "hw_specs/calibration_words.hpp"
#include "model/types/parameter_text.hpp"

namespace roofcast::python {
namespace py = pybind11;
namespace {

py::str text(std::string_view word) {
  return {word.data(), word.size()};
}

/// The value's name; None without a value.
template <class Named>
py::object name_of(const std::optional<Named>& named) {
  return named ? py::object(text(name(*named))) : py::none();
}

}  // namespace

Columns::Columns(std::vector<std::string> parameters) : parameters_(std::move(parameters)) {
  for (const char* title : {"kernel", "gpu"}) add(title);
  for (const std::string& parameter : parameters_) add(parameter);
  add("dtype");
  for (const cli::Figure& figure : cli::figures()) add(figure.title);
  for (const char* title :
       {"limited_by", "limit_bound", "bound", "calibration", "notes", "error"}) {
    add(title);
  }
}

void Columns::row(const cli::Candidate& candidate) {
  next_ = 0;
  const auto& [kernel, problem, gpu, prediction, refusal, expense] = candidate;
  put(text(kernel.name()));
  put(text(gpu->name));
  put_parameters(kernel, prediction ? prediction->problem : problem);
  put(text(name(problem.dtype)));
  for (const cli::Figure& figure : cli::figures()) {
    const double value = prediction ? figure.value(*prediction) : NAN;
    put(std::isfinite(value) ? py::object(py::float_(value)) : py::none());
  }
  put_bounds(prediction);
  put(text(specs::calibration_word(*gpu)));
  put(text(prediction ? fmt::format("{}", fmt::join(prediction->notes, "; ")) : ""));
  put(refusal.empty() ? py::object(py::none()) : text(refusal));
}

py::dict Columns::take() {
  py::dict columns;
  for (auto& [title, values] : columns_) columns[text(title)] = std::move(values);
  return columns;
}

void Columns::add(std::string_view title) {
  columns_.emplace_back(title, py::list());
}

void Columns::put(const py::object& value) {
  columns_[next_++].second.append(value);
}

void Columns::put_parameters(const KernelRef& kernel, const Problem& problem) {
  const auto known = kernel.parameters();
  for (const std::string& parameter : parameters_) {
    const auto position = position_named(known, parameter);
    if (!position) {
      put(py::none());
    } else if (is_named(known[*position])) {
      put(text(named_value(known[*position], problem, *position)));
    } else {
      put(py::int_(problem[*position]));
    }
  }
}

void Columns::put_bounds(const std::optional<Prediction>& prediction) {
  std::optional<OccupancyLimiter> limiter;
  std::optional<Resource> limit;
  std::optional<Resource> time;
  if (prediction) {
    if (prediction->occupancy) limiter = prediction->occupancy->limited_by;
    limit = binding(prediction->limit.terms);
    if (prediction->time) time = binding(prediction->time->terms);
  }
  put(name_of(limiter));
  put(name_of(limit));
  put(name_of(time));
}

}  // namespace roofcast::python
