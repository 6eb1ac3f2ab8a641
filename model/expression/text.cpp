#include "model/expression/expression.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "model/expression/names.hpp"
#include "model/types/problem.hpp"

namespace roofcast::expression {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string all_functions() {
  std::string names;
  for (const Written& function : kFunctions) {
    names += (names.empty() ? "" : " ") + std::string(function.name);
  }
  return names;
}

// Recursive descent: statements → comparison → sum → product → signed → power → primary. The depth
// is at most the length of the text.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Expression read() {
    if (text_.size() > Text::kMaxBytes) {
      throw InputError("the expression is longer than 255 bytes: shorten it");
    }
    do {
      statement();
    } while (take(';') && has_more());
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

  // The next character; none at the end.
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_spaces() {
    while (next() == ' ' || next() == '\t') ++at_;
  }

  bool take(char wanted) {
    skip_spaces();
    if (next() != wanted) return false;
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

  bool has_more() {
    skip_spaces();
    return at_ < text_.size();
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (is_letter(next()) || is_digit(next())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // The name before a '=' that is no '=='; nothing, and nowhere, without one.
  std::string_view target() {
    skip_spaces();
    const std::size_t begin = at_;
    if (is_letter(next())) {
      const std::string_view name = word();
      if (take('=') && next() != '=') return name;
    }
    at_ = begin;
    return {};
  }

  void statement() {
    skip_spaces();
    const std::size_t begin = at_;
    const std::string name(target());
    const bool is_first = result_.statements.empty();
    if (name.empty() && !is_first) {
      refuse(begin, "a second result without a name", "write y = … before it");
    }
    if (!name.empty()) check_target(begin, name);
    const Position node = comparison();
    // The only statement may go without a name; one that others follow may not.
    skip_spaces();
    if (name.empty() && next() == ';' && follows(at_)) {
      refuse(begin, "a result without a name beside others", "write y = … before it");
    }
    result_.statements.push_back({name, node});
  }

  bool follows(std::size_t at) const {
    return text_.find_first_not_of(" \t;", at) != std::string_view::npos;
  }

  void check_target(std::size_t begin, const std::string& name) const {
    const auto is_name = [&](const auto& each) { return each.name == name; };
    if (std::any_of(kFunctions.begin(), kFunctions.end(), is_name)) {
      refuse(begin, name + " is a function", "name the result otherwise");
    }
    const auto& inputs = result_.inputs;
    if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) {
      refuse(begin, name + " is an input above", "name the result otherwise");
    }
    if (std::any_of(result_.statements.begin(), result_.statements.end(), is_name)) {
      refuse(begin, name + " is computed above", "name the result otherwise");
    }
  }

  Position comparison() {
    const Position left = sum();
    const auto compare = [&]() -> std::optional<Op> {
      skip_spaces();
      for (const auto& [symbol, op] : kComparisons) {
        if (!text_.substr(at_).starts_with(symbol)) continue;
        at_ += symbol.size();
        return op;
      }
      return std::nullopt;
    };
    const auto op = compare();
    if (!op) return left;
    const Position right = sum();
    const std::size_t again = at_;
    if (compare()) refuse(again, "a comparison of a comparison", "put one in parentheses");
    return add({*op, left, right});
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
      const Position inner = comparison();
      expect(')', "close the parenthesis");
      return inner;
    }
    if (is_digit(next()) || next() == '.') return number();
    if (is_letter(next())) return name();
    refuse(at_, "expected a value", "give a number, an input, a function or a parenthesis");
  }

  Position number() {
    const std::size_t begin = at_;
    std::size_t digits = 0;
    const auto take_digits = [&] {
      for (; is_digit(next()); ++at_) ++digits;
    };
    take_digits();
    if (next() == '.') ++at_, take_digits();
    if (digits == 0) refuse(begin, "a point without digits", "write a digit beside it");
    if (next() == 'e' || next() == 'E') {
      const std::size_t mark = at_++;
      if (next() == '+' || next() == '-') ++at_;
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
    const std::string_view found = word();
    const auto* function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                        [&](const Written& each) { return each.name == found; });
    if (function != kFunctions.end()) return call(*function);
    skip_spaces();
    if (next() == '(') {
      refuse(begin, "no function is named '" + std::string(found) + "'",
             "use one of " + all_functions());
    }
    for (Statement& statement : result_.statements) {
      if (statement.name != found) continue;
      statement.is_output = false;
      return statement.node;
    }
    const auto known = std::find(result_.inputs.begin(), result_.inputs.end(), found);
    const auto position = static_cast<Position>(known - result_.inputs.begin());
    if (known == result_.inputs.end()) result_.inputs.emplace_back(found);
    return add({Op::input, position});
  }

  Position call(const Written& function) {
    const std::string name(function.name);
    expect('(', "write " + name + (operands(function.op) == 1 ? "(x)" : "(x, y)") + ": " + name +
                    " is a function");
    const Position a = comparison();
    Position b = 0;
    if (operands(function.op) == 2) {
      expect(',', name + " takes two operands");
      b = comparison();
    }
    expect(')', name + (operands(function.op) == 1 ? " takes one operand" : " takes two operands") +
                    ": close the parenthesis");
    return add({function.op, a, b});
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Expression result_;
};

}  // namespace

Expression parse(std::string_view text) {
  return Parser(text).read();
}

}  // namespace roofcast::expression
