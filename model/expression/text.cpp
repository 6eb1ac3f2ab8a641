#include "model/expression/expression.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "model/types/problem.hpp"

namespace roofcast::expression {
namespace {

struct Function {
  std::string_view name;
  Op op;
};
constexpr std::array<Function, 12> kFunctions = {{{"exp", Op::exp},
                                                  {"log", Op::log},
                                                  {"sqrt", Op::sqrt},
                                                  {"rsqrt", Op::rsqrt},
                                                  {"sin", Op::sin},
                                                  {"cos", Op::cos},
                                                  {"tanh", Op::tanh},
                                                  {"sigmoid", Op::sigmoid},
                                                  {"relu", Op::relu},
                                                  {"abs", Op::abs},
                                                  {"min", Op::min},
                                                  {"max", Op::max}}};

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string all_functions() {
  std::string names;
  for (const Function& function : kFunctions) {
    names += (names.empty() ? "" : " ") + std::string(function.name);
  }
  return names;
}

// Recursive descent: sum → product → signed → power → primary. The depth is at most the length of
// the text.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Expression read() {
    if (text_.size() > Text::kMaxBytes) {
      throw InputError("the expression is longer than 255 bytes: shorten it");
    }
    sum();
    skip_spaces();
    if (at_ < text_.size()) {
      refuse(at_, "expected an operator or the end", "write one of + - * / ^, or remove the rest");
    }
    return result_;
  }

 private:
  using Position = std::uint8_t;

  // A mark stands before the offending column.
  [[noreturn]] void refuse(std::size_t at, const std::string& what, const std::string& mend) const {
    throw InputError("expression, column " + std::to_string(at + 1) + ": " + what + ", at \"" +
                     std::string(text_.substr(0, at)) + "▸" + std::string(text_.substr(at)) +
                     "\": " + mend);
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(char wanted) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  void expect(char wanted, const std::string& mend) {
    if (!take(wanted)) refuse(at_, std::string("expected '") + wanted + "'", mend);
  }

  Position add(const Node& node) {
    if (result_.nodes.size() == Expression::kMaxNodes) {
      refuse(at_, "more than 255 operations", "shorten the expression");
    }
    result_.nodes.push_back(node);
    return static_cast<Position>(result_.nodes.size() - 1);
  }

  Position sum() {
    Position left = product();
    while (true) {
      const bool plus = take('+');
      if (!plus && !take('-')) return left;
      const Position right = product();
      left = add({plus ? Op::add : Op::subtract, left, right});
    }
  }

  Position product() {
    Position left = signed_power();
    while (true) {
      const bool times = take('*');
      if (!times && !take('/')) return left;
      const Position right = signed_power();
      left = add({times ? Op::multiply : Op::divide, left, right});
    }
  }

  Position signed_power() {
    if (take('-')) return add({Op::negate, signed_power()});
    const Position base = primary();
    if (!take('^')) return base;
    const Position exponent = signed_power();
    return add({Op::power, base, exponent});
  }

  Position primary() {
    if (take('(')) {
      const Position inner = sum();
      expect(')', "close the parenthesis");
      return inner;
    }
    if (at_ < text_.size() && (is_digit(text_[at_]) || text_[at_] == '.')) return number();
    if (at_ < text_.size() && is_letter(text_[at_])) return name();
    refuse(at_, "expected a value", "give a number, an input, a function or a parenthesis");
  }

  Position number() {
    const std::size_t begin = at_;
    std::size_t digits = 0;
    const auto take_digits = [&] {
      for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) ++digits;
    };
    take_digits();
    if (at_ < text_.size() && text_[at_] == '.') ++at_, take_digits();
    if (digits == 0) refuse(begin, "a point without digits", "write a digit beside it");
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      const std::size_t mark = at_++;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      digits = 0;
      take_digits();
      if (digits == 0) refuse(mark, "an exponent without digits", "write 1e-3, or 2*e");
    }
    const double value =
        std::strtod(std::string(text_.substr(begin, at_ - begin)).c_str(), nullptr);
    if (!std::isfinite(value)) refuse(begin, "a number out of range", "give one below 1.8e308");
    return add({Op::number, 0, 0, value});
  }

  Position name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view found = text_.substr(begin, at_ - begin);
    const auto* function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                        [&](const Function& each) { return each.name == found; });
    if (function != kFunctions.end()) return call(*function);
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '(') {
      refuse(begin, "no function is named '" + std::string(found) + "'",
             "use one of " + all_functions());
    }
    const auto known = std::find(result_.inputs.begin(), result_.inputs.end(), found);
    const auto position = static_cast<Position>(known - result_.inputs.begin());
    if (known == result_.inputs.end()) result_.inputs.emplace_back(found);
    return add({Op::input, position});
  }

  Position call(const Function& function) {
    const std::string name(function.name);
    expect('(', "write " + name + (operands(function.op) == 1 ? "(x)" : "(x, y)") + ": " + name +
                    " is a function");
    const Position a = sum();
    Position b = 0;
    if (operands(function.op) == 2) {
      expect(',', name + " takes two operands");
      b = sum();
    }
    expect(')', name + (operands(function.op) == 1 ? " takes one operand" : " takes two operands") +
                    ": close the parenthesis");
    return add({function.op, a, b});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Expression result_;
};

std::string number_text(double value) {
  std::array<char, 32> text{};
  for (int digits = 1; digits <= 17; ++digits) {
    (void)std::snprintf(text.data(), text.size(), "%.*g", digits, value);
    if (std::strtod(text.data(), nullptr) == value) break;
  }
  return text.data();
}

// How tightly an operation holds its operands.
enum Level : int { kSum = 1, kProduct, kSigned, kPower, kPrimary };

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
      return {"", kPrimary, kSum, kSum};
  }
}

std::string print_node(const Expression& e, std::size_t at, Level needed) {
  const Node& node = e.nodes[at];
  if (node.op == Op::number) return number_text(node.value);
  if (node.op == Op::input) return e.inputs[node.a];
  const auto* function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                      [&](const Function& each) { return each.op == node.op; });
  if (function != kFunctions.end()) {
    std::string text = std::string(function->name) + "(" + print_node(e, node.a, kSum);
    if (operands(node.op) == 2) text += ", " + print_node(e, node.b, kSum);
    return text + ")";
  }
  std::string text;
  Level own = kSigned;
  if (node.op == Op::negate) {
    text = "-" + print_node(e, node.a, kSigned);
  } else {
    const Infix between = infix(node.op);
    own = between.own;
    text = print_node(e, node.a, between.left) + std::string(between.symbol) +
           print_node(e, node.b, between.right);
  }
  return own < needed ? "(" + text + ")" : text;
}

}  // namespace

Expression parse(std::string_view text) {
  return Parser(text).read();
}

std::string print(const Expression& expression) {
  return print_node(expression, expression.nodes.size() - 1, kSum);
}

}  // namespace roofcast::expression
