#pragma once
#include <cstdint>
#include <vector>

#include "model/types/problem.hpp"

namespace roofcast::validation {

/// A parameter's value: a number, the position of a choice, or a text.
struct Value {
  std::int64_t number = 0;
  Text text;

  void put(const Parameter& parameter, std::size_t position, Problem& problem) const {
    problem[position] = number;
    if (parameter.is_text) problem.text = text;
  }
};
using Values = std::vector<Value>;

}  // namespace roofcast::validation
