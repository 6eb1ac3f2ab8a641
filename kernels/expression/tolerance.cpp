#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "kernels/common/tolerance.hpp"
#include "kernels/expression/reference.hpp"
#include "model/expression/operations.hpp"

namespace roofcast::cuda::expr {
namespace {

using expression::Expression;
using expression::Node;
using expression::Op;

constexpr int kSamples = 512;
constexpr double kSafety = 4;          // for higher orders, and for inputs beyond the samples
constexpr double kFunction = 0x1p-21;  // error of a special function, absolute or relative
constexpr double kArithmetic = 0x1p-23;

// A value and a bound on its error.
struct Bounded {
  double value = 0;
  double error = 0;
};

// The error that the operands' errors cause: |∂op/∂a|·error of a + |∂op/∂b|·error of b.
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
    case Op::erf:
      return 2 / std::sqrt(std::numbers::pi) * std::exp(-a.value * a.value) * a.error;
    case Op::silu: {
      const double share = 1 / (1 + std::exp(-a.value));
      return std::abs(share * (1 + a.value * (1 - share))) * a.error;
    }
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::equal:
    case Op::not_equal:
      return std::abs(a.value - b.value) < a.error + b.error ? 1 : 0;
    case Op::relu:
      return a.value + a.error < 0 ? 0 : a.error;
    case Op::min:
    case Op::max:
      if (std::abs(a.value - b.value) < a.error + b.error) return std::max(a.error, b.error);
      return value == a.value ? a.error : b.error;
    default:  // negate, abs
      return a.error;
  }
}

double own_error(Op op, double value) {
  const bool is_function =
      (op >= Op::power && op <= Op::sigmoid) || op == Op::erf || op == Op::silu;
  if (is_function) return kFunction * std::max(1.0, std::abs(value));
  if (op >= Op::less) return 0;
  return kArithmetic * std::abs(value);
}

// A reduction over a row of `cols` elements, of which the samples are a part. A thread adds up its
// share of the row, then a tree adds the threads' sums: a term goes through at most cols / 32 + 10
// roundings (Higham, 4.2).
Bounded reduced(Op op, const std::vector<Bounded>& samples, double cols) {
  constexpr double kThreads = 32, kTree = 10;
  Bounded all;
  if (op == Op::row_max || op == Op::row_min) {
    all = samples.front();
    for (const Bounded& one : samples) {
      all.value = operation_of(op == Op::row_max ? Op::max : Op::min).value(all.value, one.value);
      all.error = std::max(all.error, one.error);
    }
    return all;
  }
  double sizes = 0;
  for (const Bounded& one : samples) {
    all.value += one.value;
    all.error += one.error;
    sizes += std::abs(one.value);
  }
  const double terms = op == Op::row_sum ? cols : 1;
  const double scale = terms / static_cast<double>(samples.size());
  const double roundings = cols / kThreads + kTree;
  return {all.value * scale, (all.error + roundings * kArithmetic / 2 * sizes) * scale};
}

}  // namespace

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

double tolerance(const Expression& expression, DType dtype, bool every_operation_rounds,
                 std::size_t output, std::int64_t cols) {
  std::mt19937 random(1);  // NOLINT: the same samples each time
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(0.0625, 0.9375);
  const bool positive = wants_positive(expression);
  const double u = unit_roundoff(dtype);
  const bool rows = cols > 0 && cols < kSamples;
  const auto samples = rows ? static_cast<std::size_t>(cols) : std::size_t{kSamples};
  std::vector<std::vector<Bounded>> inputs(expression.inputs.size(), std::vector<Bounded>(samples));
  for (std::size_t sample = 0; sample < samples; ++sample) {
    for (auto& input : inputs) input[sample].value = positive ? uniform(random) : normal(random);
  }
  std::vector<std::vector<Bounded>> at(expression.nodes.size());
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Node& node = expression.nodes[i];
    at[i].resize(samples);
    if (node.op == Op::input) {
      at[i] = inputs[node.a];
    } else if (node.op == Op::number) {
      at[i].assign(samples, {node.value, 0});
    } else if (is_reduction(node.op)) {
      Bounded all = reduced(node.op, at[node.a], static_cast<double>(cols));
      if (every_operation_rounds) all.error += u * std::abs(all.value);
      at[i].assign(samples, all);
    } else {
      const auto& second = at[operands(node.op) == 2 ? node.b : node.a];
      for (std::size_t sample = 0; sample < samples; ++sample) {
        const Bounded &a = at[node.a][sample], &b = second[sample];
        const double value = operation_of(node.op).value(a.value, b.value);
        at[i][sample] = {value, carried(node.op, a, b, value) + own_error(node.op, value) +
                                    (every_operation_rounds ? u * std::abs(value) : 0)};
      }
    }
  }
  double largest = 0, error = 0;
  for (const Bounded& one : at[expression.outputs().at(output)]) {
    if (!std::isfinite(one.error)) continue;
    largest = std::max(largest, std::abs(one.value));
    error = std::max(error, one.error);
  }
  return kSafety * error / largest + 2 * u;
}

}  // namespace roofcast::cuda::expr
