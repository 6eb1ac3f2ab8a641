#pragma once
// An expression as an eager framework runs it: one kernel an operation, each result in an array of
// its own.
#include <cstddef>
#include <vector>

#include "model/expression/expression.hpp"

namespace roofcast::expression {

/// One kernel: an operation on one or two arrays, numbers folded into it ("0.5*x" is one kernel).
struct Step {
  Expression operation;            ///< its input i is the array reads[i]
  std::vector<std::size_t> reads;  ///< arrays, each once: x*x reads x once
  std::size_t writes = 0;          ///< an array
};

/// Arrays are numbered: the inputs, the output, then the scratch arrays.
struct Chain {
  std::size_t inputs = 0;
  std::size_t scratch = 0;
  std::vector<Step> steps;

  std::size_t output() const { return inputs; }
};

/// Operands from left to right, as Python evaluates them. Equal subexpressions are computed as
/// often as they are written: an eager framework does not see them. An array is free once its only
/// reader has run, and the array freed last is handed out first; the result has an array of its
/// own. Throws InputError if there is no operation or no input.
Chain eager(const Expression& expression);

}  // namespace roofcast::expression
