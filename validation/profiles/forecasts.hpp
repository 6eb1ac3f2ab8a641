#pragma once
// Forecasts and limits of the kernels that a profile names.
#include <optional>

#include "validation/profiles/operations.hpp"

namespace roofcast::validation {

/// The forecast; nothing if the kernel refuses the problem or has no expected time on the GPU.
std::optional<Prediction> forecast_of(const Recognized& one, const Problem& problem, const Gpu& gpu,
                                      const Assumptions& assumptions);

/// Lower bound (s) of a kernel that only moves bytes, among other kernels. L2 may hold up to its
/// size of what is read and of what is written, so that DRAM moves only the rest; all bytes read
/// cross from L2 to the SMs.
double moving_limit_s(const Traffic& bytes, const Gpu& gpu);
/// Lower bound of the tensor cores' time (s); 0 if they are not used.
double tensor_limit_s(const Prediction& prediction);

}  // namespace roofcast::validation
