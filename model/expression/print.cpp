#include <array>
#include <cstdio>
#include <cstdlib>

#include "model/expression/operations.hpp"

namespace roofcast::expression {
namespace {

std::string number_text(double value) {
  std::array<char, 32> text{};
  for (int digits = 1; digits <= 17; ++digits) {
    (void)std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    if (std::strtod(text.data(), nullptr) == value) break;
  }
  return text.data();
}

// A node in the statement after `before` others, whose results it may read by their names.
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

}  // namespace roofcast::expression
