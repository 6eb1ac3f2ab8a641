#include "model/laws/bounds.hpp"

#include <algorithm>
#include <array>

#include "model/laws/clock.hpp"
#include "model/laws/peaks.hpp"

namespace roofcast {
namespace {

using TimeByResource = std::array<double, kResources>;

double& at(TimeByResource& times, Resource resource) {
  return times[static_cast<std::size_t>(resource)];
}

double dram_bound_s(const Traffic& compulsory, const Gpu& gpu) {
  const double bandwidth = gpu.memory.dram_bandwidth_bytes_per_s.value_or(0);
  if (bandwidth <= 0) return 0;
  const double may_stay = gpu.memory.l2_bytes.value_or(0);
  const double bytes =
      std::max(0.0, compulsory.read_bytes) + std::max(0.0, compulsory.write_bytes - may_stay);
  return bytes / bandwidth;
}

TimeByResource bounds(const Plan& plan, const Gpu& gpu) {
  TimeByResource times{};
  Traffic unavoidable = plan.total.compulsory;
  unavoidable.read_bytes -= reused(plan).read_bytes;
  unavoidable.write_bytes -= reused(plan).write_bytes;
  at(times, Resource::dram) = dram_bound_s(unavoidable, gpu);

  const auto clock = limit_clock_hz(gpu);
  if (!clock || !gpu.sm_count) return times;
  const double sm_clocks_per_s = *clock * static_cast<double>(*gpu.sm_count);
  const Work& work = plan.total;
  if (const auto peak = vector_peak_flops_per_s(gpu, plan.compute, *clock)) {
    at(times, Resource::vector) = work.vector_flops / *peak;
  }
  if (const auto peak = fastest_tensor_flops_per_s(gpu, plan.compute, *clock)) {
    at(times, Resource::tensor) = work.tensor_flops / *peak;
  }
  if (gpu.sm.special_per_clk) {
    at(times, Resource::special) = work.special_flops / (*gpu.sm.special_per_clk * sm_clocks_per_s);
  }
  if (gpu.sm.conversion_per_clk) {
    at(times, Resource::conversion) =
        work.conversions / (*gpu.sm.conversion_per_clk * sm_clocks_per_s);
  }
  if (const auto peak = l2_peak_bytes_per_s(gpu, *clock)) {
    at(times, Resource::l2) = work.l2.read_bytes / *peak;
  }
  if (gpu.sm.shared_bytes_per_clk) {
    at(times, Resource::shared) =
        work.shared_bytes / (*gpu.sm.shared_bytes_per_clk * sm_clocks_per_s);
  }
  if (gpu.sm.l1_bytes_per_clk) {
    at(times, Resource::l1) = work.l1.total_bytes() / (*gpu.sm.l1_bytes_per_clk * sm_clocks_per_s);
  }
  return times;
}

Terms to_terms(const TimeByResource& times) {
  Terms terms;
  for (std::size_t i = 0; i < kResources; ++i) {
    if (times[i] > 0) terms.add(static_cast<Resource>(i), times[i]);
  }
  return terms;
}

}  // namespace

Limit limit(const Plans& plans, const Gpu& gpu) {
  Limit result;
  TimeByResource sum{};
  for (const Plan& plan : plans) {
    const TimeByResource times = bounds(plan, gpu);
    result.time_s += plan.repeats * *std::max_element(times.begin(), times.end());
    for (std::size_t i = 0; i < kResources; ++i) sum[i] += plan.repeats * times[i];
  }
  result.terms = to_terms(sum);
  return result;
}

Limit limit(const Work& work, DType type, const Gpu& gpu) {
  TimeByResource times{};
  at(times, Resource::dram) = dram_bound_s(work.compulsory, gpu);
  if (work.flops() > 0) {
    const auto peak = best_peak(gpu, type);
    if (!peak) {
      throw InputError(gpu.name + " does not compute in " + std::string(name(type)) +
                       ": choose a type that `roofcast gpus " + gpu.name + "` lists");
    }
    at(times, peak->tensor ? Resource::tensor : Resource::vector) =
        work.flops() / peak->flops_per_s;
  }
  return {*std::max_element(times.begin(), times.end()), to_terms(times)};
}

}  // namespace roofcast
