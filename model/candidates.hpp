#pragma once
// Candidates, the settings with which a variant may compute a problem, and the fastest of them.
#include <limits>
#include <optional>

#include "model/laws/forecast.hpp"
#include "model/predict.hpp"

namespace roofcast {

inline constexpr double kForever = std::numeric_limits<double>::infinity();  ///< above any time

/// A problem with all settings, its launches, and their limit and forecast by the laws.
struct Candidate {
  Problem problem;
  LaunchSequence sequence;
  Limit limit{};
  std::optional<SequenceTime> time{};  ///< absent as sequence_time

  /// Expected time (s), at least the limit: the limit is a bound, the forecast an estimate.
  double expected_s() const;
};

/// Forecast of a problem with all settings; nothing beyond `at_most_s`. Throws InputError.
std::optional<Candidate> candidate_of(const Question& question, double at_most_s = kForever);

/// The candidate with the least expected time among those that the device can run; the first of
/// these without expected times. Throws the first refusal if all are refused.
Candidate fastest_candidate(const Question& question);

/// The answer to a family alone: its limit, and where its variants cross over.
Prediction predict_family(const Question& question);

}  // namespace roofcast
