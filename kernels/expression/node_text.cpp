#include "kernels/expression/node_text.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string_view>

namespace roofcast::cuda::expr {
namespace {

using expression::Expression;
using expression::Node;
using expression::Op;

// A number by the bits of its fp32 value, so that no decimal text rounds it.
std::string number(double value) {
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), "__uint_as_float(0x%08xu)",
                      std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  return text.data();
}

std::string call(std::string_view function, const std::string& a) {
  return std::string(function) + "(" + a + ")";
}
std::string call(std::string_view function, const std::string& a, const std::string& b) {
  return std::string(function) + "(" + a + ", " + b + ")";
}

// The powers that an eager framework special-cases too (PyTorch, pow with a scalar exponent).
std::string power(const Expression& e, const Node& node, const std::string& a,
                  const std::string& b) {
  if (e.nodes[node.b].op == Op::number) {
    const double exponent = e.nodes[node.b].value;
    if (exponent == 2) return a + " * " + a;
    if (exponent == 3) return a + " * " + a + " * " + a;
    if (exponent == 0.5) return call("sqrt_of", a);
    if (exponent == -0.5) return call("unit_rsqrt", a);
    if (exponent == -1) return call("quotient", "1.0f", a);
    if (exponent == -2) return call("quotient", "1.0f", a + " * " + a);
  }
  return call("powf", a, b);
}

std::string comparison(const std::string& a, std::string_view symbol, const std::string& b) {
  return a + " " + std::string(symbol) + " " + b + " ? 1.0f : 0.0f";
}

}  // namespace

std::string value_of(const Expression& e, std::size_t at) {
  const Node& node = e.nodes[at];
  const auto value = [](std::uint8_t operand) { return "t" + std::to_string(operand); };
  const std::string a = value(node.a), b = value(node.b);
  switch (node.op) {
    case Op::input:
      return "x[" + std::to_string(node.a) + "]";
    case Op::number:
      return number(node.value);
    case Op::negate:
      return "-" + a;
    case Op::add:
      return a + " + " + b;
    case Op::subtract:
      return a + " - " + b;
    case Op::multiply:
      return a + " * " + b;
    case Op::divide:
      return call("quotient", a, b);
    case Op::power:
      return power(e, node, a, b);
    case Op::exp:
      return call("exp_of", a);
    case Op::log:
      return call("log_of", a);
    case Op::sqrt:
      return call("sqrt_of", a);
    case Op::rsqrt:
      return call("unit_rsqrt", a);
    case Op::sin:
      return call("sin_of", a);
    case Op::cos:
      return call("cos_of", a);
    case Op::tanh:
      return call("tanh_of", a);
    case Op::sigmoid:
      return call("sigmoid_of", a);
    case Op::relu:
      return call("most", a, "0.0f");
    case Op::abs:
      return call("fabsf", a);
    case Op::min:
      return call("least", a, b);
    case Op::max:
      return call("most", a, b);
    case Op::erf:
      return call("erf_of", a);
    case Op::silu:
      return call("silu_of", a);
    case Op::less:
      return comparison(a, "<", b);
    case Op::less_equal:
      return comparison(a, "<=", b);
    case Op::greater:
      return comparison(a, ">", b);
    case Op::greater_equal:
      return comparison(a, ">=", b);
    case Op::equal:
      return comparison(a, "==", b);
    case Op::not_equal:
      return comparison(a, "!=", b);
    case Op::row_sum:
    case Op::row_mean:
    case Op::row_max:
    case Op::row_min:
      return "row[" + std::to_string(at) + "]";
  }
  return a;
}

std::string line_of(const Expression& e, std::size_t at) {
  return "  const float t" + std::to_string(at) + " = " + value_of(e, at) + ";\n";
}

}  // namespace roofcast::cuda::expr
