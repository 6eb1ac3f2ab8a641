#pragma once
// What the GPUs of a step send each other.
#include "model/transformer/step.hpp"

namespace roofcast::transformer {

/// Adds the transfers of all layers to a step of kernels, and a part for each kind: sums of partial
/// results between the products of a layer, and rows to their experts and back, in turn; gradients
/// and weights beside. Their limits are added where they stand in turn. Throws InputError where the
/// link is not known.
void add_transfers(Step& step, const Architecture& model, const Task& task, const Gpu& gpu);

/// Lets the transfers beside launches run with them: the parts then take what they take in the
/// schedule, that of gradients and weights what no launch hides. Weights of a layer are gathered
/// while the layer before runs, and two layers' at most are there at once (FSDP: Zhao et al. 2023,
/// arXiv 2304.11277, sections 3.3.1 and 3.3.2); gradients are sent once their layer has them, as
/// the layers before compute theirs.
void overlap(Step& step, const Architecture& model, const Task& task);

}  // namespace roofcast::transformer
