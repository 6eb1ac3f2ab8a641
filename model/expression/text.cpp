#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>

#include "model/expression/operations.hpp"
#include "model/types/problem.hpp"

namespace roofcast::expression {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr std::span kFunctions =
    std::span(kOperations)
        .subspan(std::size_t(Op::exp), std::size_t(Op::less) - std::size_t(Op::exp));

const Operation* function_of(std::string_view name) {
  for (const Operation& function : kFunctions) {
    if (function.written == name) return &function;
  }
  return nullptr;
}

// Recursive descent, level by level. The depth is at most proportional to the text's length.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Expression read() {
    require(text_.size() <= Text::kMaxBytes, "the expression is longer than 255 bytes: shorten it");
    do {
      statement();
      if (!take(';')) break;
      skip_spaces();
    } while (at_ < text_.size());
    if (at_ < text_.size()) {
      refuse(at_, "expected an operator or the end", "write one of + - * / ^, or remove the rest");
    }
    return result_;
  }

 private:
  using Position = std::uint8_t;

  // A mark precedes the offending column.
  [[noreturn]] void refuse(std::size_t at, const std::string& what, const std::string& mend) const {
    throw InputError(message("expression, column ", at + 1, ": ", what, ", at \"",
                             text_.substr(0, at), "▸", text_.substr(at), "\": ", mend));
  }

  // The next character; '\0' at the end.
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

  // Takes an operator of that level. The search is backward: "<=" is found before "<".
  std::optional<Op> take_infix(Level level) {
    skip_spaces();
    for (std::size_t i = kOperations.size(); i-- > 0;) {
      const Operation& one = kOperations[i];
      if (one.level != level || !text_.substr(at_).starts_with(one.written)) continue;
      at_ += one.written.size();
      return one.op;
    }
    return std::nullopt;
  }

  std::string_view word() {
    const std::size_t begin = at_;
    while (is_letter(next()) || is_digit(next())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // Each node comes from at least one byte of the text.
  static_assert(Text::kMaxBytes <= Expression::kMaxNodes);
  Position add(const Node& node) {
    result_.nodes.push_back(node);
    return static_cast<Position>(result_.nodes.size() - 1);
  }

  // Takes a name and the '=' (not '==') after it. Otherwise takes nothing and returns no name.
  std::string_view target() {
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
    if (!name.empty()) {
      check_target(begin, name);
    } else if (!result_.statements.empty()) {
      refuse(begin, "a second result without a name", "write y = … before it");
    }
    const Position node = operation(kComparison);
    if (name.empty() && next() == ';' &&
        text_.find_first_not_of(" \t;", at_) != std::string_view::npos) {
      refuse(begin, "a result without a name beside others", "write y = … before it");
    }
    result_.statements.push_back({name, node});
  }

  void check_target(std::size_t begin, const std::string& name) const {
    const auto refuse_if = [&](bool wrong, const char* what) {
      if (wrong) refuse(begin, name + what, "name the result otherwise");
    };
    refuse_if(function_of(name) != nullptr, " is a function");
    for (const std::string& input : result_.inputs) refuse_if(input == name, " is an input above");
    for (const Statement& above : result_.statements) {
      refuse_if(above.name == name, " is computed above");
    }
  }

  // Operands of one level, joined from left to right.
  Position operation(Level level) {
    if (level == kPrimary) return primary();
    if (level == kSigned) {
      return take('-') ? add({Op::negate, operation(kSigned)}) : operation(kPower);
    }
    Position left = operation(tighter(level));
    for (bool joined = false;; joined = true) {
      skip_spaces();
      const std::size_t begin = at_;
      const std::optional<Op> op = take_infix(level);
      if (!op) return left;
      if (joined && level == kComparison) {
        refuse(begin, "a comparison of a comparison", "put one in parentheses");
      }
      const Position right = operation(right_level(level));
      left = add({*op, left, right});
    }
  }

  Position primary() {
    if (take('(')) {
      const Position inner = operation(kComparison);
      expect(')', "close the parenthesis");
      return inner;
    }
    if (is_digit(next()) || next() == '.') return number();
    if (is_letter(next())) return name();
    refuse(at_, "expected a value", "give a number, an input, a function or a parenthesis");
  }

  Position number() {
    const std::size_t begin = at_;
    const auto take_digits = [&] {
      const std::size_t first = at_;
      while (is_digit(next())) ++at_;
      return at_ - first;
    };
    std::size_t digits = take_digits();
    if (next() == '.') {
      ++at_;
      digits += take_digits();
    }
    if (digits == 0) refuse(begin, "a point without digits", "write a digit beside it");
    if (next() == 'e' || next() == 'E') {
      const std::size_t mark = at_++;
      if (next() == '+' || next() == '-') ++at_;
      if (take_digits() == 0) refuse(mark, "an exponent without digits", "write 1e-3, or 2*e");
    }
    const double value =
        std::strtod(std::string(text_.substr(begin, at_ - begin)).c_str(), nullptr);
    if (!std::isfinite(value)) refuse(begin, "a number out of range", "give one below 1.8e308");
    return add({Op::number, 0, 0, value});
  }

  Position name() {
    const std::size_t begin = at_;
    const std::string_view found = word();
    if (const Operation* function = function_of(found)) return call(*function);
    skip_spaces();
    if (next() == '(') {
      refuse(begin, "no function is named '" + std::string(found) + "'",
             "use one of " +
                 listed(
                     kFunctions, [](const Operation& function) { return function.written; }, " "));
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

  Position call(const Operation& function) {
    const std::string name(function.written);
    const bool unary = operands(function.op) == 1;
    const std::string takes = name + (unary ? " takes one operand" : " takes two operands");
    expect('(', "write " + name + (unary ? "(x)" : "(x, y)") + ": " + name + " is a function");
    const Position a = operation(kComparison);
    Position b = 0;
    if (!unary) {
      expect(',', takes);
      b = operation(kComparison);
    }
    expect(')', takes + ": close the parenthesis");
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
