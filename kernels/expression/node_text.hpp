#pragma once
// One operation of an expression as CUDA C++.
#include <cstddef>
#include <string>

#include "model/expression/expression.hpp"

namespace roofcast::cuda::expr {

/// The value of a node: of an input "x[i]", of a reduction "row[at]", of another operation a term
/// over the values t0, t1 … of earlier nodes.
std::string value_of(const expression::Expression& expression, std::size_t at);

/// "  const float t3 = t1 * t2;", a line.
std::string line_of(const expression::Expression& expression, std::size_t at);

}  // namespace roofcast::cuda::expr
