#include "model/laws/tile_classes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "model/counting/totals.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/makespan.hpp"
#include "model/laws/occupancy.hpp"
#include "model/laws/sm_pipes.hpp"
#include "model/laws/tile_rates.hpp"

namespace roofcast {
namespace {

constexpr std::size_t index(Resource resource) {
  return static_cast<std::size_t>(resource);
}

/// Blocks that run at once, and what they share.
struct Together {
  double active;        ///< blocks on the device
  double per_sm;        ///< on the fullest SM
  double warps;         ///< of a block
  double tensor_share;  ///< Plan::tensor_share
  double at_once;       ///< Plan::instructions_at_once
  double first_tile_cycles;
  Traffic dram_share;   ///< of what blocks read and write, that DRAM moves
  double dram_bytes_s;  ///< that so many SMs load
  double
      copy_bytes_s;  ///< that a block has on their way (Little's law); 0: no less than memory sends
};

/// Of one block, in seconds.
struct BlockTime {
  double loop_s = 0;
  double before_s = 0;
  double epilogue_s = 0;
  double math_s = 0;
  double l2_s = 0;
  double dram_s = 0;
  double step_s = 0;
  CyclesByResource pipes_s{};  ///< of all blocks on the SM

  double alone_s = 0;   ///< the same work by itself
  double own_s = 0;     ///< its loop, if memory sent it all it can have on its way
  double memory_s = 0;  ///< of its loop, what memory takes for all blocks

  double work_s() const { return loop_s + epilogue_s; }
  double total_s() const { return work_s() + before_s; }
};

/// Results of 16 bits, by which tile_outputs_per_clk is stated.
constexpr double kResultBytes = 2;

// The 4-norm.
double together(const std::array<double, 4>& times_s) {
  const double largest = *std::max_element(times_s.begin(), times_s.end());
  if (largest <= 0) return 0;
  double sum = 0;
  for (const double time_s : times_s) {
    const double square = time_s / largest * (time_s / largest);
    sum += square * square;
  }
  return largest * std::sqrt(std::sqrt(sum));
}

// Until a block has its first tile: bulk copies take maps and barriers besides.
double first_tile_cycles(const Plan& plan, const Gpu& gpu) {
  const bool in_bulk =
      std::find(plan.needs.begin(), plan.needs.end(), Instruction::bulk_copy) != plan.needs.end();
  const auto& filled = gpu.sustained.tile_fill_cycles;
  const auto& loaded = gpu.sustained.tile_load_latency_cycles;
  return (in_bulk || !loaded ? filled : loaded).value_or(0);
}

// Dependent waits inside a step.
double wait_cycles(const Waits& waits, const Gpu& gpu) {
  return waits.shared *
             rate(gpu.sustained.shared_latency_cycles, gpu.latency.shared_cycles).value_or(0) +
         waits.arithmetic *
             rate(gpu.sustained.fma_latency_cycles, gpu.latency.fma_cycles).value_or(0) +
         waits.barriers * gpu.sustained.barrier_cycles.value_or(0);
}

void add_phase(BlockTime& block, const Phase& phase, const Together& some, const TileRates& rates,
               DType compute, double clock_hz, const Gpu& gpu) {
  const Step& step = phase.step;
  CyclesByResource pipes = pipe_cycles(step, compute, gpu);
  pipes[index(Resource::issue)] /= issue_efficiency(some.warps * some.per_sm, gpu);
  pipes[index(Resource::tensor)] /= rates.math_efficiency * some.tensor_share;
  pipes[index(Resource::l2)] = 0;  // all SMs together ask for less, or the copies wait
  const auto math_s = [&](double blocks) {
    return blocks * busy_cycles(pipes, pipe_overlap(some.warps * blocks * some.at_once, gpu)) /
           clock_hz;
  };
  // What a loop writes leaves beside what it reads.
  const bool loops = phase.stages > 1;
  const double read = step.issued.l2.read_bytes;
  const double beside = loops ? step.issued.l2.write_bytes : 0;
  const double l2_s = over(some.active * (read + beside), rates.l2);
  const double dram_s = over(some.active * read * some.dram_share.read_bytes +
                                 some.active * beside * some.dram_share.write_bytes,
                             some.dram_bytes_s);
  const double least_s =
      std::max(phase.repeats > 1 ? rates.step_s : 0, loops ? over(read, some.copy_bytes_s) : 0);
  // A block alone waits out its latency too, as far as its warps on a scheduler do not hide that of
  // each other; other blocks hide it.
  constexpr double kSchedulers = 4;  // of an SM
  const double warps_of_scheduler = std::max(1.0, some.warps / kSchedulers);
  const double waits_s = loops ? wait_cycles(step.waits, gpu) / warps_of_scheduler / clock_hz : 0;
  const double alone_math_s = math_s(1) + waits_s;
  const double full_math_s = std::max(alone_math_s, math_s(some.per_sm));
  block.loop_s += phase.repeats * together({full_math_s, l2_s, dram_s, least_s});
  block.own_s += phase.repeats * together({full_math_s, 0, 0, least_s});
  block.memory_s += phase.repeats * std::max(l2_s, dram_s);
  const double trip_cycles =
      rate(gpu.sustained.dram_latency_cycles, gpu.latency.dram_cycles).value_or(0);
  block.before_s +=
      phase.repeats *
      (step.waits.tile_loads * some.first_tile_cycles + step.waits.global * trip_cycles) / clock_hz;
  const double written = loops ? 0 : step.issued.l2.write_bytes;
  const double write_s =
      over(some.active * written * some.dram_share.write_bytes, some.dram_bytes_s);
  const double epilogue_s = over(written / kResultBytes, rates.outputs_per_s) + write_s;
  block.epilogue_s += phase.repeats * (epilogue_s + (some.per_sm - 1) * (epilogue_s - write_s));
  for (std::size_t i = 0; i < kResources; ++i) {
    block.pipes_s[i] += phase.repeats * some.per_sm * pipes[i] / clock_hz;
  }
  block.alone_s += phase.repeats * (together({alone_math_s, l2_s, dram_s, least_s}) + epilogue_s);
  block.math_s += phase.repeats * full_math_s;
  block.l2_s += phase.repeats * l2_s;
  block.dram_s += phase.repeats * (dram_s + write_s);
  block.step_s += phase.repeats * least_s;
}

constexpr bool kOnTensorCores = true;

BlockTime time_of_block(const BlockClass& each, const Plan& plan, const Together& some,
                        const TileRates& rates, double clock_hz, const Gpu& gpu) {
  BlockTime block;
  if (plan.scheduler == TileScheduler::hardware) {
    block.before_s = gpu.sustained.block_launch_cycles.value_or(0) / clock_hz;
  }
  for (const Phase& phase : each.phases) {
    add_phase(block, phase, some, rates, plan.compute, clock_hz, gpu);
  }
  // Other blocks of the SM work while one waits, and their work takes as long as its own and more.
  block.before_s = std::max(0.0, block.before_s + block.alone_s - block.work_s());
  return block;
}

// Blocks of the first round start together: all wait, then all load. Later ones have drifted apart: what
// some wait, memory sends to others.
BlockTime drifted(BlockTime block) {
  const double around_s = block.before_s + block.epilogue_s;
  const double later_s = together({around_s + block.own_s, block.memory_s, 0, 0});
  block.loop_s = std::min(block.loop_s, later_s - around_s);
  return block;
}

BlockTime mixed(const BlockTime& a, const BlockTime& b, double of_b) {
  const auto mix = [of_b](double x, double y) { return x + of_b * (y - x); };
  BlockTime result = {mix(a.loop_s, b.loop_s),
                      mix(a.before_s, b.before_s),
                      mix(a.epilogue_s, b.epilogue_s),
                      mix(a.math_s, b.math_s),
                      mix(a.l2_s, b.l2_s),
                      mix(a.dram_s, b.dram_s),
                      mix(a.step_s, b.step_s),
                      {},
                      mix(a.alone_s, b.alone_s),
                      mix(a.own_s, b.own_s),
                      mix(a.memory_s, b.memory_s)};
  for (std::size_t i = 0; i < kResources; ++i) result.pipes_s[i] = mix(a.pipes_s[i], b.pipes_s[i]);
  return result;
}

// The blocks' times in one round that leaves some SMs with one block and gives others two: block i and
// block SMs + i share an SM until the shorter has ended; then the longer has it alone.
std::vector<BlockTime> times_of_pairs(const Plan& plan, const Together& some,
                                      const TileRates& rates, double sms, double clock_hz,
                                      const Gpu& gpu) {
  Together apart = some;
  apart.per_sm = 1;
  std::vector<BlockTime> alone;
  std::vector<double> first;  // block of each class
  double before = 0;
  for (const BlockClass& each : plan.blocks) {
    alone.push_back(time_of_block(each, plan, apart, rates, clock_hz, gpu));
    first.push_back(before);
    before += static_cast<double>(each.count);
  }
  const auto class_of = [&first](double block) {
    return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), block) -
                                    first.begin()) -
           1;
  };
  std::vector<BlockTime> times;
  for (std::size_t i = 0; i < plan.blocks.size(); ++i) {
    const BlockTime pair = time_of_block(plan.blocks[i], plan, some, rates, clock_hz, gpu);
    double shared = first[i] >= sms ? 1 : 0;
    if (first[i] < some.active - sms) {
      const double other_s = alone[class_of(first[i] + sms)].alone_s;
      shared = std::min(1.0, over(other_s, alone[i].alone_s));
    }
    times.push_back(mixed(alone[i], pair, shared));
  }
  return times;
}

std::vector<BlockTime> times_of_blocks(const Plan& plan, const Together& some,
                                       const TileRates& rates, double sms, double clock_hz,
                                       const Gpu& gpu) {
  const bool one_round = static_cast<double>(plan.launch.blocks()) <= some.active;
  constexpr double kPair = 2;
  if (plan.scheduler == TileScheduler::hardware && one_round && some.per_sm == kPair) {
    return times_of_pairs(plan, some, rates, sms, clock_hz, gpu);
  }
  std::vector<BlockTime> times;
  for (const BlockClass& each : plan.blocks) {
    times.push_back(time_of_block(each, plan, some, rates, clock_hz, gpu));
  }
  return times;
}

// At that clock, whatever the power.
ClassesTime time_at(const Plan& plan, const Occupancy& occupancy, const Traffic& dram,
                    double clock_hz, const Gpu& gpu) {
  const TileRates rates(kOnTensorCores, clock_hz, gpu);
  const auto sms = static_cast<double>(gpu.sm_count.value_or(1));
  const std::int64_t slots = places(plan.launch, occupancy, gpu);
  const auto blocks = static_cast<double>(plan.launch.blocks());
  const Traffic l2 = issued_by_launch(plan).l2;
  Together some;
  some.active = std::min(blocks, static_cast<double>(slots));
  some.per_sm = std::ceil(some.active / sms);
  some.warps = static_cast<double>((plan.launch.threads() + 31) / 32);
  some.tensor_share = plan.tensor_share;
  some.at_once = plan.instructions_at_once;
  some.first_tile_cycles = first_tile_cycles(plan, gpu);
  some.dram_share = {over(dram.read_bytes, l2.read_bytes), over(dram.write_bytes, l2.write_bytes)};
  some.copy_bytes_s = over(plan.in_flight_bytes, rates.trip_s);
  // One stream after the other, as far as it is on its way; or panels of products.
  some.dram_bytes_s = plan.in_flight_bytes > 0
                          ? gpu.sustained.dram_read_bytes_per_s.value_or(rates.dram)
                          : rates.dram_of(std::min(some.active, sms));

  ClassesTime found;
  TileTime& result = found.time;
  std::vector<Jobs> jobs;
  double held_s = 0;  // by places, on average
  bool first_waits = false;
  std::int64_t taken = 0;  // places, by the blocks before
  const std::vector<BlockTime> times = times_of_blocks(plan, some, rates, sms, clock_hz, gpu);
  for (std::size_t c = 0; c < plan.blocks.size(); ++c) {
    const BlockClass& each = plan.blocks[c];
    const BlockTime& block = times[c];
    for (const Phase& phase : each.phases) first_waits |= phase.step.waits.tile_loads > 0;
    const double rounds = static_cast<double>(each.count) / some.active;
    const std::int64_t started = std::min(each.count, slots - std::min(slots, taken));
    taken += each.count;
    for (const auto& [count, some_time] :
         {std::pair{started, block}, std::pair{each.count - started, drifted(block)}}) {
      if (count == 0) continue;
      const double share = static_cast<double>(count) / some.active;
      jobs.push_back({count, some_time.total_s()});
      held_s += share * some_time.total_s();
      result.loop_s += share * some_time.loop_s;
    }
    result.epilogue_s += rounds * (block.epilogue_s + block.before_s);
    for (std::size_t i = 0; i < kResources; ++i) found.pipes_s[i] += rounds * block.pipes_s[i];
    result.math_s += rounds * block.math_s;
    result.l2_s += rounds * block.l2_s;
    result.dram_s += rounds * block.dram_s;
    result.step_s += rounds * block.step_s;
  }
  const double blocks_s = makespan(jobs, slots, plan.scheduler);
  result.tail_s = std::max(0.0, blocks_s - held_s);
  // Blocks that wait for their first tiles do that for the launch too; those of the first round find
  // no others at work.
  result.fill_s = first_waits
                      ? std::max(0.0, some.first_tile_cycles / clock_hz - times.front().before_s)
                      : gpu.sustained.tile_fill_cycles.value_or(0) / clock_hz;
  result.time_s = result.loop_s + result.epilogue_s + result.tail_s + result.fill_s;
  return found;
}

// The share of the time at that clock, that the tensor cores need for the launch.
double tensor_busy_share(const Plan& plan, double time_s, double clock_hz, const Gpu& gpu) {
  double tensor_cycles = 0;
  for (const DType type : kAllDTypes) {
    if (const auto rate = gpu.sm.tensor_flop_per_clk[type]) {
      tensor_cycles += plan.useful.tensor_flops[type] / *rate;
    }
  }
  return tensor_cycles / (static_cast<double>(gpu.sm_count.value_or(1)) * clock_hz * time_s);
}

}  // namespace

ClassesTime tile_classes_time(const Plan& plan, const Occupancy& occupancy, const Traffic& dram,
                              const SmClock& clock, const Gpu& gpu) {
  ClassesTime found = time_at(plan, occupancy, dram, clock.hz, gpu);
  if (clock.given) return found;
  TileTime& time = found.time;
  const double busy = tensor_busy_share(plan, time.time_s, clock.hz, gpu);
  time.slowdown_s = time.time_s * power_slowdown(busy, time.time_s, clock, gpu);
  time.time_s += time.slowdown_s;
  return found;
}

}  // namespace roofcast
