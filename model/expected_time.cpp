#include <algorithm>
#include <cmath>
#include <limits>

#include "model/laws/bounds.hpp"
#include "model/laws/program_time.hpp"
#include "model/predict.hpp"

namespace roofcast {

ExpectedTime::ExpectedTime(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                           const Assumptions& assumptions)
    : kernel_(kernel), assumptions_(assumptions) {
  const bool chooses = kernel.kernel->candidates != nullptr;
  candidates_ = chooses ? kernel.kernel->candidates(problem, gpu) : std::vector{problem};
  planned_.resize(candidates_.size());
}

const ExpectedTime::Planned& ExpectedTime::planned(std::size_t candidate, const Gpu& gpu) {
  auto& planned = planned_[candidate];
  if (!planned) {
    LaunchSequence program = kernel_.kernel->plan_of(candidates_[candidate], gpu);
    const Limit least = limit(program, gpu, assumptions_.cache);
    planned = Planned{std::move(program), least};
  }
  return *planned;
}

double ExpectedTime::operator()(const Gpu& gpu) {
  if (!clock_of({}, gpu, assumptions_) || !gpu.occupancy || !gpu.sm_count) {
    throw InputError("no expected time: not defined for " + gpu.name);
  }
  double least_s = std::numeric_limits<double>::infinity();
  std::optional<InputError> refusal;
  for (std::size_t candidate = 0; candidate < candidates_.size(); ++candidate) {
    try {
      const Planned& one = planned(candidate, gpu);
      const SmClock clock = *clock_of(one.program, gpu, assumptions_);
      const double total_s = program_time(one.program, clock, gpu, assumptions_).total_s();
      least_s = std::min(least_s, std::max(total_s, one.limit.time_s));
    } catch (const InputError& error) {
      if (!refusal) refusal = error;
    }
  }
  if (std::isinf(least_s) && refusal) throw InputError(*refusal);
  return least_s;
}

}  // namespace roofcast
