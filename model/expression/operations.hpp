#pragma once
// Spelling (for parse() and print()), precedence and value of each operation.
#include <array>
#include <cmath>
#include <string_view>

#include "model/expression/expression.hpp"

namespace roofcast::expression {

/// Precedence of an operation, from loosest to tightest.
enum Level : int { kComparison = 1, kSum, kProduct, kSigned, kPower, kPrimary };

struct Operation {
  Op op;
  std::string_view written;             ///< a function's name or an operator's symbol
  double (*value)(double a, double b);  ///< of numbers; one operand: `b` is ignored
  Level level = kPrimary;
};

constexpr double first_operand(double a, double /*b*/) {
  return a;
}

/// Operations in the order of Op. A reduction's value is that of a row of one element.
inline constexpr std::array kOperations = {
    Operation{Op::input, "", first_operand},
    Operation{Op::number, "", first_operand},
    Operation{Op::negate, "-", [](double a, double) { return -a; }, kSigned},
    Operation{Op::add, "+", [](double a, double b) { return a + b; }, kSum},
    Operation{Op::subtract, "-", [](double a, double b) { return a - b; }, kSum},
    Operation{Op::multiply, "*", [](double a, double b) { return a * b; }, kProduct},
    Operation{Op::divide, "/", [](double a, double b) { return a / b; }, kProduct},
    Operation{Op::power, "^", [](double a, double b) { return std::pow(a, b); }, kPower},
    Operation{Op::exp, "exp", [](double a, double) { return std::exp(a); }},
    Operation{Op::log, "log", [](double a, double) { return std::log(a); }},
    Operation{Op::sqrt, "sqrt", [](double a, double) { return std::sqrt(a); }},
    Operation{Op::rsqrt, "rsqrt", [](double a, double) { return 1 / std::sqrt(a); }},
    Operation{Op::sin, "sin", [](double a, double) { return std::sin(a); }},
    Operation{Op::cos, "cos", [](double a, double) { return std::cos(a); }},
    Operation{Op::tanh, "tanh", [](double a, double) { return std::tanh(a); }},
    Operation{Op::sigmoid, "sigmoid", [](double a, double) { return 1 / (1 + std::exp(-a)); }},
    Operation{Op::relu, "relu", [](double a, double) { return a < 0 ? 0 : a; }},
    Operation{Op::abs, "abs", [](double a, double) { return std::abs(a); }},
    Operation{Op::erf, "erf", [](double a, double) { return std::erf(a); }},
    Operation{Op::silu, "silu", [](double a, double) { return a / (1 + std::exp(-a)); }},
    Operation{Op::row_sum, "sum", first_operand},
    Operation{Op::row_mean, "mean", first_operand},
    Operation{Op::row_max, "amax", first_operand},
    Operation{Op::row_min, "amin", first_operand},
    Operation{Op::min, "min", [](double a, double b) { return b < a || std::isnan(b) ? b : a; }},
    Operation{Op::max, "max", [](double a, double b) { return b > a || std::isnan(b) ? b : a; }},
    Operation{Op::less, "<", [](double a, double b) { return double(a < b); }, kComparison},
    Operation{Op::less_equal, "<=", [](double a, double b) { return double(a <= b); }, kComparison},
    Operation{Op::greater, ">", [](double a, double b) { return double(a > b); }, kComparison},
    Operation{Op::greater_equal, ">=", [](double a, double b) { return double(a >= b); },
              kComparison},
    Operation{Op::equal, "==", [](double a, double b) { return double(a == b); }, kComparison},
    Operation{Op::not_equal, "!=", [](double a, double b) { return double(a != b); }, kComparison}};

constexpr const Operation& operation_of(Op op) {
  return kOperations[static_cast<std::size_t>(op)];
}

constexpr Level tighter(Level level) {
  return static_cast<Level>(level + 1);
}
/// The loosest operand that needs no parentheses: a - b - c is (a - b) - c, a^b^c and a^-b are
/// a^(b^c) and a^(-b), and comparisons have no comparison as operand.
constexpr Level left_level(Level level) {
  return level == kSum || level == kProduct ? level : tighter(level);
}
constexpr Level right_level(Level level) {
  return level == kPower ? kSigned : tighter(level);
}

}  // namespace roofcast::expression
