#include "model/predict.hpp"

#include <algorithm>

#include "model/candidates.hpp"
#include "model/constants/libraries.hpp"
#include "model/counting/totals.hpp"
#include "model/laws/forecast.hpp"
#include "model/laws/launching.hpp"
#include "model/laws/occupancy.hpp"
#include "model/laws/peaks.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

// Sets grid, occupancy and waves of the longest launch.
void show(Prediction& result, const SequenceTime& found, const Gpu& gpu) {
  const auto longest = std::max_element(
      found.launches.begin(), found.launches.end(),
      [&](const TimedLaunch& a, const TimedLaunch& b) { return a.total_s() < b.total_s(); });
  result.shown_launch = static_cast<std::size_t>(longest - found.launches.begin());
  result.launch = longest->node->plan.launch;
  result.occupancy = longest->fit;
  const std::int64_t blocks = result.launch->blocks();
  const std::int64_t all = places(*result.launch, longest->fit, gpu);
  result.waves = waves(blocks, all);
  // Each SM gets a block before any gets a second one.
  result.waves->active_sms =
      std::min(blocks, std::max<std::int64_t>(1, all / longest->fit.blocks_per_sm));
}

// Adds the forecast, summed over all launches of the sequence.
void add_forecast(Prediction& result, const Candidate& answer, const Gpu& gpu) {
  const SequenceTime& found = *answer.time;
  result.work.l2 = found.l2;
  result.work.dram = found.dram;

  Forecast& time = result.time.emplace();
  double slower_s = 0, warm_bytes = 0;
  for (const auto& [node, fit, memory, launch] : found.launches) {
    const double repeats = node->repeats;
    slower_s += repeats * launch.slower_s;
    warm_bytes += repeats * memory.warm_bytes;
    time.energy_j += repeats * launch.energy_j;
    result.launches += static_cast<std::int64_t>(repeats);
    time.waterfall += repeats * launch.parts;
    // A resource's mean busy time can exceed the launch's; the term is capped at that.
    for (std::size_t i = 0; i < kResources; ++i) {
      time.terms.at(i) += repeats * std::min(launch.terms_s.at(i), launch.time_s);
    }
  }
  if (warm_bytes > 0) {
    result.traffic_reasons.push_back(
        {Level::dram, "L2 still holds " + si_text(warm_bytes, "B") + " of an earlier launch"});
  }
  show(result, found, gpu);
  const double launch_s = found.schedule.total_s - found.schedule.running_s;
  time.waterfall[Part::launch] = launch_s - found.schedule.waiting_s;
  time.waterfall[Part::host] = found.schedule.waiting_s;
  time.terms[Resource::launch] += launch_s;
  time.expected_s = answer.expected_s();
  time.waterfall[Part::limit] = time.expected_s - found.schedule.total_s;
  const bool guessed =
      std::any_of(answer.sequence.begin(), answer.sequence.end(),
                  [](const Launched& one) { return one.plan.notes.guessed_kernel; });
  const double spread = (guessed ? double{library::kWideInterval} : 1) *
                        relative_spread(time.expected_s, time.terms, gpu);
  time.low_s = std::max(time.expected_s / (1 + spread), result.limit.time_s);
  time.high_s = time.expected_s * (1 + spread);
  time.sm_cycles = (found.schedule.running_s - slower_s) * found.clock_hz;
  time.sm_clock_hz = slower_s > 0 ? time.sm_cycles / found.schedule.running_s : found.clock_hz;
  constexpr double kWorthANote = 0.1;
  if (slower_s > kWorthANote * found.schedule.running_s) {
    result.notes.push_back(message("the power limit of ", si_text(*gpu.power_w, "W"),
                                   " lowers the SM clock from ", si_text(found.clock_hz, "Hz"),
                                   " to ", si_text(time.sm_clock_hz, "Hz")));
  }
  if (auto note = launching_note(found.costs, found.schedule)) {
    result.notes.push_back(std::move(*note));
  }
}

// Notes on the basis of the expected time, where it is weaker than a validated calibration.
void add_notes(Prediction& result, const KernelRef& found, const LaunchSequence& sequence,
               const Gpu& gpu) {
  const Problem& problem = result.problem;
  const auto add = [&notes = result.notes](const auto&... pieces) {
    notes.push_back(message(pieces...));
  };
  const auto estimated = std::find_if(sequence.begin(), sequence.end(), [](const Launched& one) {
    return !one.plan.notes.caveat.empty();
  });
  if (estimated != sequence.end()) add(estimated->plan.notes.caveat);
  const bool computes = result.work.flops() > 0 || result.work.conversions > 0;
  if (computes && !computes_in(gpu, problem.dtype)) {
    add(gpu.name, " has no arithmetic in ", name(problem.dtype),
        ": what emulates it is not counted");
  }
  if (gpu.memory.dram_bytes && allocated_bytes(sequence) > *gpu.memory.dram_bytes) {
    add("the arrays are larger than the ", gpu.name, "'s memory: they do not fit all at once");
  }
  const Sustained& known = gpu.sustained;
  const CalibrationKind kind = calibration_kind(known);
  if (kind == CalibrationKind::none) {
    add("this device was never calibrated: the expected time rests on datasheet values");
    return;
  }
  if (kind == CalibrationKind::published) {
    add("this device was never measured by this project: its sustained values come from published "
        "measurements (",
        known.source, ")");
  }
  if (!known.relative.empty()) {
    add(kind == CalibrationKind::relative
            ? "this device was never measured: its sustained values are those of "
            : "what its calibration does not tell is taken from ",
        known.relative, ", scaled by the datasheets");
  }
  const auto validated =
      found.kernel->validated.empty() ? found.family->validated : found.kernel->validated;
  for (const ValidatedRange& range : validated) {
    const std::int64_t value = problem[range.parameter];
    if (value >= range.from && value <= range.to) continue;
    add(found.kernel->parameters[range.parameter].name, " is ", value, ": validated from ",
        range.from, " to ", range.to);
  }
}

Prediction predict_variant(const Question& question) {
  const KernelRef& found = question.kernel;
  const Gpu& gpu = question.gpu;
  Candidate answer = fastest_candidate(question);
  Prediction result;
  double on_chip_bytes = 0;
  result.problem = answer.problem;
  for (const auto& [plan, repeats] : answer.sequence) {
    result.work += repeats * total_work(plan);
    on_chip_bytes = std::max(on_chip_bytes, plan.on_chip_bytes);
    for (const TrafficReason& one : plan.notes.traffic_reasons) {
      result.traffic_reasons.push_back(one);
    }
  }
  const auto work = found.kernel->work != nullptr ? found.kernel->work : found.family->work;
  result.useful_flops = result.work.flops();
  if (work != nullptr) {
    const Work asked = work(answer.problem);
    result.work.compulsory = asked.compulsory;
    result.useful_flops = asked.flops();
  }
  result.work.dram = result.work.compulsory;
  const auto io = found.kernel->io != nullptr ? found.kernel->io : found.family->io;
  result.io = io(answer.problem, result.work.compulsory.total_bytes(), on_chip_bytes);
  result.limit = answer.limit;
  result.launch = answer.sequence.front().plan.launch;
  if (found.family->compares_footprint) result.footprint_bytes = touched_bytes(answer.sequence);

  if (!gpu.occupancy || !gpu.sm_count) {
    result.notes.emplace_back("occupancy, waves and expected time: not defined for this device");
    return result;
  }
  if (!answer.time) {
    result.notes.emplace_back("no SM clock is known for this device: no expected time");
    return result;
  }
  add_forecast(result, answer, gpu);
  add_notes(result, found, answer.sequence, gpu);
  return result;
}

}  // namespace

Prediction predict(const Question& question) {
  return question.kernel.kernel != nullptr ? predict_variant(question) : predict_family(question);
}

Problem with_settings(const KernelRef& kernel, const Problem& problem, const Gpu& gpu) {
  if (kernel.kernel == nullptr || kernel.kernel->candidates == nullptr) return problem;
  return predict(kernel, problem, gpu).problem;
}

Problem without_own_choice(const KernelRef& kernel, Problem problem) {
  if (kernel.kernel == nullptr) return problem;
  for (const std::size_t i : kernel.kernel->own_choice) problem[i] = kToChoose;
  return problem;
}

Problem as_measured(const KernelRef& kernel, const Problem& problem, const Gpu& gpu) {
  const bool is_own = kernel.kernel != nullptr && !kernel.kernel->own_choice.empty();
  return is_own ? without_own_choice(kernel, problem) : with_settings(kernel, problem, gpu);
}

}  // namespace roofcast
