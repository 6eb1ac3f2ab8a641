#pragma once
// The register of kernels with wider intervals than others, because their plan is a typical case:
// factors on the half-width.
#include <array>

#include "model/constants/constant.hpp"

namespace roofcast::interval {

inline constexpr Constant kExperts = fitted(
    "moe.library", 1.4, "",
    "half-width of the interval, of that of other kernels: holds 90% of the rows of each GPU and "
    "type",
    "moe_fused.csv (ai-dynamo/aiconfigurator, TensorRT-LLM), rows of even position", "2026-11-25");

/// Each has the name of its kernel.
inline constexpr std::array kAll = {kExperts};

}  // namespace roofcast::interval
