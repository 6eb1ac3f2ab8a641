#pragma once
// The kernels of a step, layer by layer.
#include <string_view>
#include <vector>

#include "model/transformer/step.hpp"

namespace roofcast::transformer {

// Parts that others ask for by name.
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kOptimizer = "optimizer";
inline constexpr std::string_view kWeightsBetweenGpus = "gradients and weights between GPUs";

/// Forecasts of all kernels of one GPU; nothing that software adds, no collectives. Throws
/// InputError where a kernel has no forecast.
std::vector<StepPart> parts_of_layers(const Architecture& model, const Task& task, const Gpu& gpu);

}  // namespace roofcast::transformer
