#pragma once
// The register of the costs of mixture-of-experts kernels: grouped products and the kernels around
// them (model/libraries/experts.cpp).
#include <array>

#include "model/constants/constant.hpp"

namespace roofcast::experts {

inline constexpr std::string_view kFit =
    "moe_fused.csv (ai-dynamo/aiconfigurator, TensorRT-LLM), rows of even position, all GPUs "
    "together: coordinate search of the mean |log error| of time, each at most 0.5";

inline constexpr Constant kRowInstructions =
    fitted("expert_row_instructions", 300, "",
           "of each warp of such a block beside those for its elements", kFit, "2026-11-25");
inline constexpr Constant kTileSwitch = fitted("expert_tile_switch", 4, "trips",
                                               "to L2 or DRAM between two tiles of a grouped "
                                               "product: whose tile it is, and where its rows lie",
                                               kFit, "2026-11-25");
inline constexpr Constant kMmaSlowdown =
    fitted("expert_mma_slowdown", 1.9, "",
           "arithmetic of a grouped product by mma.sync, of the fastest plain product's", kFit,
           "2026-11-25");

inline constexpr std::array kAll = {kRowInstructions, kTileSwitch, kMmaSlowdown};

}  // namespace roofcast::experts
