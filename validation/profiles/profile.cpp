#include "validation/profiles/profile.hpp"

#include <algorithm>

#include "model/laws/occupancy.hpp"
#include "validation/profiles/counted.hpp"
#include "validation/profiles/forecasts.hpp"

namespace roofcast::validation {
namespace {

Assumptions assumptions_of(const Trace& trace, const CallGroup& group) {
  Assumptions assumed{.cache = trace.counted ? CacheState::cold : CacheState::warm};
  const auto clock = group.longest_kernel().counted.sm_clock_hz;
  constexpr double kLeast = 1e8, kMost = 1e10;
  if (clock && *clock > kLeast && *clock < kMost) assumed.sm_clock_hz = clock;
  return assumed;
}

void place_on_device(CallGroup& group, const Gpu& gpu) {
  const auto& launch = group.longest_kernel().launch;
  if (!launch || !gpu.occupancy || launch->registers <= 0 || launch->threads() <= 0) return;
  if (launch->blocks() <= 0) return;
  const Occupancy found = occupancy(*launch, *gpu.occupancy);
  if (found.blocks_per_sm <= 0) return;
  group.occupancy = found;
  group.waves = waves(launch->blocks(), gpu.slots(found.blocks_per_sm));
}

// What a group lacks for a forecast.
Lacks lacking(const CallGroup& group) {
  if (group.expected_s) return Lacks::nothing;
  if (group.does == Does::unknown) return Lacks::name;
  const auto& inputs = group.call.inputs;
  const bool shapes = std::any_of(inputs.begin(), inputs.end(),
                                  [](const TensorShape& input) { return !input.dims.empty(); });
  return shapes ? Lacks::law : Lacks::shape;
}

void take_counters(CallGroup& group, const Assumptions& assumed, const Gpu& gpu) {
  ProfiledKernel kernel = group.longest_kernel();
  CountedWork& counted = kernel.counted;
  counted.tensor_flops = tensor_flops_of(kernel, group.does, gpu);
  if (const auto bytes = dram_bytes_of(kernel, gpu); bytes || counted.flops() > 0) {
    group.place = RoofPlace{counted.flops(), bytes.value_or(0), true};
  }
  if (group.forecast) return;
  const auto described = described_by_counters(kernel, group.does);
  if (!described) return;
  group.forecast = forecast_of(*described, described->problem, gpu, assumed);
  group.from_counters = group.forecast.has_value();
}

void ask_the_model(CallGroup& group, const Trace& trace, const Gpu& gpu) {
  const KernelName named = kernel_name(group.longest_kernel().name);
  group.library = named.library;
  group.recognized = recognize(group.call);
  group.does = group.recognized ? group.recognized->does : named.does;
  const Assumptions assumed = assumptions_of(trace, group);
  if (group.recognized) {
    group.forecast = forecast_of(*group.recognized, group.recognized->problem, gpu, assumed);
  }
  take_counters(group, assumed, gpu);
  place_on_device(group, gpu);
  if (group.forecast) {
    const auto calls = static_cast<double>(group.count());
    const bool moves = !group.from_counters && group.recognized->kernel.owner != nullptr;
    if (moves) {
      const Traffic bytes = group.recognized->least.value_or(group.forecast->work.compulsory);
      group.limit_s = calls * std::max(moving_limit_s(bytes, gpu), tensor_limit_s(*group.forecast));
    } else {
      group.limit_s = calls * group.forecast->limit.time_s;
    }
    // Counters of a product whose shape is not known give only a lower bound.
    const bool multiplies = group.does == Does::product || group.does == Does::attention;
    const bool bound_alone = group.from_counters ? multiplies : group.recognized->bound_alone;
    if (!bound_alone) group.expected_s = calls * profiled_s(*group.forecast, gpu);
    if (!group.place && group.forecast->work.flops() > 0) {
      group.place =
          RoofPlace{group.forecast->work.flops(), group.forecast->work.dram.total_bytes(), false};
    }
  }
  group.lacks = lacking(group);
}

}  // namespace

const ProfiledKernel& CallGroup::longest_kernel() const {
  return *std::max_element(call.kernels.begin(), call.kernels.end(),
                           [](const auto& a, const auto& b) { return a.time_s < b.time_s; });
}

Profile profile_of(Trace trace, const Gpu& gpu) {
  Profile profile;
  for (TracedCall& call : trace.calls) {
    profile.groups.emplace_back().call = std::move(call);
    ask_the_model(profile.groups.back(), trace, gpu);
  }
  profile.mends = mends_of(trace, profile.groups, gpu);
  trace.calls.clear();
  trace.sequence.clear();
  profile.trace = std::move(trace);
  for (const CallGroup& group : profile.groups) {
    if (group.does != Does::unknown) profile.recognized_s += group.measured_s();
    if (group.lacks == Lacks::shape) profile.no_shape_s += group.measured_s();
    if (!group.expected_s) continue;
    profile.compared_s += group.measured_s();
    profile.expected_s += *group.expected_s;
  }
  std::stable_sort(profile.groups.begin(), profile.groups.end(),
                   [](const auto& a, const auto& b) { return a.measured_s() > b.measured_s(); });
  return profile;
}

}  // namespace roofcast::validation
