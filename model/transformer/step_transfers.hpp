#pragma once
// What the GPUs of a step send each other.
#include "model/transformer/step.hpp"

namespace roofcast::transformer {

/// Sums of partial results between the products of a layer: nothing hides them.
StepPart tensor_parallel(const Architecture& model, const Task& task, const Gpu& gpu);

/// Rows to their experts and back, between the GPUs that share them: nothing hides them.
StepPart expert_parallel(const Architecture& model, const Task& task, const Gpu& gpu);

/// Gradients and weights, layer by layer beside the arithmetic, whatever hides them. GPUs that
/// share the experts have the same ones as few others.
StepPart data_parallel(const Architecture& model, const Task& task, const Gpu& gpu);

}  // namespace roofcast::transformer
