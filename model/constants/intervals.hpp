#pragma once
// The register of how much wider the interval of some kernels is than that of others: what is known
// of them is a typical case.
#include <array>

#include "model/constants/constant.hpp"

namespace roofcast::interval {

inline constexpr Constant kExperts = fitted(
    "moe.library", 1.4, "",
    "half-width of the interval, of that of other kernels: holds 90% of the rows of each GPU and "
    "type",
    "moe_fused.csv (ai-dynamo/aiconfigurator, TensorRT-LLM), rows of even position", "2026-11-25");

/// Named as the kernels are.
inline constexpr std::array kAll = {kExperts};

}  // namespace roofcast::interval
