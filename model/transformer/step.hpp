#pragma once
// The time of a step: forecasts of its kernels, its collectives, and what software adds.
#include <string>
#include <vector>

#include "model/transformer/task.hpp"
#include "model/types/gpu.hpp"

namespace roofcast::transformer {

/// A part of the step, all layers and passes together. The parts add up to the step.
struct StepPart {
  std::string name;
  double time_s = 0;
  double low_s = 0;
  double high_s = 0;
  std::string bound;  ///< of its longest kernel: a Resource's name, "link" or "host"
};

struct Step {
  double expected_s = 0;
  double low_s = 0;
  double high_s = 0;
  double tokens_per_s = 0;  ///< of all GPUs together
  double mfu = 0;  ///< FLOPs asked for over the datasheet's peak, recomputation not counted
  double hfu = 0;  ///< the same with it
  std::vector<StepPart> parts;
  std::vector<std::string> notes;
};

/// What software adds to an eager FSDP training step in 16 bits, named. fit_steps prints it.
struct SoftwareConstants {
  // Calibrated on training_mpt.csv (../shared/reference), rows of even position among those of one
  // machine of 8 GPUs, all GPUs together.
  double attention_share = 1.156;  ///< of the attention kernels' time: those of 2023 are slower
  double layer_s = 1.542e-3;  ///< of each layer and pass (s): launches and hooks of the framework
  double exposed = 0.575;     ///< share of the collectives between layers that nothing hides
};

/// Forecasts one step: train, with grad_accum passes and the optimizer; prefill; or decode of one
/// token for each sequence. Equal layers are forecast once. Experts are chosen alike; their
/// gradients take twice the time of the pass forward. Throws InputError as check() does, and where
/// a kernel or collective has no forecast.
Step predict_step(const Architecture& model, const Task& task, const Gpu& gpu,
                  const SoftwareConstants& software = {});

}  // namespace roofcast::transformer
