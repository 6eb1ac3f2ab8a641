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
    case Op::input:
    case Op::number:
      break;
  }
  return a;
}

namespace {

// Copies nodes, each through `keep`, which answers the position of its node in the copy; then
// drops what the result does not use.
template <class Keep>
Expression rebuild(const Expression& from, const Keep& keep) {
  Expression to;
  to.inputs = from.inputs;
  std::array<std::uint8_t, Expression::kMaxNodes> moved{};
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    Node node = from.nodes[i];
    if (operands(node.op) > 0) node.a = moved[node.a];
    if (operands(node.op) > 1) node.b = moved[node.b];
    moved[i] = static_cast<std::uint8_t>(keep(to, node));
  }
  to.nodes.resize(moved[from.nodes.size() - 1] + std::size_t{1});
  return to;
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
    // The operands of a tree are the nodes just written.
    const double b = count == 2 ? to.nodes[node.b].value : 0;
    const double value = evaluate(node.op, to.nodes[node.a].value, b);
    to.nodes.resize(node.a);
    return append(to, {Op::number, 0, 0, value});
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
