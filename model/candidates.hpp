#pragma once
// The ways in which a variant may compute a problem, and of them the fastest.
#include <optional>

#include "model/catalog.hpp"
#include "model/laws/forecast.hpp"

namespace roofcast {

/// A problem with all of its settings, its plan, and what the laws find of it.
struct Candidate {
  Problem problem;
  LaunchSequence program;
  Limit limit;
  std::optional<SmClock> clock;     ///< absent: none is known
  std::optional<ProgramTime> time;  ///< absent where the device has no clock or no occupancy rules

  /// The limit is a fact, the forecast an estimate: where they cross, the estimate is wrong.
  double expected_s() const;
};

/// Forecast of a problem with all settings. Throws InputError as KernelModel::plan and the laws do.
Candidate candidate_of(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                       const Assumptions& assumptions);

/// Of the candidates that can run here the one with the least expected time; of a device without
/// such times the first. Throws the first refusal if all are refused.
Candidate fastest_candidate(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                            const Assumptions& assumptions);

/// For a family alone: its limit.
Prediction predict_family(const KernelFamily& family, const Problem& problem, const Gpu& gpu,
                          const Assumptions& assumptions);

}  // namespace roofcast
