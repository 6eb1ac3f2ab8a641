#include "model/laws/sm_time.hpp"

#include <algorithm>

#include "model/laws/overlap.hpp"

namespace roofcast {
namespace {

using CyclesByResource = std::array<double, kResources>;

// Warps on an SM at which issue efficiency and the overlap of its pipes are stated.
constexpr double kMeasuredWarps = 8;

double per_clk(double work, const std::optional<double>& rate) {
  return rate && *rate > 0 ? work / *rate : 0;
}

// Share of the issue slots that warps keep filled. Each warp has an instruction ready with some
// chance, so more of them leave fewer slots empty: what is lost falls as 1 ÷ warps from what eight
// warps lose.
double issue_efficiency(double resident_warps, const Gpu& gpu) {
  const double lost = 1 / gpu.sustained.issue_efficiency.value_or(1) - 1;
  return 1 / (1 + lost * kMeasuredWarps / std::max(1.0, resident_warps));
}

// The measured rate where there is one, else the datasheet's.
std::optional<double> rate(const std::optional<double>& sustained,
                           const std::optional<double>& datasheet) {
  return sustained ? sustained : datasheet;
}

// Cycles each pipe of an SM is busy with one block's step.
CyclesByResource pipe_cycles(const Step& step, DType compute, double resident_warps,
                             const Gpu& gpu) {
  CyclesByResource cycles{};
  const auto set = [&cycles](Resource resource, double value) {
    cycles[static_cast<std::size_t>(resource)] = value;
  };
  set(Resource::vector, per_clk(step.vector_flops, rate(gpu.sustained.vector_flop_per_clk[compute],
                                                        gpu.sm.vector_flop_per_clk[compute])));
  set(Resource::special,
      per_clk(step.special_ops, rate(gpu.sustained.special_per_clk, gpu.sm.special_per_clk)));
  set(Resource::conversion,
      per_clk(step.conversions, rate(gpu.sustained.conversion_per_clk, gpu.sm.conversion_per_clk)));
  set(Resource::issue, per_clk(step.instructions, gpu.sm.warp_issue_per_clk) /
                           issue_efficiency(resident_warps, gpu));
  set(Resource::shared, step.shared_wavefronts);
  set(Resource::l1,
      std::max(step.l1_wavefronts, per_clk(step.l1_lookups, gpu.sustained.l1_tags_per_clk)));
  set(Resource::l2, per_clk(step.l2_bytes, gpu.sm.l2_bytes_per_clk));
  return cycles;
}

double unloaded_l2_cycles(const Gpu& gpu) {
  return rate(gpu.sustained.l2_latency_cycles, gpu.latency.l2_cycles).value_or(0);
}

double loaded_l2_cycles(const Gpu& gpu) {
  return gpu.sustained.l2_loaded_cycles.value_or(unloaded_l2_cycles(gpu));
}

double exposed_latency_cycles(const Step& step, double dram_share, const Gpu& gpu) {
  const double unloaded = unloaded_l2_cycles(gpu);
  const double l2 = loaded_l2_cycles(gpu);
  const double beyond_l2 =
      rate(gpu.sustained.dram_latency_cycles, gpu.latency.dram_cycles).value_or(unloaded) -
      unloaded;
  const double tile = gpu.sustained.tile_load_latency_cycles.value_or(l2);
  return step.global_round_trips * (l2 + beyond_l2 * dram_share) +
         step.tile_load_waits * (tile + beyond_l2 * dram_share) +
         step.shared_round_trips *
             rate(gpu.sustained.shared_latency_cycles, gpu.latency.shared_cycles).value_or(0) +
         step.dependent_fmas *
             rate(gpu.sustained.fma_latency_cycles, gpu.latency.fma_cycles).value_or(0) +
         step.barriers * gpu.sustained.barrier_cycles.value_or(0);
}

struct StepCost {
  CyclesByResource pipes;
  double latency;  ///< exposed, of one block
  double stream;   ///< one warp's instructions, one after the other
};

StepCost step_cost(const Step& step, DType compute, double warps, double resident,
                   double dram_share, const Gpu& gpu) {
  return {pipe_cycles(step, compute, warps * resident, gpu),
          exposed_latency_cycles(step, dram_share, gpu),
          step.instructions / warps * gpu.sustained.warp_issue_cycles.value_or(1)};
}

// Every multiply-add is also an issued instruction, and shared memory and L1 are one data pipe: of
// each pair the fuller one counts. What is left overlaps imperfectly.
double busy_cycles(const CyclesByResource& pipes, const Overlap& overlap) {
  const auto of = [&pipes](Resource resource) { return pipes[static_cast<std::size_t>(resource)]; };
  return overlap(std::array{std::max(of(Resource::vector), of(Resource::issue)),
                            of(Resource::tensor), of(Resource::special), of(Resource::conversion),
                            of(Resource::shared) + of(Resource::l1), of(Resource::l2),
                            of(Resource::launch)});
}

struct StepTime {
  double cycles;
  double working;        ///< of which the pipes are busy
  double waiting_share;  ///< of what goes beyond one block's own work
  std::size_t fullest;
};

// How well the pipes overlap. Few warps seldom have work for two pipes at once: p - 1 grows with
// their number, from what eight warps reach.
Overlap pipe_overlap(double resident_warps, const Gpu& gpu) {
  constexpr double kSharpest = 20;
  std::optional<double> pipes = gpu.sustained.overlap_exponent;
  if (pipes) *pipes = std::min(kSharpest, 1 + (*pipes - 1) * resident_warps / kMeasuredWarps);
  return Overlap(pipes);
}

StepTime step_time(const StepCost& cost, double resident, const Overlap& of_pipes,
                   const Overlap& of_blocks) {
  const auto fullest = std::max_element(cost.pipes.begin(), cost.pipes.end());
  const double pipes = busy_cycles(cost.pipes, of_pipes);
  const double hidden = (resident - 1) * pipes;
  const double waiting = cost.latency + std::max(0.0, cost.stream - pipes);
  return {pipes + of_blocks(std::array{hidden, waiting}), resident * pipes,
          waiting + hidden > 0 ? waiting / (waiting + hidden) : 1,
          static_cast<std::size_t>(fullest - cost.pipes.begin())};
}

}  // namespace

SmTime sm_time(const Plan& plan, const Occupancy& occupancy, double dram_share, const Gpu& gpu) {
  const std::int64_t sms = gpu.sm_count.value_or(1);
  const std::int64_t on_busiest = (plan.launch.blocks() + sms - 1) / sms;
  const std::int64_t full_rounds = on_busiest / occupancy.blocks_per_sm;
  const std::int64_t rest = on_busiest % occupancy.blocks_per_sm;

  const double warps = static_cast<double>((plan.launch.threads() + 31) / 32);
  const auto cost = [&](const Step& what, double resident) {
    return step_cost(what, plan.compute, warps, resident, dram_share, gpu);
  };
  // In the main loop blocks wait together for the same things; they start and end one by one.
  const Overlap in_step(gpu.sustained.overlap_exponent);
  const Overlap one_by_one(gpu.sustained.latency_overlap_exponent);
  // A block holds its place until its last stores are taken.
  const double last_stores =
      plan.total.l2.write_bytes > 0 ? gpu.sustained.store_drain_cycles.value_or(0) : 0;

  SmTime result;
  constexpr auto kLatency = static_cast<std::size_t>(Resource::latency);
  CyclesByResource spent{};
  const auto spend = [&](double times, const StepTime& time) {
    result.cycles += times * time.cycles;
    spent[time.fullest] += times * time.working;
    spent[kLatency] += times * (time.cycles - time.working);
  };
  const auto add_rounds = [&](std::int64_t rounds, std::int64_t resident) {
    if (rounds == 0 || resident == 0) return;
    const auto r = static_cast<double>(resident);
    const auto n = static_cast<double>(rounds);
    const StepCost step = cost(plan.block.step, r);
    StepCost once = cost(plan.block.once, r);
    once.pipes[static_cast<std::size_t>(Resource::launch)] =
        gpu.sustained.block_launch_cycles.value_or(0) +
        warps * gpu.sustained.warp_launch_cycles.value_or(0);
    once.latency += last_stores;
    const Overlap of_pipes = pipe_overlap(warps * r, gpu);
    for (std::size_t i = 0; i < kResources; ++i) {
      result.busy_cycles[i] += n * r * (plan.block.steps * step.pipes[i] + once.pipes[i]);
    }
    const StepTime in_loop = step_time(step, r, of_pipes, in_step);
    result.waiting_share = std::min(result.waiting_share, in_loop.waiting_share);
    result.fullest = static_cast<Resource>(in_loop.fullest);
    spend(n * plan.block.steps, in_loop);
    spend(n, step_time(once, r, of_pipes, one_by_one));
  };
  add_rounds(full_rounds, occupancy.blocks_per_sm);
  add_rounds(1, rest);

  result.busy_cycles[kLatency] = spent[kLatency];
  const auto largest = std::max_element(spent.begin(), spent.end());
  result.bound = static_cast<Resource>(largest - spent.begin());
  return result;
}

}  // namespace roofcast
