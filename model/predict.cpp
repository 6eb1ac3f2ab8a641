#include "model/predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "model/constants/intervals.hpp"
#include "model/counting/totals.hpp"
#include "model/crossover.hpp"
#include "model/laws/bounds.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/feasibility.hpp"
#include "model/laws/forecast.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/launching.hpp"
#include "model/laws/occupancy.hpp"
#include "model/laws/outline_bound.hpp"
#include "model/laws/peaks.hpp"
#include "model/laws/waves.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

Prediction predict_family(const KernelFamily& family, const Problem& problem, const Gpu& gpu,
                          CacheState cache) {
  if (family.work == nullptr) {
    std::string variants;
    for (const KernelModel& kernel : family.variants) {
      variants += (variants.empty() ? "" : ", ") + std::string(kernel.name);
    }
    throw InputError("the kernels of " + std::string(family.name) +
                     " do different work, so the family has no limit of its own: ask for one of " +
                     variants);
  }
  Prediction result;
  result.problem = problem;
  result.work = family.work(problem);
  result.useful_flops = result.work.flops();
  result.work.dram = result.work.compulsory;  // at the least, however computed
  result.io =
      family.io(problem, result.work.compulsory.total_bytes(), gpu.memory.l2_bytes.value_or(0));
  result.limit = limit(result.work, problem.dtype, gpu, cache);
  return result;
}

bool uses_tensor_cores(const LaunchSequence& program) {
  return std::any_of(program.begin(), program.end(), [](const Launched& node) {
    return std::any_of(kAllDTypes.begin(), kAllDTypes.end(),
                       [&node](DType type) { return node.plan.useful.tensor_flops[type] > 0; });
  });
}

std::optional<SmClock> clock_of(const LaunchSequence& program, const Gpu& gpu,
                                const Assumptions& assumptions) {
  const auto& measured = assumptions.sm_clock_hz;
  const auto hz = measured ? measured : expected_clock_hz(gpu, uses_tensor_cores(program));
  const bool back_to_back = assumptions.cache == CacheState::steady;
  return hz ? std::optional(SmClock{*hz, measured.has_value(), back_to_back}) : std::nullopt;
}

// One launch of the program, sized.
struct Sized {
  const Launched* node;
  Occupancy fit;
  LaunchMemory memory;
};

std::vector<Sized> sized(const LaunchSequence& program, CacheState cache, const Gpu& gpu) {
  std::vector<Sized> launches;
  launches.reserve(program.size());
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Occupancy fit = checked_occupancy(program[i].plan, gpu);
    launches.push_back({&program[i], fit, launch_memory(program, i, fit, cache, gpu)});
  }
  return launches;
}

// What crosses below L1, as the laws find it. What stays dirty in L2 after a single launch, the
// last one need not wait for.
void add_memory(Work& work, std::vector<Sized>& launches, CacheState cache, const Gpu& gpu) {
  work.l2 = work.dram = {};
  for (const Sized& one : launches) {
    work.l2 += one.node->repeats * one.memory.l2;
    work.dram += one.node->repeats * one.memory.dram;
  }
  if (cache == CacheState::steady) return;
  const double left = left_dirty_bytes(work.dram, gpu);
  work.dram.write_bytes -= left;
  double& last = launches.back().memory.dram.write_bytes;
  last = std::max(0.0, last - left);
}

void add_warm_reason(Prediction& result, const std::vector<Sized>& launches) {
  double bytes = 0;
  for (const Sized& one : launches) bytes += one.node->repeats * one.memory.warm_bytes;
  if (bytes <= 0) return;
  result.traffic_reasons.push_back(
      {Level::dram, "L2 still holds " + si_text(bytes, "B") + " that an earlier kernel computed"});
}

// Of the SMs that the launch can use, a block goes to each before a second one goes to any.
Waves waves_of(const Plan& plan, const Occupancy& fit, const Gpu& gpu) {
  const std::int64_t blocks = plan.launch.blocks();
  const std::int64_t all = places(plan.launch, fit, gpu);
  Waves result = waves(blocks, all);
  result.active_sms = std::min(blocks, std::max<std::int64_t>(1, all / fit.blocks_per_sm));
  return result;
}

// Of several launches the one in which most of the time goes.
void show(Prediction& result, const std::vector<Sized>& launches, std::span<const LaunchRun> runs,
          const Gpu& gpu) {
  const auto time_s = [](const LaunchRun& run) { return run.count * run.running_s; };
  const auto longest = std::max_element(
      runs.begin(), runs.end(),
      [&](const LaunchRun& a, const LaunchRun& b) { return time_s(a) < time_s(b); });
  result.shown_launch = static_cast<std::size_t>(longest - runs.begin());
  const Sized& shown = launches[result.shown_launch];
  result.launch = shown.node->plan.launch;
  result.occupancy = shown.fit;
  result.waves = waves_of(shown.node->plan, shown.fit, gpu);
}

// All launches of the sequence, added up.
void add_forecast(Prediction& result, const LaunchSequence& program, const SmClock& clock,
                  const Gpu& gpu, const Assumptions& assumptions) {
  const CacheState cache = assumptions.cache;
  std::vector<Sized> launches = sized(program, cache, gpu);
  add_memory(result.work, launches, cache, gpu);
  add_warm_reason(result, launches);

  Forecast time;
  std::array<double, kResources> terms{};
  double running_s = 0;
  double slower_s = 0;
  std::vector<LaunchRun> runs;
  runs.reserve(launches.size());
  for (const Sized& one : launches) {
    const double repeats = one.node->repeats;
    const LaunchTime launch = launch_time(one.node->plan, one.fit, one.memory, clock, gpu);
    runs.push_back({repeats, launch.time_s, one.node->plan.start == Start::programmatic});
    running_s += repeats * launch.time_s;
    slower_s += repeats * launch.slower_s;
    result.launches += static_cast<std::int64_t>(repeats);
    time.waterfall.add(repeats, launch.parts);
    // Overlap as the engine sees it may be less than all that an average SM does: no resource is
    // told to be busy for longer than the launch.
    for (std::size_t i = 0; i < kResources; ++i) {
      terms[i] += repeats * std::min(launch.terms_s[i], launch.time_s);
    }
  }
  show(result, launches, runs, gpu);
  const LaunchCosts costs =
      launch_costs(gpu, cache, assumptions.launch.value_or(usual_launch(cache)));
  const Schedule chain = schedule(runs, costs, assumptions.queued_s);
  const double launch_s = chain.total_s - running_s;
  time.waterfall[Part::launch] = launch_s;
  terms[static_cast<std::size_t>(Resource::launch)] += launch_s;

  for (std::size_t i = 0; i < kResources; ++i) {
    if (terms[i] > 0) time.terms.add(static_cast<Resource>(i), terms[i]);
  }
  // The limit is a fact, the forecast an estimate: where they cross, the estimate is wrong.
  time.expected_s = std::max(launch_s + running_s, result.limit.time_s);
  time.waterfall[Part::limit] = time.expected_s - (launch_s + running_s);
  const double spread = relative_spread(time.expected_s, time.terms, gpu);
  time.low_s = std::max(time.expected_s / (1 + spread), result.limit.time_s);
  time.high_s = time.expected_s * (1 + spread);
  time.sm_cycles = (running_s - slower_s) * clock.hz;
  time.sm_clock_hz = slower_s > 0 ? time.sm_cycles / running_s : clock.hz;
  result.time = time;
  if (auto note = launching_note(runs, costs, chain)) result.notes.push_back(std::move(*note));
}

// Of a kernel whose plan is a typical case: constants/intervals.hpp.
void widen(Prediction& result, const KernelRef& found) {
  for (const Constant& one : interval::kAll) {
    if (one.name != found.kernel->name) continue;
    Forecast& time = *result.time;
    const double spread = one.value * (time.high_s / time.expected_s - 1);
    time.low_s = std::max(time.expected_s / (1 + spread), result.limit.time_s);
    time.high_s = time.expected_s * (1 + spread);
  }
}

// What the expected time rests on, where that is less than a validated calibration.
void add_notes(Prediction& result, const KernelRef& found, const Problem& problem,
               const LaunchSequence& program, const Gpu& gpu) {
  const Plan& first = program.front().plan;
  if (!first.notes.caveat.empty()) result.notes.emplace_back(first.notes.caveat);
  const bool computes = result.work.flops() > 0 || result.work.conversions > 0;
  if (computes && !computes_in(gpu, problem.dtype)) {
    result.notes.push_back(gpu.name + " has no arithmetic in " + std::string(name(problem.dtype)) +
                           ": what emulates it is not counted");
  }
  if (auto note = memory_note(program, gpu)) result.notes.push_back(std::move(*note));
  const CalibrationKind kind = calibration_kind(gpu.sustained);
  if (kind == CalibrationKind::none) {
    result.notes.emplace_back(
        "this device was never calibrated: the expected time rests on datasheet values");
    return;
  }
  if (kind == CalibrationKind::published) {
    result.notes.push_back(
        "this device was never measured by this project: its sustained values come from published "
        "measurements (" +
        gpu.sustained.source + ")");
  }
  if (kind == CalibrationKind::relative) {
    result.notes.push_back("this device was never measured: its sustained values are those of " +
                           gpu.sustained.relative + ", scaled by the datasheets");
  } else if (!gpu.sustained.relative.empty()) {
    result.notes.push_back("what its calibration does not tell is taken from " +
                           gpu.sustained.relative + ", scaled by the datasheets");
  }
  const auto validated =
      found.kernel->validated.empty() ? found.family->validated : found.kernel->validated;
  for (const ValidatedRange& range : validated) {
    const std::int64_t value = problem[range.parameter];
    if (value >= range.from && value <= range.to) continue;
    result.notes.push_back(std::string(found.kernel->parameters[range.parameter].name) + " is " +
                           std::to_string(value) + ": validated from " +
                           std::to_string(range.from) + " to " + std::to_string(range.to));
  }
}

Prediction predict_variant(const KernelRef& found, const Problem& problem, const Gpu& gpu,
                           const Assumptions& assumptions) {
  LaunchSequence program = found.kernel->plan_of(problem, gpu);
  Prediction result;
  result.problem = problem;
  for (auto& [plan, repeats] : program) {
    result.work += repeats * total_work(plan);
    result.traffic_reasons.insert(result.traffic_reasons.end(),
                                  std::make_move_iterator(plan.notes.traffic_reasons.begin()),
                                  std::make_move_iterator(plan.notes.traffic_reasons.end()));
  }
  const auto work = found.kernel->work != nullptr ? found.kernel->work : found.family->work;
  result.useful_flops = result.work.flops();
  if (work != nullptr) {
    const Work asked = work(problem);
    result.work.compulsory = asked.compulsory;
    result.useful_flops = asked.flops();
  }
  result.work.dram = result.work.compulsory;
  const Plan& first = program.front().plan;
  const auto io = found.kernel->io != nullptr ? found.kernel->io : found.family->io;
  result.io = io(problem, result.work.compulsory.total_bytes(), first.on_chip_bytes);
  result.limit = limit(program, gpu, assumptions.cache);
  result.launch = first.launch;
  if (found.family->compares_footprint) result.footprint_bytes = memory_bytes(program);

  if (!gpu.occupancy || !gpu.sm_count) {
    result.notes.emplace_back("occupancy, waves and expected time: not defined for this device");
    return result;
  }
  const auto clock = clock_of(program, gpu, assumptions);
  if (!clock) {
    result.notes.emplace_back("no SM clock is known for this device: no expected time");
    return result;
  }
  add_forecast(result, program, *clock, gpu, assumptions);
  widen(result, found);
  add_notes(result, found, problem, program, gpu);
  return result;
}

bool is_faster(const Prediction& a, const Prediction& b) {
  return a.time && b.time && a.time->expected_s < b.time->expected_s;
}

/// Candidates in the order of what they take at the least.
class Candidates {
 public:
  Candidates(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
             const Assumptions& assumptions)
      : problems_(kernel.kernel->candidates != nullptr ? kernel.kernel->candidates(problem, gpu)
                                                       : std::vector{problem}) {
    const auto outline = problems_.size() > 1 ? kernel.kernel->outline : nullptr;
    const LaunchCosts costs = launch_costs(
        gpu, assumptions.cache, assumptions.launch.value_or(usual_launch(assumptions.cache)));
    order_.reserve(problems_.size());
    for (std::size_t i = 0; i < problems_.size(); ++i) {
      order_.emplace_back(0, i);
      if (outline == nullptr) continue;
      const Outline brief = outline(problems_[i], gpu);
      const auto clock = assumptions.sm_clock_hz ? assumptions.sm_clock_hz
                                                 : expected_clock_hz(gpu, brief.on_tensor_cores);
      if (clock) order_.back().first = least_time_s(brief, costs, *clock, gpu);
    }
    std::sort(order_.begin(), order_.end());
  }

  const Problem& operator[](std::size_t i) const { return problems_[i]; }
  std::size_t size() const { return problems_.size(); }

  /// Calls expected_s(i) for each that may take less than those before. Throws the first refusal if
  /// all are refused.
  template <class ExpectedS>
  void search(const ExpectedS& expected_s) const {
    double least_s = std::numeric_limits<double>::infinity();
    std::optional<InputError> refusal;
    bool found = false;
    for (const auto& [bound_s, i] : order_) {
      if (bound_s > least_s) break;
      try {
        least_s = std::min(least_s, expected_s(i));
        found = true;
      } catch (const InputError& error) {
        if (!refusal) refusal = error;
      }
    }
    if (found) return;
    throw refusal.value_or(InputError("no candidate computes it: leave settings open"));
  }

 private:
  std::vector<Problem> problems_;
  std::vector<std::pair<double, std::size_t>> order_;
};

// Of the candidates that can run here the one with the least expected time.
Prediction predict_fastest(const KernelRef& found, const Problem& problem, const Gpu& gpu,
                           const Assumptions& assumptions) {
  const Candidates candidates(found, problem, gpu, assumptions);
  std::optional<Prediction> best;
  candidates.search([&](std::size_t i) {
    Prediction one = predict_variant(found, candidates[i], gpu, assumptions);
    const double time_s = one.time ? one.time->expected_s : std::numeric_limits<double>::infinity();
    if (!best || is_faster(one, *best)) best = std::move(one);
    return time_s;
  });
  return std::move(*best);
}

}  // namespace

Prediction predict(const KernelRef& kernel, const Problem& problem, const Gpu& gpu,
                   const Assumptions& assumptions) {
  if (kernel.kernel == nullptr) {
    Prediction result = predict_family(*kernel.family, problem, gpu, assumptions.cache);
    for (std::string& note : crossover_notes(*kernel.family, problem, gpu, assumptions)) {
      result.notes.push_back(std::move(note));
    }
    return result;
  }
  if (kernel.kernel->candidates != nullptr) {
    return predict_fastest(kernel, problem, gpu, assumptions);
  }
  return predict_variant(kernel, problem, gpu, assumptions);
}

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
      Prediction result;
      result.limit = one.limit;
      add_forecast(result, one.program, *clock_of(one.program, gpu, assumptions_), gpu,
                   assumptions_);
      least_s = std::min(least_s, result.time->expected_s);
    } catch (const InputError& error) {
      if (!refusal) refusal = error;
    }
  }
  if (std::isinf(least_s) && refusal) throw InputError(*refusal);
  return least_s;
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
