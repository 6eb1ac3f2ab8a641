#include "model/laws/sm_time.hpp"

#include <algorithm>
#include <vector>

#include "model/laws/makespan.hpp"
#include "model/laws/occupancy.hpp"
#include "model/laws/overlap.hpp"
#include "model/laws/pipeline.hpp"
#include "model/laws/sm_pipes.hpp"

namespace roofcast {
namespace {

// Of a block's step: the loads, which buffers may hide, and the rest.
struct Latency {
  double loads;
  double rest;
};

Latency latency_cycles(const Waits& waits, const WaitShares& shares, const Gpu& gpu) {
  const double l1 = rate(gpu.sustained.l1_latency_cycles, gpu.latency.l1_cycles).value_or(0);
  const double l2 = rate(gpu.sustained.l2_latency_cycles, gpu.latency.l2_cycles).value_or(0);
  const double dram =
      std::max(l2, rate(gpu.sustained.dram_latency_cycles, gpu.latency.dram_cycles).value_or(l2));
  const double queue = gpu.sustained.l2_queue_cycles.value_or(0) + shares.queue_cycles;
  const double below_l1 = 1 - shares.l1;
  const double of_load = shares.l1 * std::min(l1, l2) + (below_l1 - shares.dram) * l2 +
                         shares.dram * dram + below_l1 * queue;
  const double tile = gpu.sustained.tile_load_latency_cycles.value_or(l2 + queue);
  const double of_tile = tile + shares.dram * std::max(0.0, dram - tile) + shares.queue_cycles;
  const double loads = waits.global * of_load + waits.tile_loads * of_tile;
  const double rest =
      waits.shared *
          rate(gpu.sustained.shared_latency_cycles, gpu.latency.shared_cycles).value_or(0) +
      waits.arithmetic *
          rate(gpu.sustained.fma_latency_cycles, gpu.latency.fma_cycles).value_or(0) +
      waits.barriers * gpu.sustained.barrier_cycles.value_or(0) +
      waits.cluster_exchanges * gpu.sustained.cluster_exchange_cycles.value_or(l2);
  return {loads, rest};
}

struct StepCost {
  CyclesByResource alone{};  ///< pipes, of one block with the SM to itself
  CyclesByResource pipes{};  ///< of each of the resident blocks
  Latency latency{};         ///< of one block
  double stream = 0;         ///< one warp's instructions, one after the other
};

struct StepTime {
  double cycles;
  double working;        ///< of which the pipes are busy
  double waiting_share;  ///< of what goes beyond one block's own work
  std::size_t fullest;
};

// The lone block's pipes overlap as its own warps let them, those of all blocks better. `units`: how
// many parts of a block wait each for itself.
StepTime step_time(const StepCost& cost, double stages, double units, double warps, double resident,
                   const Overlap& of_blocks, const Gpu& gpu) {
  const auto fullest = std::max_element(cost.pipes.begin(), cost.pipes.end());
  // A block starts before it works; meanwhile others work.
  const double start = cost.pipes[static_cast<std::size_t>(Resource::launch)];
  const double own = busy_cycles(cost.alone, pipe_overlap(warps, gpu)) / units;
  const double all = resident * busy_cycles(cost.pipes, pipe_overlap(warps * resident, gpu));
  const double hidden = std::max(0.0, all - own);
  const double waiting = exposed_cycles(cost.latency.loads, stages, all) + cost.latency.rest +
                         std::max(0.0, cost.stream - start - own);
  const double cycles = start + own + of_blocks(std::array{hidden, waiting});
  return {cycles, std::min(cycles, start + std::max(own, all)),
          waiting + hidden > 0 ? waiting / (waiting + hidden) : 1,
          static_cast<std::size_t>(fullest - cost.pipes.begin())};
}

/// Equal blocks, and how many of them run on an SM at once.
struct Round {
  const BlockClass* blocks;
  std::int64_t count;
  double resident;
  bool last;  ///< of the launch: fewer blocks than there are places
};

// Full SMs as long as blocks last; what is left then is spread over all SMs.
std::vector<Round> rounds_of(const Plan& plan, std::int64_t per_sm, std::int64_t slots) {
  std::int64_t blocks = 0;
  for (const BlockClass& some : plan.blocks) blocks += some.count;
  std::int64_t in_full = blocks - blocks % slots;
  const double last_resident =
      static_cast<double>(((blocks - in_full) * per_sm + slots - 1) / slots);
  std::vector<Round> rounds;
  rounds.reserve(plan.blocks.size() + 1);  // one class may end a full round and begin the last
  for (const BlockClass& some : plan.blocks) {
    const std::int64_t full = std::min(some.count, in_full);
    in_full -= full;
    if (full > 0) rounds.push_back({&some, full, static_cast<double>(per_sm), false});
    if (some.count > full) rounds.push_back({&some, some.count - full, last_resident, true});
  }
  return rounds;
}

/// What every block of a launch costs besides its phases' work.
struct BlockCost {
  double warps;
  double start_cycles;  ///< of the SM's launch unit
  double drain_cycles;  ///< a block holds its place until its last stores are taken
  double joint_wait;    ///< until a whole cluster can start, in mean waits of one block; alone none
};

// The blocks of a cluster start together, each behind others that start on its SM: so many times the
// time that the starts of the others take. By softmax.cluster and norm in clusters in the runs random1,
// 2, 4, 6 and 7 of 2026-11-22 (132 SMs, 3.35 and 4.8 TB/s): from 1 on it is flat.
constexpr double kMeanWaitToStart = 1.5;

// Of so many waits the longest, in means: Σ 1/i.
double longest_of(std::int64_t waits) {
  double sum = 0;
  for (std::int64_t i = 1; i <= waits; ++i) sum += 1 / static_cast<double>(i);
  return sum;
}

BlockCost block_cost(const Plan& plan, const Gpu& gpu) {
  const double warps = static_cast<double>((plan.launch.threads() + 31) / 32);
  const bool stores = std::any_of(plan.arrays.begin(), plan.arrays.end(), [](const ArrayUse& use) {
    return use.footprint.write_bytes > 0;
  });
  return {warps,
          gpu.sustained.block_launch_cycles.value_or(0) +
              warps * gpu.sustained.warp_launch_cycles.value_or(0),
          stores ? gpu.sustained.store_drain_cycles.value_or(0) : 0,
          longest_of(plan.launch.cluster_blocks()) - 1};
}

/// The time of one round, by what is waited for, and its pipes' work.
struct RoundTime {
  double cycles = 0;
  CyclesByResource spent{};
  CyclesByResource busy{};  ///< of all resident blocks
  double fill = 0;          ///< until a block's first loads have arrived
  std::size_t fullest_of_loops = static_cast<std::size_t>(Resource::latency);
  double waiting_share_of_loops = 1;
};

RoundTime round_time(const Round& round, const BlockCost& block, const WaitShares& shares,
                     const Plan& plan, const Gpu& gpu) {
  // Blocks whose loop has a barrier wait together for the same things; they start and end one by
  // one.
  const Overlap in_step(gpu.sustained.overlap_exponent);
  const Overlap one_by_one(gpu.sustained.latency_overlap_exponent);
  constexpr auto kLaunch = static_cast<std::size_t>(Resource::launch);
  constexpr auto kIssue = static_cast<std::size_t>(Resource::issue);
  RoundTime result;
  bool started = false;
  const auto add = [&](const Phase& phase, bool loop, bool first) {
    const Step& step = phase.step;
    const CyclesByResource pipes = pipe_cycles(step, plan.compute, gpu);
    StepCost cost = {
        pipes, pipes, latency_cycles(step.waits, shares, gpu),
        step.warp_instructions / block.warps * gpu.sustained.warp_issue_cycles.value_or(1)};
    cost.alone[kIssue] /= issue_efficiency(block.warps, gpu);
    cost.pipes[kIssue] /= issue_efficiency(block.warps * round.resident, gpu);
    if (first) {
      cost.pipes[kLaunch] = block.start_cycles;
      cost.latency.loads += latency_cycles({.global = shares.random_waits}, shares, gpu).loads;
      // After the last blocks comes the kernel's own completion.
      if (!round.last) {
        cost.latency.rest += block.drain_cycles + kMeanWaitToStart * block.joint_wait *
                                                      (round.resident - 1) * block.start_cycles;
      }
    }
    const double loads = step.waits.global + step.waits.tile_loads;
    if (result.fill <= 0 && loads > 0) {
      result.fill =
          block.start_cycles + latency_cycles(step.waits, shares, gpu).loads / std::max(1.0, loads);
    }
    // Without a barrier the warps of a loop drift apart: each waits while the others work.
    const bool together = loop && step.waits.barriers + step.waits.cluster_exchanges > 0;
    const double units = loop && !together ? block.warps : 1;
    const StepTime time = step_time(cost, phase.stages, units, block.warps, round.resident,
                                    together ? in_step : one_by_one, gpu);
    result.cycles += phase.repeats * time.cycles;
    result.spent[time.fullest] += phase.repeats * time.working;
    result.spent[static_cast<std::size_t>(Resource::latency)] +=
        phase.repeats * (time.cycles - time.working);
    for (std::size_t i = 0; i < kResources; ++i) {
      result.busy[i] += phase.repeats * round.resident * cost.pipes[i];
    }
    if (loop && time.waiting_share < result.waiting_share_of_loops) {
      result.waiting_share_of_loops = time.waiting_share;
      result.fullest_of_loops = time.fullest;
    }
  };
  for (const Phase& phase : round.blocks->phases) {
    const bool loop = phase.repeats > 1;
    add(phase, loop, !started && !loop);
    started |= !loop;
  }
  if (!started) add({}, false, true);  // starting and ending take time too
  // A block is at work while those behind it start, one after the other.
  const double behind = (round.resident - 1) * block.start_cycles;
  const double together =
      block.start_cycles + Overlap(gpu.sustained.memory_overlap_exponent)(
                               std::array{behind, result.cycles - block.start_cycles});
  result.spent[kLaunch] += std::max(0.0, together - result.cycles);
  result.cycles = together;
  return result;
}

}  // namespace

SmTime sm_time(const Plan& plan, const Occupancy& occupancy, const WaitShares& shares,
               const Gpu& gpu) {
  const std::int64_t slots = places(plan.launch, occupancy, gpu);
  const double sms = static_cast<double>(slots) / static_cast<double>(occupancy.blocks_per_sm);
  const BlockCost block = block_cost(plan, gpu);
  constexpr auto kLatency = static_cast<std::size_t>(Resource::latency);
  SmTime result;
  const std::vector<Round> rounds = rounds_of(plan, occupancy.blocks_per_sm, slots);
  std::vector<Jobs> jobs;
  jobs.reserve(rounds.size());
  double in_places = 0;  // cycles that an SM's places are held, on average over places and SMs
  for (const Round& round : rounds) {
    const RoundTime time = round_time(round, block, shares, plan, gpu);
    if (jobs.empty()) result.fill_cycles = time.fill;
    jobs.push_back({round.count, time.cycles});
    const double filled = static_cast<double>(round.count) / sms / round.resident;
    const double rounds = round.last ? 1 : filled;
    in_places += filled * time.cycles;
    for (std::size_t i = 0; i < kResources; ++i) {
      result.busy_cycles[i] += rounds * (i == kLatency ? time.spent[i] : time.busy[i]);
      result.spent_cycles[i] += filled * time.spent[i];
    }
    if (time.waiting_share_of_loops < result.waiting_share) {
      result.waiting_share = time.waiting_share_of_loops;
      result.fullest = static_cast<Resource>(time.fullest_of_loops);
    }
  }
  result.cycles = makespan(jobs, slots, plan.scheduler);
  result.idle_cycles = std::max(0.0, result.cycles - in_places);
  // The last blocks may begin in places that are free early: less is spent then than by rounds.
  if (in_places > result.cycles) {
    for (double& spent : result.spent_cycles) spent *= result.cycles / in_places;
  }
  return result;
}

}  // namespace roofcast
