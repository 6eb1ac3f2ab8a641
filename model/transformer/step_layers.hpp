#pragma once
// The kernels of a step, layer by layer.
#include <string_view>

#include "model/transformer/step_kernels.hpp"

namespace roofcast::transformer {

// Parts that others ask for by name.
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kOptimizer = "optimizer";
inline constexpr std::string_view kWeightsBetweenGpus = "gradients and weights between GPUs";

/// Forecasts of all kernels of one GPU, in `kernels`; nothing that software adds, no collectives.
/// Throws InputError where a kernel has no forecast.
void add_layers(const Architecture& model, const Task& task, StepKernels& kernels);

}  // namespace roofcast::transformer
