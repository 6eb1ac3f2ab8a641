#pragma once
// Layers divided among GPUs that take turns.
#include "model/transformer/step.hpp"

namespace roofcast::transformer {

/// Turns the parts of a whole training step into those of the GPU that sets the pace: a stage's
/// layers, and the ends of the model, which one stage has alone. Adds the transfers between stages,
/// and the bubble: while the first micro-batch fills the pipeline and the last one leaves it, each
/// GPU idles for pp − 1 passes (1F1B: Narayanan et al. 2021, arXiv 2104.04473, section 2.2). Throws
/// InputError where the link is not known.
void put_in_stages(Step& step, const Architecture& model, const Task& task, const Gpu& gpu);

}  // namespace roofcast::transformer
