#pragma once
#include "model/catalog.hpp"
#include "model/types/gpu.hpp"
#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"

namespace roofcast {

/// A kernel, its checked problem and the device; all three must outlive the question.
struct Question {
  const KernelRef& kernel;
  const Problem& problem;
  const Gpu& gpu;
  Assumptions assumptions{};

  Question with(const Problem& other) const { return {kernel, other, gpu, assumptions}; }
};

/// The forecast: complete for a variant, the limit for a family alone. Throws InputError if there
/// is none (a type the device cannot compute, a block that does not fit the device).
Prediction predict(const Question& question);
inline Prediction predict(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                          const Assumptions& assumptions = {}) {
  return predict(Question{kernel, problem, gpu, assumptions});
}

/// The checked problem with its open settings (kToChoose) chosen by `predict`. Throws as it does.
Problem with_settings(const KernelRef& kernel, const Problem& problem, const Gpu& gpu);

/// The problem with the library's own settings left open: measurements do not know them.
Problem without_own_choice(const KernelRef& kernel, Problem problem);

/// The key of measurements: without_own_choice if a library chooses, else with_settings.
Problem as_measured(const KernelRef& kernel, const Problem& problem, const Gpu& gpu);

}  // namespace roofcast
