#pragma once
// How operations are written: what parse() reads and print() writes.
#include <array>
#include <string_view>

#include "model/expression/expression.hpp"

namespace roofcast::expression {

/// A word or a symbol, and what it stands for.
struct Written {
  std::string_view name;
  Op op;
};

inline constexpr std::array kFunctions = {
    Written{"exp", Op::exp},      Written{"log", Op::log},         Written{"sqrt", Op::sqrt},
    Written{"rsqrt", Op::rsqrt},  Written{"sin", Op::sin},         Written{"cos", Op::cos},
    Written{"tanh", Op::tanh},    Written{"sigmoid", Op::sigmoid}, Written{"relu", Op::relu},
    Written{"abs", Op::abs},      Written{"erf", Op::erf},         Written{"silu", Op::silu},
    Written{"sum", Op::row_sum},  Written{"mean", Op::row_mean},   Written{"amax", Op::row_max},
    Written{"amin", Op::row_min}, Written{"min", Op::min},         Written{"max", Op::max}};

/// Those of two characters before those of one.
inline constexpr std::array kComparisons = {
    Written{"<=", Op::less_equal}, Written{">=", Op::greater_equal}, Written{"==", Op::equal},
    Written{"!=", Op::not_equal},  Written{"<", Op::less},           Written{">", Op::greater}};

}  // namespace roofcast::expression
