#include <algorithm>
#include <array>

#include "cli/input/kernel_options.hpp"
#include "cli/input/query_fields.hpp"
#include "cli/input/sweep_plan.hpp"
#include "cli/output/figures.hpp"
#include "model/types/parameter_text.hpp"
#include "python/bindings.hpp"
#include "python/columns.hpp"
#include "python/field.hpp"

namespace roofcast::python {
namespace py = pybind11;
namespace {

constexpr const char* kDoc =
    "columns(kernels, gpus, options) -> (figures, columns)\n\n"
    "Forecasts of every combination: titles of the columns that are numbers, and {title: list}.\n"
    "options are those of `roofcast sweep` by name: a value, a text of values, or an iterable.";

const Parameter* find_parameter(std::span<const KernelRef> kernels, std::string_view name) {
  for (const KernelRef& kernel : kernels) {
    for (const Parameter& one : kernel.parameters()) {
      if (one.name == name) return &one;
    }
  }
  return nullptr;
}

/// One value as text for the command line. A parameter's value is checked first.
std::string value_text_of(py::handle key, py::handle value, const Parameter* parameter) {
  if (PyUnicode_Check(value.ptr())) return value.cast<std::string>();
  cli::QueryField field;
  read_field(key, value, field);
  if (parameter == nullptr) return py::str(value).cast<std::string>();
  Problem problem;
  unsigned given = 0;
  cli::read_parameter(field, {parameter, 1}, problem, given);
  return value_text(*parameter, problem, 0);
}

/// "256,512" for an iterable; the text of one value for anything else.
std::string values_text(py::handle key, py::handle value, const Parameter* parameter) {
  if (PyUnicode_Check(value.ptr()) || !py::isinstance<py::iterable>(value)) {
    return value_text_of(key, value, parameter);
  }
  std::string joined;
  for (const py::handle one : value) {
    joined.append(joined.empty() ? "" : ",").append(value_text_of(key, one, parameter));
  }
  if (joined.empty()) {
    throw InputError(
        py::str("'{}' has no values: give one at least").format(key).cast<std::string>());
  }
  return joined;
}

cli::Options read_options(const py::dict& given, std::span<const KernelRef> kernels) {
  constexpr std::array<std::string_view, 5> kAssumptions = {"dtype", "cache", "launch", "sm-clock",
                                                            "worked"};
  cli::Options options;
  for (const auto& [key, value] : given) {
    if (value.is_none()) continue;
    const std::string name = key.cast<std::string>();
    const Parameter* parameter = find_parameter(kernels, name);
    if (parameter == nullptr &&
        std::find(kAssumptions.begin(), kAssumptions.end(), name) == kAssumptions.end()) {
      cli::refuse_unknown(kernels.front(), name);
    }
    options.add(name, {values_text(key, value, parameter)});
  }
  return options;
}

/// The forecast of one point, or its refusal. Ends the sweep at a signal such as Ctrl-C.
cli::Candidate forecast(const cli::KernelSweep& sweep, const Problem& problem, const Gpu& gpu,
                        const Assumptions& assumptions) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  cli::Candidate point{sweep.kernel, problem, &gpu, {}, {}};
  try {
    check(sweep.kernel, point.problem, sweep.given);
    point.prediction = predict(sweep.kernel, point.problem, gpu, assumptions);
  } catch (const InputError& error) {
    point.refusal = error.what();
  }
  return point;
}

py::tuple columns_of(Names& names, const py::list& kernel_list, const py::list& gpu_list,
                     const py::dict& given) {
  std::vector<KernelRef> kernels;
  for (const py::handle one : kernel_list) kernels.push_back(names.kernel(one));
  std::vector<std::shared_ptr<Device>> devices;
  for (const py::handle one : gpu_list) devices.push_back(names.device(one));
  if (kernels.empty()) throw InputError("which kernel? roofcast.kernels() lists them");
  if (devices.empty()) throw InputError("which GPU? roofcast.gpus() lists them");

  const cli::Options options = read_options(given, kernels);
  const Assumptions assumptions = cli::read_assumptions(options);
  std::vector<cli::KernelSweep> sweeps;
  std::size_t repeats = 0;
  for (const KernelRef& kernel : kernels) {
    sweeps.push_back(cli::plan_sweep(kernel, options));
    repeats += sweeps.back().dtypes.size() * devices.size();
  }

  Columns columns(cli::parameter_names(kernels));
  std::string refusal;
  bool any = false;
  for (const auto& device : devices) {
    for (const cli::KernelSweep& sweep : sweeps) {
      cli::walk(sweep, repeats, [&](const Problem& problem) {
        const cli::Candidate point = forecast(sweep, problem, device->gpu, assumptions);
        any = any || point.prediction;
        if (refusal.empty()) refusal = point.refusal;
        columns.row(point);
      });
    }
  }
  if (!any) throw InputError(refusal);
  py::list figures;
  for (const cli::Figure& figure : cli::figures())
    figures.append(py::str(std::string(figure.title)));
  return py::make_tuple(figures, columns.take());
}

}  // namespace

void bind_sweep(py::module_& module, std::shared_ptr<Names> names) {
  module.def(
      "columns",
      [names = std::move(names)](const py::list& kernels, const py::list& gpus,
                                 const py::dict& options) {
        return columns_of(*names, kernels, gpus, options);
      },
      kDoc, py::arg("kernels"), py::arg("gpus"), py::arg("options"));
}

}  // namespace roofcast::python
