#include "model/laws/bounds.hpp"

#include <algorithm>

#include "model/counting/integers.hpp"
#include "model/counting/totals.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/l1_reuse.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/peaks.hpp"

namespace roofcast {
namespace {

void require_arithmetic(bool computes, const Gpu& gpu, DType type) {
  require(computes, gpu.name, " does not compute in ", name(type),
          ": choose a type that `roofcast gpus ", gpu.name, "` lists");
}

// L2 may absorb the last writes, and serve reads of `used_bytes`, which an earlier kernel used.
double dram_bound_s(const Traffic& compulsory, double used_bytes, const Gpu& gpu) {
  const double bandwidth = gpu.memory.dram_bandwidth_bytes_per_s.value_or(0);
  if (bandwidth <= 0) return 0;
  const double l2 = gpu.memory.l2_bytes.value_or(0);
  const double read = compulsory.read_bytes - std::min(used_bytes, l2);
  return (std::max(0.0, read) + std::max(0.0, compulsory.write_bytes - l2)) / bandwidth;
}

// The bound of a launch. An array that an earlier launch of the sequence used adds nothing.
double dram_bound_s(const LaunchSequence& sequence, std::size_t position, CacheState cache,
                    const Gpu& gpu) {
  Traffic compulsory;
  const auto& arrays = sequence[position].plan.arrays;
  // returns_after_bytes is set for repeated launches only: they read the same activations.
  const bool repeated = std::any_of(arrays.begin(), arrays.end(), [](const ArrayUse& use) {
    return use.returns_after_bytes.has_value();
  });
  double used = 0;  // bytes of inputs that an earlier kernel may have left in L2
  for (const ArrayUse& use : arrays) {
    if (last_user(sequence, position, use.array)) continue;
    compulsory += use.compulsory;
    const bool computed = use.activation && (repeated || cache == CacheState::warm);
    if (cache == CacheState::repeated || computed || use.returns_after_bytes) {
      used += use.compulsory.read_bytes;
    }
  }
  return dram_bound_s(compulsory, used, gpu);
}

// For devices with whole-device peaks only: TPUs, boards of two dies.
void add_arithmetic_of_whole(ByResource& times, const Plan& plan, const Gpu& gpu) {
  const auto take = [&](Resource resource, double flops, DType type) {
    if (flops <= 0) return;
    const auto peak = gpu.peak_flops_per_s[type];
    require_arithmetic(peak.has_value(), gpu, type);
    times[resource] += flops / *peak;
  };
  take(Resource::vector, plan.useful.vector_flops, plan.compute);
  for (const DType type : kAllDTypes) take(Resource::tensor, plan.useful.tensor_flops[type], type);
}

ByResource bounds(const LaunchSequence& sequence, std::size_t position, CacheState cache,
                  const Gpu& gpu) {
  const Plan& plan = sequence[position].plan;
  ByResource times;
  times[Resource::dram] = dram_bound_s(sequence, position, cache, gpu);

  const auto clock = limit_clock_hz(gpu);
  if (!clock || !gpu.sm_count) {
    add_arithmetic_of_whole(times, plan, gpu);
    return times;
  }
  const double sm_clocks_per_s = *clock * as_double(*gpu.sm_count);
  const Work& work = plan.useful;
  const auto add = [&](Resource resource, double amount, const std::optional<double>& per_clk) {
    if (per_clk) times[resource] = amount / (*per_clk * sm_clocks_per_s);
  };
  add(Resource::vector, work.vector_flops, gpu.sm.vector_flop_per_clk[plan.compute]);
  for (const DType type : kAllDTypes) {
    if (work.tensor_flops[type] <= 0) continue;
    if (const auto peak = fastest_tensor_flops_per_s(gpu, type, *clock)) {
      times[Resource::tensor] += work.tensor_flops[type] / *peak;
    }
  }
  add(Resource::special, work.special_flops, gpu.sm.special_per_clk);
  add(Resource::conversion, work.conversions, gpu.sm.conversion_per_clk);
  if (plan.notes.estimated_traffic) return times;
  if (const auto peak = l2_peak_bytes_per_s(gpu, *clock)) {
    times[Resource::l2] = (least_l2_traffic(plan, gpu).read_bytes - plan.coalesced.most) / *peak;
  }
  const Work issued = issued_by_launch(plan);
  add(Resource::shared, issued.shared_bytes, gpu.sm.shared_bytes_per_clk);
  add(Resource::l1, issued.l1.total_bytes(), gpu.sm.l1_bytes_per_clk);
  return times;
}

}  // namespace

Limit limit(const LaunchSequence& sequence, const Gpu& gpu, CacheState cache) {
  Limit result;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const ByResource times = bounds(sequence, i, cache, gpu);
    const double repeats = sequence[i].repeats;
    result.time_s += repeats * *std::max_element(times.begin(), times.end());
    result.terms += repeats * times;
  }
  return result;
}

Limit limit(const Work& work, DType type, const Gpu& gpu, CacheState cache) {
  ByResource times;
  const bool used = cache == CacheState::warm || cache == CacheState::repeated;
  times[Resource::dram] = dram_bound_s(work.compulsory, used ? work.compulsory.read_bytes : 0, gpu);
  if (work.flops() > 0) {
    const auto peak = best_peak(gpu, type);
    require_arithmetic(peak.has_value(), gpu, type);
    times[peak->tensor ? Resource::tensor : Resource::vector] = work.flops() / peak->flops_per_s;
  }
  return {*std::max_element(times.begin(), times.end()), times};
}

}  // namespace roofcast
