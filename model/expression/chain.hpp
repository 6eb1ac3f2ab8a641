#pragma once
// An expression as an eager framework runs it: one kernel per operation, each result an array.
#include <cstddef>
#include <vector>

#include "model/expression/expression.hpp"

namespace roofcast::expression {

/// One kernel: an operation on one or two arrays, with numbers folded in ("0.5*x" is one kernel).
struct Step {
  Expression operation;            ///< its input i is the array reads[i]
  std::vector<std::size_t> reads;  ///< arrays, each once: x*x reads x once
  std::vector<bool> read_rows;     ///< for each of `reads`: whether it has one value per row
  std::size_t writes = 0;          ///< the array written
  bool writes_rows = false;        ///< it has one value per row

  /// Whether it works row by row: it reduces rows, or combines per-row values with elements.
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
};

/// Throws InputError if an output computes nothing or equals another output.
void check_outputs(const Expression& folded);

/// The chain of an expression. Operands are computed from left to right, as in Python. Equal
/// subexpressions are computed each time they are written, named results once, as an eager
/// framework does. The scratch array freed last is reused first; each output has its own array.
/// Throws as check_outputs.
Chain eager(const Expression& expression);

}  // namespace roofcast::expression
