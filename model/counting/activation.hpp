#pragma once
#include <cstddef>
#include <optional>

#include "model/types/plan.hpp"

namespace roofcast {

/// Which of the kernel's inputs an earlier kernel has just computed (ArrayUse::activation), and how
/// large it is.
struct Activation {
  std::size_t input = 0;  ///< arrays stand in the order of inputs, unless they say otherwise
  double bytes = 0;
};

/// None for a program that reads nothing of the kind.
std::optional<Activation> activation_of(const LaunchSequence& program);

}  // namespace roofcast
