#pragma once
// Arithmetic over named arrays, element by element and along rows, as a flat value.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::expression {

/// The operation that computes a node from its operands.
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
  erf,
  silu,  ///< x·sigmoid(x)
  row_sum,
  row_mean,
  row_max,
  row_min,
  min,
  max,
  less,  ///< comparisons are 1 where they hold, else 0
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal
};

/// Operands of an operation: 0, 1 or 2.
constexpr int operands(Op op) {
  if (op <= Op::number) return 0;
  return op == Op::negate || (op >= Op::exp && op <= Op::row_min) ? 1 : 2;
}

/// Whether the operation reduces a row to one value.
constexpr bool is_reduction(Op op) {
  return op >= Op::row_sum && op <= Op::row_min;
}

/// One operation. `a` and `b` are earlier nodes; an input's `a` is an index of Expression::inputs.
struct Node {
  Op op = Op::number;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  double value = 0;  ///< of a number

  friend constexpr bool operator==(const Node&, const Node&) = default;
};

/// Calls `visit` with the position of each operand, the left one first.
template <class SomeNode, class Visit>
constexpr void for_each_operand(SomeNode& node, const Visit& visit) {
  if (operands(node.op) > 0) visit(node.a);
  if (operands(node.op) > 1) visit(node.b);
}

/// A named result, as in "y = a*b". The name is empty only if the statement is the only one.
struct Statement {
  std::string name;
  std::uint8_t node = 0;
  bool is_output = true;  ///< false: a later statement reads it

  friend bool operator==(const Statement&, const Statement&) = default;
};

/// Nodes in the order of evaluation, the inputs that they read, and the named results.
struct Expression {
  static constexpr std::size_t kMaxNodes = 255;

  std::vector<Node> nodes;
  std::vector<std::string> inputs;  ///< in the order of their first appearance
  std::vector<Statement> statements;

  /// Nodes of the outputs, in the order of their statements.
  std::vector<std::uint8_t> outputs() const;

  friend bool operator==(const Expression&, const Expression&) = default;
};

/// Parses + - * / ^ (right associative, before the sign: -x^2 is -(x^2)), one comparison < <= > >=
/// == != of sums, parentheses, numbers and the functions exp log sqrt rsqrt sin cos tanh sigmoid
/// relu abs erf silu, min max (two operands), sum mean amax amin (along a row). Any other name is
/// an input. Semicolons separate statements, "y = a*b; z = y + c": a name that a later one reads is
/// no output. Throws InputError with the column and a remedy, also beyond 255 bytes.
Expression parse(std::string_view text);

/// Whether a node reduces rows.
bool has_reduction(const Expression& expression);

/// Whether each node has one value per row: a reduction, an input marked in `input_rows` (empty:
/// none), or an operation on such values and numbers alone.
std::vector<bool> values_of_rows(const Expression& expression,
                                 const std::vector<bool>& input_rows = {});

/// Nesting depth of reductions in each node, itself included. A kernel that does not keep the row
/// on chip sweeps over it once per level, and once more for outputs with a value per element.
std::vector<int> reduction_levels(const Expression& expression);

/// Text that parse() reads as the same expression, with the fewest parentheses.
std::string print(const Expression& expression);

/// The expression with every operation on numbers alone, except reductions, replaced by its value.
Expression fold(const Expression& expression);

/// The expression with equal subexpressions merged: a node may have several users.
Expression share(const Expression& expression);

}  // namespace roofcast::expression
