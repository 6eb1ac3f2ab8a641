#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "model/expression/expression.hpp"
#include "model/expression/names.hpp"

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

// How tightly an operation holds its operands.
enum Level : int { kComparison = 1, kSum, kProduct, kSigned, kPower, kPrimary };

template <std::size_t kCount>
const Written* find(const std::array<Written, kCount>& all, Op op) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Written& each) { return each.op == op; });
  return found != all.end() ? &*found : nullptr;
}

struct Infix {
  std::string_view symbol;
  Level own, left, right;
};

Infix infix(Op op) {
  switch (op) {
    case Op::add:
      return {" + ", kSum, kSum, kProduct};
    case Op::subtract:
      return {" - ", kSum, kSum, kProduct};
    case Op::multiply:
      return {"*", kProduct, kProduct, kSigned};
    case Op::divide:
      return {"/", kProduct, kProduct, kSigned};
    case Op::power:
      return {"^", kPower, kPrimary, kSigned};
    default:
      break;
  }
  return {find(kComparisons, op)->name, kComparison, kSum, kSum};
}

// The name of a result that later statements read.
std::string_view name_of(const Expression& e, std::size_t node, std::size_t statements) {
  for (std::size_t i = 0; i < statements; ++i) {
    const Statement& statement = e.statements[i];
    if (!statement.is_output && statement.node == node) return statement.name;
  }
  return {};
}

// A node of a statement that stands after `before` others.
class Printer {
 public:
  Printer(const Expression& expression, std::size_t before) : e_(expression), before_(before) {}

  std::string node(std::size_t at, Level needed) const {
    const Node& node_here = e_.nodes[at];
    if (const auto known = name_of(e_, at, before_); !known.empty()) return std::string(known);
    if (node_here.op == Op::number) return number_text(node_here.value);
    if (node_here.op == Op::input) return e_.inputs[node_here.a];
    if (const Written* function = find(kFunctions, node_here.op)) {
      std::string text = std::string(function->name) + "(" + node(node_here.a, kComparison);
      if (operands(node_here.op) == 2) text += ", " + node(node_here.b, kComparison);
      return text + ")";
    }
    if (node_here.op == Op::negate)
      return wrapped("-" + node(node_here.a, kSigned), kSigned, needed);
    const Infix between = infix(node_here.op);
    const bool spaced = between.own == kComparison;
    const std::string symbol =
        spaced ? " " + std::string(between.symbol) + " " : std::string(between.symbol);
    return wrapped(node(node_here.a, between.left) + symbol + node(node_here.b, between.right),
                   between.own, needed);
  }

 private:
  static std::string wrapped(const std::string& text, Level own, Level needed) {
    return own < needed ? "(" + text + ")" : text;
  }

  const Expression& e_;
  std::size_t before_;
};

}  // namespace

std::string print(const Expression& expression) {
  std::string text;
  for (std::size_t i = 0; i < expression.statements.size(); ++i) {
    const Statement& statement = expression.statements[i];
    if (i > 0) text += "; ";
    if (!statement.name.empty()) text += statement.name + " = ";
    text += Printer(expression, i).node(statement.node, kComparison);
  }
  return text;
}

}  // namespace roofcast::expression
