#pragma once
// How operations are written, which is what parse() reads and print() writes, and their values.
#include <array>
#include <cmath>
#include <string_view>

#include "model/expression/expression.hpp"

namespace roofcast::expression {

/// How tightly an operation holds its operands.
enum Level : int { kComparison = 1, kSum, kProduct, kSigned, kPower, kPrimary };

struct Operation {
  Op op;
  Level level;               ///< kPrimary: a function
  std::string_view written;  ///< its name, or what stands between its operands
  double (*value)(double a, double b);
};

constexpr double first_operand(double a, double /*b*/) {
  return a;
}

/// In the order of Op. The value of a reduction is that of a row of one element.
inline constexpr std::array kOperations = {
    Operation{Op::input, kPrimary, "", first_operand},
    Operation{Op::number, kPrimary, "", first_operand},
    Operation{Op::negate, kSigned, "-", [](double a, double) { return -a; }},
    Operation{Op::add, kSum, "+", [](double a, double b) { return a + b; }},
    Operation{Op::subtract, kSum, "-", [](double a, double b) { return a - b; }},
    Operation{Op::multiply, kProduct, "*", [](double a, double b) { return a * b; }},
    Operation{Op::divide, kProduct, "/", [](double a, double b) { return a / b; }},
    Operation{Op::power, kPower, "^", [](double a, double b) { return std::pow(a, b); }},
    Operation{Op::exp, kPrimary, "exp", [](double a, double) { return std::exp(a); }},
    Operation{Op::log, kPrimary, "log", [](double a, double) { return std::log(a); }},
    Operation{Op::sqrt, kPrimary, "sqrt", [](double a, double) { return std::sqrt(a); }},
    Operation{Op::rsqrt, kPrimary, "rsqrt", [](double a, double) { return 1 / std::sqrt(a); }},
    Operation{Op::sin, kPrimary, "sin", [](double a, double) { return std::sin(a); }},
    Operation{Op::cos, kPrimary, "cos", [](double a, double) { return std::cos(a); }},
    Operation{Op::tanh, kPrimary, "tanh", [](double a, double) { return std::tanh(a); }},
    Operation{Op::sigmoid, kPrimary, "sigmoid",
              [](double a, double) { return 1 / (1 + std::exp(-a)); }},
    Operation{Op::relu, kPrimary, "relu", [](double a, double) { return a < 0 ? 0 : a; }},
    Operation{Op::abs, kPrimary, "abs", [](double a, double) { return std::abs(a); }},
    Operation{Op::erf, kPrimary, "erf", [](double a, double) { return std::erf(a); }},
    Operation{Op::silu, kPrimary, "silu", [](double a, double) { return a / (1 + std::exp(-a)); }},
    Operation{Op::row_sum, kPrimary, "sum", first_operand},
    Operation{Op::row_mean, kPrimary, "mean", first_operand},
    Operation{Op::row_max, kPrimary, "amax", first_operand},
    Operation{Op::row_min, kPrimary, "amin", first_operand},
    Operation{Op::min, kPrimary, "min",
              [](double a, double b) { return b < a || std::isnan(b) ? b : a; }},
    Operation{Op::max, kPrimary, "max",
              [](double a, double b) { return b > a || std::isnan(b) ? b : a; }},
    Operation{Op::less, kComparison, "<", [](double a, double b) { return a < b ? 1.0 : 0; }},
    Operation{Op::less_equal, kComparison,
              "<=", [](double a, double b) { return a <= b ? 1.0 : 0; }},
    Operation{Op::greater, kComparison, ">", [](double a, double b) { return a > b ? 1.0 : 0; }},
    Operation{Op::greater_equal, kComparison,
              ">=", [](double a, double b) { return a >= b ? 1.0 : 0; }},
    Operation{Op::equal, kComparison, "==", [](double a, double b) { return a == b ? 1.0 : 0; }},
    Operation{Op::not_equal, kComparison,
              "!=", [](double a, double b) { return a != b ? 1.0 : 0; }}};

constexpr const Operation& operation_of(Op op) {
  return kOperations[static_cast<std::size_t>(op)];
}

constexpr Level tighter(Level level) {
  return static_cast<Level>(level + 1);
}
/// What an operand may be without parentheses: a - b - c is (a - b) - c, a^b^c and a^-b are
/// a^(b^c) and a^(-b), and comparisons have no comparison as operand.
constexpr Level left_level(Level level) {
  return level == kSum || level == kProduct ? level : tighter(level);
}
constexpr Level right_level(Level level) {
  return level == kPower ? kSigned : tighter(level);
}

}  // namespace roofcast::expression
