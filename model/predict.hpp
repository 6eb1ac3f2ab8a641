#pragma once
#include "model/catalog.hpp"
#include "model/types/assumptions.hpp"
#include "model/types/gpu.hpp"
#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"

namespace roofcast {

/// The forecast for a checked problem: for a variant all of it, for a family alone its limit.
/// Throws InputError where the question has no answer (a type the device cannot compute, a block
/// that does not fit the device).
Prediction predict(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                   const Assumptions& assumptions = {});

/// The checked problem with the settings that were left to choose (0): those with the least
/// expected time. Throws as `predict`.
Problem with_settings(const KernelRef& kernel, const Problem& problem, const Gpu& gpu);

/// The problem with the settings open that a library chooses by itself: no measurement knows them.
Problem without_own_choice(const KernelRef& kernel, Problem problem);

/// The problem as a measurement of it is filed: with_settings, but for a library's own choice.
Problem as_measured(const KernelRef& kernel, const Problem& problem, const Gpu& gpu);

}  // namespace roofcast
