#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/common/tolerance.hpp"
#include "kernels/expression/reference.hpp"

namespace roofcast::cuda::expr {
namespace {

using expression::Expression;
using expression::Node;
using expression::Op;

constexpr int kSamples = 512;
constexpr double kSafety = 4;          // beyond first order, and beyond the samples
constexpr double kFunction = 0x1p-21;  // of a special function, absolute or relative
constexpr double kArithmetic = 0x1p-23;

// A value and a bound on its error.
struct Bounded {
  double value = 0;
  double error = 0;
};

// |∂op/∂a|·error of a + |∂op/∂b|·error of b.
double carried(Op op, const Bounded& a, const Bounded& b, double value) {
  switch (op) {
    case Op::add:
    case Op::subtract:
      return a.error + b.error;
    case Op::multiply:
      return std::abs(b.value) * a.error + std::abs(a.value) * b.error;
    case Op::divide:
      return (a.error + std::abs(value) * b.error) / std::abs(b.value);
    case Op::power:
      return std::abs(b.value * value / a.value) * a.error +
             (b.error > 0 ? std::abs(value * std::log(a.value)) * b.error : 0);
    case Op::exp:
      return value * a.error;
    case Op::log:
      return a.error / std::abs(a.value);
    case Op::sqrt:
      return a.error / (2 * value);
    case Op::rsqrt:
      return a.error * value / (2 * a.value);
    case Op::sin:
      return std::abs(std::cos(a.value)) * a.error;
    case Op::cos:
      return std::abs(std::sin(a.value)) * a.error;
    case Op::tanh:
      return (1 - value * value) * a.error;
    case Op::sigmoid:
      return value * (1 - value) * a.error;
    case Op::relu:
      return a.value + a.error < 0 ? 0 : a.error;
    case Op::min:
    case Op::max:
      if (std::abs(a.value - b.value) < a.error + b.error) return std::max(a.error, b.error);
      return value == a.value ? a.error : b.error;
    default:  // the sign
      return a.error;
  }
}

double own_error(Op op, double value) {
  if (op >= Op::power && op <= Op::sigmoid) return kFunction * std::max(1.0, std::abs(value));
  return kArithmetic * std::abs(value);
}

}  // namespace

int depth(const Expression& expression) {
  int now = 0, most = 0;
  for (const Node& node : expression.nodes) {
    now += 1 - operands(node.op);
    most = std::max(most, now);
  }
  return most;
}

bool wants_positive(const Expression& expression) {
  return std::any_of(expression.nodes.begin(), expression.nodes.end(), [&](const Node& node) {
    switch (node.op) {
      case Op::log:
      case Op::sqrt:
      case Op::rsqrt:
        return true;
      case Op::divide:
        return expression.nodes[node.b].op != Op::number;
      case Op::power: {
        const Node& exponent = expression.nodes[node.b];
        return exponent.op != Op::number || exponent.value < 0 ||
               exponent.value != std::floor(exponent.value);
      }
      default:
        return false;
    }
  });
}

double tolerance(const Expression& expression, DType dtype, bool every_operation_rounds) {
  std::mt19937 random(1);  // NOLINT: the same samples each time
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0625, 0.9375);
  const bool positive = wants_positive(expression);
  const double u = unit_roundoff(dtype);
  double largest = 0, error = 0;
  std::vector<double> inputs(expression.inputs.size());
  std::vector<Bounded> at(expression.nodes.size());
  for (int sample = 0; sample < kSamples; ++sample) {
    for (double& input : inputs) input = positive ? uniform(random) : normal(random);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const Node& node = expression.nodes[i];
      if (operands(node.op) == 0) {
        at[i] = {node.op == Op::number ? node.value : inputs[node.a], 0};
        continue;
      }
      const Bounded &a = at[node.a], &b = operands(node.op) == 2 ? at[node.b] : at[node.a];
      const double value = expression::evaluate(node.op, a.value, b.value);
      at[i] = {value, carried(node.op, a, b, value) + own_error(node.op, value) +
                          (every_operation_rounds ? u * std::abs(value) : 0)};
    }
    if (!std::isfinite(at.back().error)) continue;
    largest = std::max(largest, std::abs(at.back().value));
    error = std::max(error, at.back().error);
  }
  return kSafety * error / largest + 2 * u;
}

}  // namespace roofcast::cuda::expr
