#include <algorithm>
#include <cmath>

#include "model/described/kernel.hpp"
#include "model/types/did_you_mean.hpp"

namespace roofcast::described {
namespace {

constexpr double kMost = 1e24;  // more FLOPs or bytes than any launch has

std::size_t position_of(const std::string& name, std::span<const std::string> parameters) {
  if (name == kElementBytes) return Problem::kMaxParameters;
  const auto found = std::find(parameters.begin(), parameters.end(), name);
  if (found != parameters.end()) return static_cast<std::size_t>(found - parameters.begin());
  std::vector<std::string_view> known(parameters.begin(), parameters.end());
  known.push_back(kElementBytes);
  const std::string_view near = closest(name, known);
  throw InputError("no parameter is named '" + name + "'" +
                   (near.empty() ? "" : ": did you mean '" + std::string(near) + "'?"));
}

}  // namespace

Quantity::Quantity(std::string_view text, std::span<const std::string> parameters)
    : expression_(expression::parse(text)) {
  const auto is_reduction = [](const auto& node) { return expression::is_reduction(node.op); };
  if (!expression_.statements.front().name.empty() ||
      std::any_of(expression_.nodes.begin(), expression_.nodes.end(), is_reduction)) {
    throw InputError(
        "a value of a kernel file is one expression of numbers and parameters: no '=', "
        "and no sum, mean, amax or amin");
  }
  for (const std::string& name : expression_.inputs) {
    positions_.push_back(position_of(name, parameters));
  }
}

double Quantity::value(const Problem& problem, std::string_view what) const {
  std::vector<double> values;
  values.reserve(expression_.nodes.size());
  for (const expression::Node& node : expression_.nodes) {
    if (node.op == expression::Op::number) {
      values.push_back(node.value);
    } else if (node.op == expression::Op::input) {
      const std::size_t at = positions_[node.a];
      values.push_back(at == Problem::kMaxParameters ? size_bytes(problem.dtype)
                                                     : static_cast<double>(problem[at]));
    } else {
      values.push_back(expression::evaluate(node.op, values[node.a], values[node.b]));
    }
  }
  const double result = values[expression_.statements.front().node];
  if (std::isfinite(result) && result >= 0 && result <= kMost) return result;
  throw InputError(std::string(what) + " = " + expression::print(expression_) +
                   " is negative, beyond 1e24 or no number for these parameters: correct the "
                   "expression, or the parameters");
}

}  // namespace roofcast::described
