#include "model/expression/expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace roofcast::expression {

double evaluate(Op op, double a, double b) {
  switch (op) {
    case Op::negate:
      return -a;
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::power:
      return std::pow(a, b);
    case Op::exp:
      return std::exp(a);
    case Op::log:
      return std::log(a);
    case Op::sqrt:
      return std::sqrt(a);
    case Op::rsqrt:
      return 1 / std::sqrt(a);
    case Op::sin:
      return std::sin(a);
    case Op::cos:
      return std::cos(a);
    case Op::tanh:
      return std::tanh(a);
    case Op::sigmoid:
      return 1 / (1 + std::exp(-a));
    case Op::relu:
      return a < 0 ? 0 : a;
    case Op::abs:
      return std::abs(a);
    case Op::min:
      return b < a || std::isnan(b) ? b : a;
    case Op::max:
      return b > a || std::isnan(b) ? b : a;
    case Op::erf:
      return std::erf(a);
    case Op::silu:
      return a / (1 + std::exp(-a));
    case Op::less:
      return a < b ? 1 : 0;
    case Op::less_equal:
      return a <= b ? 1 : 0;
    case Op::greater:
      return a > b ? 1 : 0;
    case Op::greater_equal:
      return a >= b ? 1 : 0;
    case Op::equal:
      return a == b ? 1 : 0;
    case Op::not_equal:
      return a != b ? 1 : 0;
    case Op::input:
    case Op::number:
    case Op::row_sum:  // of one element
    case Op::row_mean:
    case Op::row_max:
    case Op::row_min:
      break;
  }
  return a;
}

std::vector<std::uint8_t> Expression::outputs() const {
  std::vector<std::uint8_t> found;
  for (const Statement& statement : statements) {
    if (statement.is_output) found.push_back(statement.node);
  }
  return found;
}

std::vector<bool> values_of_rows(const Expression& expression,
                                 const std::vector<bool>& input_rows) {
  std::vector<bool> of_rows(expression.nodes.size());
  const auto neutral = [&](std::uint8_t at) { return expression.nodes[at].op == Op::number; };
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    const Node& node = expression.nodes[i];
    const int count = operands(node.op);
    if (node.op == Op::input && !input_rows.empty()) of_rows[i] = input_rows[node.a];
    if (count == 0) continue;
    const bool a = of_rows[node.a], b = count == 2 && of_rows[node.b];
    const bool computed =
        (a || b) && (a || neutral(node.a)) && (count == 1 || b || neutral(node.b));
    of_rows[i] = computed || is_reduction(node.op);
  }
  return of_rows;
}

std::vector<int> reduction_levels(const Expression& expression) {
  std::vector<int> levels(expression.nodes.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Node& node = expression.nodes[i];
    if (operands(node.op) > 0) levels[i] = levels[node.a];
    if (operands(node.op) > 1) levels[i] = std::max(levels[i], levels[node.b]);
    if (is_reduction(node.op)) ++levels[i];
  }
  return levels;
}

namespace {

using Moved = std::array<std::uint8_t, Expression::kMaxNodes>;

Node moved_node(Node node, const Moved& moved) {
  if (operands(node.op) > 0) node.a = moved[node.a];
  if (operands(node.op) > 1) node.b = moved[node.b];
  return node;
}

void move_statements(Expression& to, const Expression& from, const Moved& moved) {
  to.statements = from.statements;
  for (Statement& statement : to.statements) statement.node = moved[statement.node];
}

// The same without nodes that no statement needs.
Expression pruned(const Expression& from) {
  std::array<bool, Expression::kMaxNodes> needed{};
  for (const Statement& statement : from.statements) needed[statement.node] = true;
  for (std::size_t i = from.nodes.size(); i-- > 0;) {
    const Node& node = from.nodes[i];
    if (!needed[i]) continue;
    if (operands(node.op) > 0) needed[node.a] = true;
    if (operands(node.op) > 1) needed[node.b] = true;
  }
  Expression to;
  to.inputs = from.inputs;
  Moved moved{};
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    if (!needed[i]) continue;
    moved[i] = static_cast<std::uint8_t>(to.nodes.size());
    to.nodes.push_back(moved_node(from.nodes[i], moved));
  }
  move_statements(to, from, moved);
  return to;
}

// Copies nodes, each through `keep`, which answers the position of its node in the copy; then
// drops what no statement uses.
template <class Keep>
Expression rebuild(const Expression& from, const Keep& keep) {
  Expression to;
  to.inputs = from.inputs;
  Moved moved{};
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    moved[i] = static_cast<std::uint8_t>(keep(to, moved_node(from.nodes[i], moved)));
  }
  move_statements(to, from, moved);
  return pruned(to);
}

bool is_number(const Expression& e, std::size_t at) {
  return e.nodes[at].op == Op::number;
}

std::size_t append(Expression& to, const Node& node) {
  to.nodes.push_back(node);
  return to.nodes.size() - 1;
}

}  // namespace

Expression fold(const Expression& expression) {
  return rebuild(expression, [](Expression& to, const Node& node) {
    const int count = operands(node.op);
    if (count == 0 || !is_number(to, node.a) || (count == 2 && !is_number(to, node.b))) {
      return append(to, node);
    }
    if (is_reduction(node.op)) return append(to, node);
    const double b = count == 2 ? to.nodes[node.b].value : 0;
    return append(to, {Op::number, 0, 0, evaluate(node.op, to.nodes[node.a].value, b)});
  });
}

Expression share(const Expression& expression) {
  return rebuild(expression, [](Expression& to, const Node& node) {
    const auto equal = std::find(to.nodes.begin(), to.nodes.end(), node);
    if (equal != to.nodes.end()) return static_cast<std::size_t>(equal - to.nodes.begin());
    return append(to, node);
  });
}

}  // namespace roofcast::expression
