#pragma once
// An expression as an eager framework runs it: one kernel an operation, each result in an array.
#include <cstddef>
#include <vector>

#include "model/expression/expression.hpp"

namespace roofcast::expression {

/// One kernel: an operation on one or two arrays, numbers folded into it ("0.5*x" is one kernel).
struct Step {
  Expression operation;            ///< its input i is the array reads[i]
  std::vector<std::size_t> reads;  ///< arrays, each once: x*x reads x once
  std::vector<bool> read_rows;     ///< for each of `reads`, whether it has one value a row
  std::size_t writes = 0;          ///< the array written
  bool writes_rows = false;        ///< it has one value a row

  /// Whether it works row by row: it reduces rows, or uses a value of each row with its elements.
  bool along_rows() const;
};

/// Arrays are numbered: the inputs, the outputs, then the scratch arrays.
struct Chain {
  std::size_t inputs = 0;
  std::size_t outputs = 1;
  std::size_t scratch = 0;
  std::vector<Step> steps;

  std::size_t output() const { return inputs; }  ///< the first output
  std::size_t first_scratch() const { return inputs + outputs; }
  bool is_output(std::size_t array) const { return array >= inputs && array < first_scratch(); }
};

/// Throws InputError where an output computes nothing or is the same result as another.
void check_outputs(const Expression& folded);

/// The chain of an expression. Operands are computed from left to right, as Python evaluates them.
/// An eager framework does not see that subexpressions are equal: each is computed as often as it
/// is written, a named result once. The scratch array freed last is reused first; each output has
/// an array of its own. Throws as check_outputs.
Chain eager(const Expression& expression);

}  // namespace roofcast::expression
