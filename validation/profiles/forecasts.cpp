#include "validation/profiles/forecasts.hpp"

#include <algorithm>

#include "model/laws/clock.hpp"
#include "model/laws/peaks.hpp"
#include "validation/profiles/profile.hpp"

namespace roofcast::validation {

std::optional<Prediction> forecast_of(const Recognized& one, const Problem& problem, const Gpu& gpu,
                                      const Assumptions& assumptions) {
  try {
    Problem checked = problem;
    check(one.kernel, checked, ~0U);
    Prediction answer = predict(one.kernel, checked, gpu, assumptions);
    if (answer.time) return answer;
  } catch (const InputError&) {
    // The call has no forecast.
  }
  return std::nullopt;
}

double moving_limit_s(const Traffic& bytes, const Gpu& gpu) {
  const double stays = gpu.memory.l2_bytes.value_or(0);
  const double moved =
      std::max(0.0, bytes.read_bytes - stays) + std::max(0.0, bytes.write_bytes - stays);
  double time_s = 0;
  if (const auto rate = gpu.memory.dram_bandwidth_bytes_per_s) time_s = moved / *rate;
  const auto l2 = l2_peak_bytes_per_s(gpu, limit_clock_hz(gpu));
  return l2 ? std::max(time_s, bytes.read_bytes / *l2) : time_s;
}

double tensor_limit_s(const Prediction& prediction) {
  return prediction.limit.terms[Resource::tensor];
}

double profiled_s(const Prediction& prediction, const Gpu& gpu) {
  const double starts =
      static_cast<double>(prediction.launches) * gpu.sustained.graph_launch_s.value_or(0);
  return prediction.time->expected_s - prediction.time->waterfall[Part::launch] + starts;
}

}  // namespace roofcast::validation
