#pragma once
// Forecasts of what a profile names, where there are any.
#include <optional>

#include "validation/profiles/operations.hpp"

namespace roofcast::validation {

/// Nothing where the GPU or the library has no kernel for it.
std::optional<Prediction> forecast_of(const Recognized& one, const Problem& problem, const Gpu& gpu,
                                      const Assumptions& assumptions);

/// A lower bound of the time of what only moves bytes, between other kernels: what these left in L2
/// (all of it, for all that is known) is not read from DRAM, and what is written may stay there;
/// all that is read crosses from L2 to the SMs.
double moving_limit_s(const Traffic& bytes, const Gpu& gpu);
/// What the tensor cores take at the least; 0 where nothing is multiplied.
double tensor_limit_s(const Prediction& prediction);

}  // namespace roofcast::validation
