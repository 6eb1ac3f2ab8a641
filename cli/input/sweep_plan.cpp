#include "cli/input/sweep_plan.hpp"

#include <fmt/format.h>

#include "cli/output/answer.hpp"
#include "cli/output/terminal.hpp"

namespace roofcast::cli {

KernelSweep plan_sweep(const KernelRef& kernel, const Options& options) {
  KernelSweep sweep;
  sweep.kernel = kernel;
  if (const auto list = options.find("dtype")) {
    for (const std::string& type : distinct("--dtype", split_list(*list, ','))) {
      sweep.dtypes.push_back(read_dtype(type, kernel));
    }
  } else {
    sweep.dtypes.push_back(default_dtype(kernel));
  }
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto text = options.find(parameters[i].name);
    if (!text && !parameters[i].fallback) {
      throw UsageError("{} needs --{}: {}", kernel.name(), parameters[i].name,
                       parameters[i].meaning);
    }
    if (!text) continue;
    sweep.given |= 1U << i;
    if (parameters[i].is_text) {
      read_value(parameters[i], *text, sweep.constants, i);
      continue;
    }
    sweep.axes.push_back(parse_axis(parameters[i], *text));
    sweep.positions.push_back(i);
  }
  return sweep;
}

void walk(const KernelSweep& sweep, std::size_t repeats,
          const std::function<void(const Problem&)>& visit) {
  const Points points(sweep.axes, repeats);
  std::vector<std::int64_t> values(sweep.axes.size());
  for (const DType dtype : sweep.dtypes) {
    for (std::size_t index = 0; index < points.count(); ++index) {
      stop_if_interrupted();
      points.at(index, values);
      Problem problem = sweep.constants;
      problem.dtype = dtype;
      for (std::size_t i = 0; i < values.size(); ++i) problem[sweep.positions[i]] = values[i];
      visit(problem);
    }
  }
}

}  // namespace roofcast::cli
