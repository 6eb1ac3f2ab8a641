#pragma once
// One operation of an expression as CUDA C++.
#include <cstddef>
#include <string>

#include "model/expression/expression.hpp"

namespace roofcast::cuda::expr {

/// The value of a node as an expression of C++: "x[i]" for an input, the bits of a number,
/// "row[at]" for a reduction, else a term over the values t0, t1 … of earlier nodes.
std::string value_of(const expression::Expression& expression, std::size_t at);

/// The line that defines the value of a node: "  const float t3 = t1 * t2;".
std::string line_of(const expression::Expression& expression, std::size_t at);

}  // namespace roofcast::cuda::expr
