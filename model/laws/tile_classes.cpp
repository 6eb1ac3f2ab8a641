#include "model/laws/tile_classes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "model/counting/totals.hpp"
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
  Traffic dram_share;   ///< of what blocks read and write, that DRAM moves
  double dram_bytes_s;  ///< that so many SMs load
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

  double alone_s = 0;  ///< the same work by itself

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
  const double least_s = phase.repeats > 1 ? rates.step_s : 0;
  const double full_math_s = math_s(some.per_sm);
  block.loop_s += phase.repeats * together({full_math_s, l2_s, dram_s, least_s});
  const double trip_cycles =
      rate(gpu.sustained.dram_latency_cycles, gpu.latency.dram_cycles).value_or(0);
  block.before_s += phase.repeats *
                    (step.waits.tile_loads * gpu.sustained.tile_fill_cycles.value_or(0) +
                     step.waits.global * trip_cycles) /
                    clock_hz;
  const double written = loops ? 0 : step.issued.l2.write_bytes;
  const double write_s =
      over(some.active * written * some.dram_share.write_bytes, some.dram_bytes_s);
  const double epilogue_s = over(written / kResultBytes, rates.outputs_per_s) + write_s;
  block.epilogue_s += phase.repeats * (epilogue_s + (some.per_sm - 1) * (epilogue_s - write_s));
  for (std::size_t i = 0; i < kResources; ++i) {
    block.pipes_s[i] += phase.repeats * some.per_sm * pipes[i] / clock_hz;
  }
  block.alone_s += phase.repeats * (together({math_s(1), l2_s, dram_s, least_s}) + epilogue_s);
  block.math_s += phase.repeats * full_math_s;
  block.l2_s += phase.repeats * l2_s;
  block.dram_s += phase.repeats * (dram_s + write_s);
  block.step_s += phase.repeats * least_s;
}

}  // namespace

ClassesTime tile_classes_time(const Plan& plan, const Occupancy& occupancy, const Traffic& dram,
                              double clock_hz, bool clock_given, const Gpu& gpu) {
  constexpr bool kOnTensorCores = true;
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
  some.dram_share = {over(dram.read_bytes, l2.read_bytes), over(dram.write_bytes, l2.write_bytes)};
  some.dram_bytes_s = rates.dram_of(std::min(some.active, sms));

  ClassesTime found;
  TileTime& result = found.time;
  std::vector<Jobs> jobs;
  double held_s = 0;  // by places, on average
  for (const BlockClass& each : plan.blocks) {
    BlockTime block;
    if (plan.assignment == Assignment::hardware) {
      block.before_s = gpu.sustained.block_launch_cycles.value_or(0) / clock_hz;
    }
    for (const Phase& phase : each.phases) {
      add_phase(block, phase, some, rates, plan.compute, clock_hz, gpu);
    }
    // Other blocks of the SM work while one waits, and their work takes as long as its own and more.
    block.before_s = std::max(0.0, block.before_s + block.alone_s - block.work_s());
    jobs.push_back({each.count, block.total_s()});
    const double rounds = static_cast<double>(each.count) / some.active;
    held_s += rounds * block.total_s();
    result.loop_s += rounds * block.loop_s;
    result.epilogue_s += rounds * (block.epilogue_s + block.before_s);
    for (std::size_t i = 0; i < kResources; ++i) found.pipes_s[i] += rounds * block.pipes_s[i];
    result.math_s += rounds * block.math_s;
    result.l2_s += rounds * block.l2_s;
    result.dram_s += rounds * block.dram_s;
    result.step_s += rounds * block.step_s;
  }
  const double blocks_s = makespan(jobs, slots, plan.assignment);
  result.tail_s = std::max(0.0, blocks_s - held_s);
  result.fill_s = gpu.sustained.tile_fill_cycles.value_or(0) / clock_hz;
  result.time_s = result.loop_s + result.epilogue_s + result.tail_s + result.fill_s;
  if (!clock_given) {
    double tensor_cycles = 0;
    for (const DType type : kAllDTypes) {
      if (const auto rate = gpu.sm.tensor_flop_per_clk[type]) {
        tensor_cycles += plan.useful.tensor_flops[type] / *rate;
      }
    }
    const double busy = tensor_cycles / (sms * clock_hz * result.time_s * rates.math_efficiency *
                                         plan.tensor_share);
    result.slowdown_s = result.time_s * power_slowdown(busy, result.time_s, gpu);
    result.time_s += result.slowdown_s;
  }
  return found;
}

}  // namespace roofcast
