#pragma once
// The stages in which predict_step builds a step.
#include "model/transformer/step_kernels.hpp"

namespace roofcast::transformer {

// Parts that others ask for by name.
inline constexpr std::string_view kAttention = "attention";
inline constexpr std::string_view kOptimizer = "optimizer";
inline constexpr std::string_view kWeightsBetweenGpus = "gradients and weights between GPUs";

/// All kernels, layer by layer, and between them the sums of partial results and the rows to their
/// experts and back. Throws InputError where a kernel has no forecast, and where the link is not
/// known.
void add_layers(Step& step, const Architecture& model, const Task& task,
                KernelForecasts& forecasts);
/// Attention of all layers, its products among it.
void add_attention(Step& step, const Architecture& model, const Task& task,
                   KernelForecasts& forecasts);

/// Transfers of gradients and weights, beside the kernels. Throws InputError where the link is not
/// known.
void add_weight_transfers(Step& step, const Architecture& model, const Task& task,
                          KernelForecasts& forecasts);

/// Runs the transfers beside with the launches: each operation then takes its time in the schedule,
/// gradients and weights what no launch hides. Weights of a layer are gathered while the layer
/// before runs, at most two layers' at once (FSDP: Zhao et al. 2023, arXiv 2304.11277, sections
/// 3.3.1 and 3.3.2); gradients are sent while the layers before compute theirs.
void overlap(Step& step, const Architecture& model, const Task& task);

}  // namespace roofcast::transformer
