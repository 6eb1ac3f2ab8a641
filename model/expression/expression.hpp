#pragma once
// An arithmetic expression over named arrays, element by element, as a flat value.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::expression {

/// What a node computes from its operands.
enum class Op : unsigned char {
  input,
  number,
  negate,
  add,
  subtract,
  multiply,
  divide,
  power,
  exp,
  log,
  sqrt,
  rsqrt,
  sin,
  cos,
  tanh,
  sigmoid,
  relu,
  abs,
  min,
  max
};

/// How many operands it has: 0, 1 or 2.
constexpr int operands(Op op) {
  if (op <= Op::number) return 0;
  return op == Op::negate || (op >= Op::exp && op <= Op::abs) ? 1 : 2;
}

/// One operation. `a` and `b` are positions of earlier nodes; of an input, `a` is its position in
/// Expression::inputs.
struct Node {
  Op op = Op::number;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  double value = 0;  ///< of a number

  friend constexpr bool operator==(const Node&, const Node&) = default;
};

/// Operands stand before what uses them, the left one first; the last node is the result.
struct Expression {
  static constexpr std::size_t kMaxNodes = 255;

  std::vector<Node> nodes;
  std::vector<std::string> inputs;  ///< in the order of their first appearance

  friend bool operator==(const Expression&, const Expression&) = default;
};

/// Reads + - * / ^ (right associative, before the sign: -x^2 is -(x^2)), parentheses, numbers and
/// the functions exp log sqrt rsqrt sin cos tanh sigmoid relu abs, min max (two operands). Any
/// other name is an input. Throws InputError with the column and what to do; also beyond 255 bytes.
Expression parse(std::string_view text);

/// Text that parse() reads as the same expression, with no parentheses that it does not need.
std::string print(const Expression& expression);

/// The value of one operation on numbers. `b` is ignored by operations of one operand.
double evaluate(Op op, double a, double b);

/// The same with every operation on numbers alone replaced by its value.
Expression fold(const Expression& expression);

/// The same with equal subexpressions computed once: operands may be shared.
Expression share(const Expression& expression);

}  // namespace roofcast::expression
