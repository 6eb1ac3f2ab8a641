#include "model/laws/outline_bound.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "model/constants/laws.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/launching.hpp"
#include "model/laws/program_time.hpp"
#include "model/laws/stations.hpp"

namespace roofcast {
namespace {

/// What waits at one station (network.cpp): cycles that a block takes there of `customers` of it,
/// one after the other, where `all` cycles are asked for in a block's time.
class Queue {
 public:
  Queue(double demand, double customers, double blocks, double all)
      : all_(blocks * all),
        ahead_((blocks * customers - 1) / (blocks * customers - 1 + law::kSmVariability)),
        slope_(law::kSmVariability * demand / customers * ahead_ * all_) {}

  double full() const { return all_; }
  double wait(double cycles) const { return slope_ / (cycles - ahead_ * all_); }
  double falls(double cycles) const { return wait(cycles) / (cycles - ahead_ * all_); }

 private:
  double all_, ahead_, slope_;
};

// Cycles T from a block's start to that of the next one in its place: no less than `floor`, and no
// less than alone + waits(T). Waits fall ever more slowly with T: a step of Newton's from below
// stays below.
double block_cycles(double floor, double alone, std::initializer_list<Queue> queues) {
  double cycles = std::max(floor, alone);
  for (const Queue& queue : queues) cycles = std::max(cycles, queue.full());
  if (cycles <= 0) return 0;
  double missing = alone - cycles, slope = 1;
  for (const Queue& queue : queues) {
    missing += queue.wait(cycles);
    slope += queue.falls(cycles);
  }
  return missing > 0 ? cycles + missing / slope : cycles;
}

/// SM cycles of one block's loop and of its stores, where nobody waits but at the pipe that
/// multiplies and for stores.
class LoopBound {
 public:
  LoopBound(const Outline& outline, double clock_hz, const Gpu& gpu)
      : outline_(outline),
        latency_(latency_of(outline.step_waits, {}, gpu)),
        pipelined_(outline.ahead > 0 ? 1 : 0),
        handed_over_(outline.step_waits.tile_loads > 0 ? pipelined_ : 0) {
    const auto& sheet = outline.on_tensor_cores ? gpu.sm.tensor_flop_per_clk[outline.type]
                                                : gpu.sm.vector_flop_per_clk[outline.type];
    constexpr double kNever = 1e18;
    port_rate_ = gpu.sm.l2_bytes_per_clk.value_or(kNever);
    arithmetic_ =
        std::max({outline.step_flops / sheet.value_or(kNever), outline.step_operands,
                  outline.step_instructions / gpu.sm.warp_issue_per_clk.value_or(kNever)});
    port_ =
        std::max(outline.step_bytes / port_rate_, law::kClocksPerCopyRequest * outline.step_copies);
    l2_reads_ = gpu.sustained.l2_bandwidth_bytes_per_s.value_or(kNever) / clock_hz;
    end_ = latency_of(outline.end_waits, {}, gpu).rest;
    l2_latency_ = rate(gpu.sustained.l2_latency_cycles, gpu.latency.l2_cycles).value_or(0);
  }

  /// Of the start of a launch, once.
  double start() const {
    const bool feeds = outline_.on_tensor_cores && !outline_.of_tcgen05;
    return feeds ? handed_over_ * law::kPipelineStartCycles : 0;
  }
  /// From a block's start to that of the next one in its place, of `resident` on each of `active`
  /// SMs that have drifted apart.
  double apart(double resident, double active) const {
    const double mixed = apart(resident, outline_.steps, stored(active), end_);
    if (resident > 1 || outline_.parts <= 1 || groups() > 1) return mixed;
    // The warpgroups of a block alone on its SM end their loop before they store.
    const double end = std::max(end_, outline_.stored_bytes / law::kSmStoreBytesPerClk);
    return std::max(mixed, apart(resident, outline_.steps, 0, 0) + end);
  }
  /// Of so many rounds of the rest; `alone`: they are all that there is.
  double rest(double rounds, bool alone) const {
    const double steps = outline_.rest_steps;
    const double left = outline_.rest_stored_bytes / law::kSmStoreBytesPerClk;
    const double joined =
        outline_.rest_joined_bytes / port_rate_ + outline_.stored_bytes / law::kSmStoreBytesPerClk;
    const double waits =
        outline_.rest_tile_loads * law::kTileLoadCycles + outline_.rest_trips * l2_latency_;
    const double last = apart(1, steps, joined, waits);
    const double all = (rounds - 1) * apart(1, steps, left, 0) + last;
    return alone && rounds <= 1 ? std::max(all, together(1, steps, joined) + waits) : all;
  }
  /// Of L2, for all that blocks read, and store at its rate of writes.
  double l2() const {
    const double stored = static_cast<double>(outline_.blocks) * outline_.stored_bytes;
    return (outline_.looked_up_bytes + stored / law::kL2WriteShare) / l2_reads_;
  }
  /// Of `resident` blocks on each of `active` SMs that start together: the first loads show.
  double together(double resident, double active) const {
    return together(resident, outline_.steps, stored(active)) + end_;
  }

 private:
  double groups() const { return outline_.scheduler == TileScheduler::ping_pong ? 2 : 1; }
  // Each SM stores at its share of L2's writes.
  double stored(double active) const {
    return outline_.stored_bytes /
           std::min<double>(law::kSmStoreBytesPerClk, law::kL2WriteShare * l2_reads_ / active);
  }
  // In the first and last steps not all chains are under way.
  double walked(double steps) const { return steps + outline_.chains - 1; }
  // Of a step, without its copies.
  double multiplied() const {
    return arithmetic_ / outline_.parts + latency_.rest +
           handed_over_ * law::kPipelineStepCycles / outline_.chains;
  }
  // A step's share of its copies, which take no longer than the steps that they are ahead by. Where
  // none is ahead port and pipes overlap in a block.
  double copied() const {
    if (pipelined_ == 0) return latency_.loads + std::max(multiplied(), port_);
    const double load = latency_.loads + port_;
    return std::min(load + multiplied(), load / outline_.ahead);
  }

  // `end`: what a block waits for at its end.
  double apart(double resident, double steps, double stored, double end) const {
    const double blocks = groups() * resident, walked_steps = walked(steps);
    const double busy = std::max(steps * arithmetic_, steps * port_ + stored);
    const double own = stored / outline_.warps + end;
    // Warps store each for itself, those of a sub-partition one after the other.
    const Queue storing(stored, std::max(1.0, outline_.warps / 4), blocks, stored);
    const Queue multiplying(walked_steps * arithmetic_, outline_.parts, blocks,
                            steps * arithmetic_);
    return block_cycles(std::max(blocks * busy, walked_steps * copied() + own),
                        walked_steps * multiplied() + own, {storing, multiplying}) /
           groups();
  }

  double together(double resident, double steps, double stored) const {
    if (steps <= 1) {
      return latency_.loads + std::max(multiplied(), resident * arithmetic_) + resident * stored;
    }
    const double step =
        block_cycles(std::max({resident * arithmetic_, resident * port_, copied()}), multiplied(),
                     {Queue(arithmetic_, outline_.parts, resident, arithmetic_)});
    if (pipelined_ == 0) return steps * step + resident * stored;
    return latency_.loads + walked(steps) * step + resident * stored;
  }

  const Outline& outline_;
  StepLatency latency_;
  double pipelined_, handed_over_;  // 1 where copies are ahead, and where tiles are handed over
  double arithmetic_ = 0, port_ = 0, port_rate_ = 0, l2_reads_ = 0, l2_latency_ = 0;
  double end_ = 0;
};

// Of the blocks of a launch, from the start of the first.
double rounds_cycles(const Outline& outline, const LoopBound& loop, const Gpu& gpu) {
  const std::int64_t sms = gpu.sm_count.value_or(1), all = sms * outline.blocks_per_sm;
  const auto rest_rounds = static_cast<double>((outline.rest_blocks + all - 1) / all);
  double end = 0;
  if (outline.rest_blocks > 0) end += loop.rest(rest_rounds, outline.blocks <= 0);
  if (outline.blocks <= 0) return end;
  const bool one_round = outline.blocks + outline.rest_blocks <= all;
  const std::int64_t left = one_round ? outline.blocks : outline.blocks % all;
  const double last = std::ceil(static_cast<double>(left) / static_cast<double>(sms));
  const double active = static_cast<double>(left) / std::max(1.0, last);
  if (one_round) return end + loop.together(last, active);
  const auto per_sm = static_cast<double>(outline.blocks_per_sm);
  const auto full = static_cast<double>(outline.blocks / all);
  const double round = loop.apart(per_sm, static_cast<double>(sms));
  const double first = std::max(round, loop.together(per_sm, static_cast<double>(sms)));
  return end + first + (full - 1) * round + (left > 0 ? loop.apart(last, active) : 0);
}

double least_cycles(const Outline& outline, double clock_hz, const Gpu& gpu) {
  const LoopBound loop(outline, clock_hz, gpu);
  return loop.start() + std::max(rounds_cycles(outline, loop, gpu), loop.l2());
}

// Beside the blocks of the one that multiplies: starting kernels, of one the first data are new,
// each further one waits for its code and reads what it sums.
double least_beside_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions) {
  const CacheState cache = assumptions.cache;
  const LaunchCosts costs = launch_costs(gpu, assumptions);
  const double new_data_s = back_to_back(cache) ? 0 : gpu.sustained.first_access_s.value_or(0);
  const double next_s = costs.next_s + gpu.sustained.first_access_s.value_or(0);
  const auto& l2 = gpu.sustained.l2_bandwidth_bytes_per_s;
  const double summed_s = l2 ? outline.summed_bytes / *l2 : 0;
  return costs.first_s + (outline.launches - 1) * next_s + new_data_s + summed_s;
}

}  // namespace

double least_time_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions) {
  const auto clock = expected_clock(outline.on_tensor_cores, gpu, assumptions);
  if (!clock) return 0;
  const double cycles = least_cycles(outline, clock->hz, gpu);
  double running_s = cycles / clock->hz;
  const auto& sheet = gpu.sm.tensor_flop_per_clk[outline.type];
  if (!clock->given && sheet && cycles > 0) {
    // A launch that takes longer is less busy, and yet ends later.
    const double useful = outline.useful_flops / *sheet / static_cast<double>(*gpu.sm_count);
    running_s += running_s * tensor_power_slowdown(useful / cycles, running_s, *clock, gpu);
  }
  return least_beside_s(outline, gpu, assumptions) + running_s;
}

}  // namespace roofcast
