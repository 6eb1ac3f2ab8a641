#pragma once
#include <array>
#include <optional>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Cycles per resource.
using CyclesByResource = std::array<double, kResources>;

/// The measured rate where there is one, else the datasheet's.
inline const std::optional<double>& rate(const std::optional<double>& sustained,
                                         const std::optional<double>& datasheet) {
  return sustained ? sustained : datasheet;
}

/// Share of the tensor cores' rate that the plan's matrix instruction reaches.
double tensor_share(const Plan& plan, const Gpu& gpu);

/// Cycles each pipe of an SM is busy with one block's step. Issue: if no slot stayed empty.
CyclesByResource pipe_cycles(const Step& step, const Plan& plan, const Gpu& gpu);

}  // namespace roofcast
