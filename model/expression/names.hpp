#pragma once
// How operations are written: what parse() reads and print() writes.
#include <array>
#include <string_view>

#include "model/expression/expression.hpp"

namespace roofcast::expression {

struct Function {
  std::string_view name;
  Op op;
};
inline constexpr std::array<Function, 18> kFunctions = {{{"exp", Op::exp},
                                                         {"log", Op::log},
                                                         {"sqrt", Op::sqrt},
                                                         {"rsqrt", Op::rsqrt},
                                                         {"sin", Op::sin},
                                                         {"cos", Op::cos},
                                                         {"tanh", Op::tanh},
                                                         {"sigmoid", Op::sigmoid},
                                                         {"relu", Op::relu},
                                                         {"abs", Op::abs},
                                                         {"erf", Op::erf},
                                                         {"silu", Op::silu},
                                                         {"sum", Op::row_sum},
                                                         {"mean", Op::row_mean},
                                                         {"amax", Op::row_max},
                                                         {"amin", Op::row_min},
                                                         {"min", Op::min},
                                                         {"max", Op::max}}};

/// Those of two characters before those of one.
struct Comparison {
  std::string_view symbol;
  Op op;
};
inline constexpr std::array<Comparison, 6> kComparisons = {{{"<=", Op::less_equal},
                                                            {">=", Op::greater_equal},
                                                            {"==", Op::equal},
                                                            {"!=", Op::not_equal},
                                                            {"<", Op::less},
                                                            {">", Op::greater}}};

}  // namespace roofcast::expression
