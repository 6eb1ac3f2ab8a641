#pragma once
// Arithmetic over named arrays, element by element and along rows, as a flat value.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::expression {

/// The operation by which a node is computed from its operands.
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

/// How many operands it has: 0, 1 or 2.
constexpr int operands(Op op) {
  if (op <= Op::number) return 0;
  return op == Op::negate || (op >= Op::exp && op <= Op::row_min) ? 1 : 2;
}

/// One value for a row of elements; where elements use it, each of the row has it.
constexpr bool is_reduction(Op op) {
  return op >= Op::row_sum && op <= Op::row_min;
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

/// Calls `visit` with the position of each operand, the left one first.
template <class SomeNode, class Visit>
constexpr void for_each_operand(SomeNode& node, const Visit& visit) {
  if (operands(node.op) > 0) visit(node.a);
  if (operands(node.op) > 1) visit(node.b);
}

/// "y = a*b": a node under a name. Without a name, the only one.
struct Statement {
  std::string name;
  std::uint8_t node = 0;
  bool is_output = true;  ///< false: a later statement reads it

  friend bool operator==(const Statement&, const Statement&) = default;
};

/// Operands stand before what uses them, the left one first.
struct Expression {
  static constexpr std::size_t kMaxNodes = 255;

  std::vector<Node> nodes;
  std::vector<std::string> inputs;  ///< in the order of their first appearance
  std::vector<Statement> statements;

  /// Nodes of the outputs, in the order of their statements.
  std::vector<std::uint8_t> outputs() const;

  friend bool operator==(const Expression&, const Expression&) = default;
};

/// Reads + - * / ^ (right associative, before the sign: -x^2 is -(x^2)), one comparison < <= > >=
/// == != of sums, parentheses, numbers and the functions exp log sqrt rsqrt sin cos tanh sigmoid
/// relu abs erf silu, min max (two operands), sum mean amax amin (along a row). Any other name is
/// an input. Several results are statements parted by semicolons, "y = a*b; z = y + c": a name that
/// a later statement reads is no output. Throws InputError with the column and what to do; also
/// beyond 255 bytes.
Expression parse(std::string_view text);

/// Of each node, whether it has one value a row: a reduction, an input that `input_rows` says so of
/// (none of them where it is empty), or computed from these and numbers alone.
std::vector<bool> values_of_rows(const Expression& expression,
                                 const std::vector<bool>& input_rows = {});

/// Of each node, how many reductions stand one above the other in it: a kernel that holds no row
/// sweeps over it once for each, and once more for what is not a value of rows.
std::vector<int> reduction_levels(const Expression& expression);

/// How often other nodes read each node.
std::array<int, Expression::kMaxNodes> readers_of(const Expression& expression);

/// Text that parse() reads as the same expression, with no parentheses that it does not need.
std::string print(const Expression& expression);

/// The value of one operation on numbers. `b` is ignored by operations of one operand.
double evaluate(Op op, double a, double b);

/// The same with every operation on numbers alone replaced by its value.
Expression fold(const Expression& expression);

/// The same with equal subexpressions computed once: operands may be shared.
Expression share(const Expression& expression);

}  // namespace roofcast::expression
