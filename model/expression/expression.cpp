#include "model/expression/expression.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "model/expression/operations.hpp"

namespace roofcast::expression {

std::vector<std::uint8_t> Expression::outputs() const {
  std::vector<std::uint8_t> found;
  for (const Statement& statement : statements) {
    if (statement.is_output) found.push_back(statement.node);
  }
  return found;
}

bool has_reduction(const Expression& expression) {
  return std::any_of(expression.nodes.begin(), expression.nodes.end(),
                     [](const Node& node) { return is_reduction(node.op); });
}

std::vector<bool> values_of_rows(const Expression& expression,
                                 const std::vector<bool>& input_rows) {
  std::vector<bool> of_rows(expression.nodes.size());
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    const Node& node = expression.nodes[i];
    if (node.op == Op::input && !input_rows.empty()) of_rows[i] = input_rows[node.a];
    bool any = false, all = true;
    for_each_operand(node, [&](std::uint8_t at) {
      any = any || of_rows[at];
      all = all && (of_rows[at] || expression.nodes[at].op == Op::number);
    });
    if ((any && all) || is_reduction(node.op)) of_rows[i] = true;
  }
  return of_rows;
}

std::vector<int> reduction_levels(const Expression& expression) {
  std::vector<int> levels(expression.nodes.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Node& node = expression.nodes[i];
    for_each_operand(node, [&](std::uint8_t at) { levels[i] = std::max(levels[i], levels[at]); });
    if (is_reduction(node.op)) ++levels[i];
  }
  return levels;
}

namespace {

std::size_t append(Expression& to, const Node& node) {
  to.nodes.push_back(node);
  return to.nodes.size() - 1;
}

// Copies node by node. `keep(copy, node, i)` places node i, its operands already in the copy.
template <class Keep>
Expression copied(const Expression& from, const Keep& keep) {
  Expression to;
  to.inputs = from.inputs;
  to.statements = from.statements;
  std::array<std::uint8_t, Expression::kMaxNodes> moved{};
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    Node node = from.nodes[i];
    for_each_operand(node, [&](std::uint8_t& at) { at = moved[at]; });
    moved[i] = static_cast<std::uint8_t>(keep(to, node, i));
  }
  for (Statement& statement : to.statements) statement.node = moved[statement.node];
  return to;
}

// The expression without nodes that no statement needs.
Expression pruned(const Expression& from) {
  std::array<bool, Expression::kMaxNodes> needed{};
  for (const Statement& statement : from.statements) needed[statement.node] = true;
  for (std::size_t i = from.nodes.size(); i-- > 0;) {
    if (needed[i]) for_each_operand(from.nodes[i], [&](std::uint8_t at) { needed[at] = true; });
  }
  return copied(from, [&](Expression& to, const Node& node, std::size_t i) {
    return needed[i] ? append(to, node) : 0;
  });
}

std::string number_text(double value) {
  std::array<char, 32> text{};
  for (int digits = 1; digits <= 17; ++digits) {
    (void)std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    if (std::strtod(text.data(), nullptr) == value) break;
  }
  return text.data();
}

// Text of node `at` in statement `before`: earlier intermediate results appear by name. An
// operation looser than `needed` is put in parentheses.
std::string text_of(const Expression& e, std::size_t at, Level needed, std::size_t before) {
  const auto operand = [&](std::size_t node, Level level) {
    return text_of(e, node, level, before);
  };
  for (std::size_t i = 0; i < before; ++i) {
    const Statement& statement = e.statements[i];
    if (!statement.is_output && statement.node == at) return statement.name;
  }
  const Node& node = e.nodes[at];
  if (node.op == Op::number) return number_text(node.value);
  if (node.op == Op::input) return e.inputs[node.a];
  const Operation& operation = operation_of(node.op);
  std::string text(operation.written);
  if (operation.level == kPrimary) {
    text += "(" + operand(node.a, kComparison);
    if (operands(node.op) == 2) text += ", " + operand(node.b, kComparison);
    return text + ")";
  }
  if (node.op == Op::negate) {
    text += operand(node.a, kSigned);
  } else {
    if (operation.level <= kSum) text = " " + text + " ";
    text = operand(node.a, left_level(operation.level)) + text +
           operand(node.b, right_level(operation.level));
  }
  return operation.level < needed ? "(" + text + ")" : text;
}

}  // namespace

std::string print(const Expression& expression) {
  std::string text;
  for (std::size_t i = 0; i < expression.statements.size(); ++i) {
    const Statement& statement = expression.statements[i];
    if (i > 0) text += "; ";
    if (!statement.name.empty()) text += statement.name + " = ";
    text += text_of(expression, statement.node, kComparison, i);
  }
  return text;
}

Expression fold(const Expression& expression) {
  return pruned(copied(expression, [](Expression& to, const Node& node, std::size_t) {
    bool folds = operands(node.op) > 0 && !is_reduction(node.op);
    for_each_operand(node,
                     [&](std::uint8_t at) { folds = folds && to.nodes[at].op == Op::number; });
    if (!folds) return append(to, node);
    const double a = to.nodes[node.a].value, b = to.nodes[node.b].value;
    return append(to, {Op::number, 0, 0, operation_of(node.op).value(a, b)});
  }));
}

Expression share(const Expression& expression) {
  return pruned(copied(expression, [](Expression& to, const Node& node, std::size_t) {
    const auto equal = std::find(to.nodes.begin(), to.nodes.end(), node);
    if (equal != to.nodes.end()) return static_cast<std::size_t>(equal - to.nodes.begin());
    return append(to, node);
  }));
}

}  // namespace roofcast::expression
