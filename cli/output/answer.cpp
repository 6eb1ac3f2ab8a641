#include "cli/output/answer.hpp"

#include "model/types/parameter_text.hpp"

namespace roofcast::cli {

std::string problem_text(const KernelRef& kernel, const Problem& problem) {
  std::string text;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    text += fmt::format("{}={} ", parameters[i].name, quoted_value_text(parameters[i], problem, i));
  }
  return text.append(name(problem.dtype));
}

ExitCode refusals_reported(std::size_t count) {
  if (count == 0) return ExitCode::done;
  warn(fmt::format("{} no forecast: the output says why",
                   count == 1 ? "1 point has" : fmt::format("{} points have", count)));
  return ExitCode::bad_input;
}

}  // namespace roofcast::cli
