#pragma once
#include <optional>
#include <vector>

#include "model/catalog.hpp"
#include "model/types/assumptions.hpp"
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"

namespace roofcast {

/// Fills in the fallbacks of parameters that `given` does not mark and checks types and ranges.
/// Throws InputError naming the parameter, the range and the mend.
void check(const KernelRef& kernel, Problem& problem, unsigned given);

/// The forecast for a checked problem: for a variant all of it, for a family alone its limit.
/// Throws InputError where the question has no answer (a type the device cannot compute, a block
/// that does not fit the device).
Prediction predict(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                   const Assumptions& assumptions = {});

/// The expected time of one problem on GPUs that differ only in what they keep up (Gpu::sustained):
/// a fit asks for thousands. What those values do not change is computed once: the candidates,
/// their plans and limits.
class ExpectedTime {
 public:
  /// Of a checked problem of a variant. Throws as `predict`.
  ExpectedTime(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
               const Assumptions& assumptions = {});
  /// In seconds, as `predict` has it to the last bit. Throws InputError where there is none.
  double operator()(const Gpu& gpu);

 private:
  struct Planned {
    LaunchSequence program;
    Limit limit;
  };
  const Planned& planned(std::size_t candidate, const Gpu& gpu);

  KernelRef kernel_;
  Assumptions assumptions_;
  std::vector<Problem> candidates_;
  std::vector<std::optional<Planned>> planned_;
};

/// The checked problem with the settings that were left to choose (0): those with the least
/// expected time. Throws as `predict`.
Problem with_settings(const KernelRef& kernel, const Problem& problem, const Gpu& gpu);

/// The problem with the settings open that a library chooses by itself: no measurement knows them.
Problem without_own_choice(const KernelRef& kernel, Problem problem);

/// The problem as a measurement of it is filed: with_settings, but for a library's own choice.
Problem as_measured(const KernelRef& kernel, const Problem& problem, const Gpu& gpu);

}  // namespace roofcast
