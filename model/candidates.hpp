#pragma once
// Candidates, the settings with which a variant may compute a problem, and the fastest of them.
#include <optional>

#include "model/laws/forecast.hpp"
#include "model/predict.hpp"

namespace roofcast {

/// A problem with all settings, its launches, and their limit and forecast by the laws.
struct Candidate {
  Problem problem;
  LaunchSequence sequence;
  Limit limit{};
  std::optional<SequenceTime> time{};  ///< absent as sequence_time

  /// Expected time (s): the forecast, but at least the limit. Infinite without a forecast.
  double expected_s() const;
};

/// Forecast of a problem with all settings. Throws InputError as KernelModel::plan and the laws.
Candidate candidate_of(const Question& question);

/// The candidate with the least expected time among those that the device can run; the first of
/// these without expected times. Throws the first refusal if all are refused.
Candidate fastest_candidate(const Question& question);

/// The answer to a family alone: its limit, and where its variants cross over.
Prediction predict_family(const Question& question);

}  // namespace roofcast
