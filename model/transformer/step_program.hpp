#pragma once
// The operations of a pass, layer by layer, as launches and transfers on their streams.
#include "model/transformer/step.hpp"

namespace roofcast::transformer {

/// Which passes of a step: those before the last one, which are alike, or the last one with what
/// comes once a step.
enum class Pass : unsigned char { earlier, last };

/// One pass of one GPU: before the layers, each layer forward, the end, and in training the same
/// backward. What software adds lies evenly in the layers. Of stages those layers that one GPU has,
/// once the step's operations are those of a stage.
Program step_program(const Step& step, const Architecture& model, const Task& task, Pass pass,
                     bool staged);

}  // namespace roofcast::transformer
