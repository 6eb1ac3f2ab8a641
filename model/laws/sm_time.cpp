#include "model/laws/sm_time.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/constants/laws.hpp"
#include "model/counting/integers.hpp"
#include "model/laws/makespan.hpp"
#include "model/laws/network.hpp"
#include "model/laws/occupancy.hpp"

namespace roofcast {
namespace {

/// Places for blocks, and SMs that hold blocks.
struct Places {
  std::int64_t per_sm;
  std::int64_t all;
  double sms;
};

// Persistent blocks fewer than the places are spread evenly over the SMs.
Places places_of(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu) {
  const std::int64_t all = places(plan.launch, occupancy, gpu);
  const std::int64_t sms = std::max<std::int64_t>(1, all / occupancy.blocks_per_sm);
  if (!is_persistent(plan.scheduler) || plan.launch.blocks() >= all) {
    return {occupancy.blocks_per_sm, all, as_double(sms)};
  }
  const std::int64_t blocks = plan.launch.blocks();
  return {ceil_div(blocks, sms), blocks, as_double(std::min(sms, blocks))};
}

// Share of a block's code that it fetches itself. Equal blocks on an SM run in step and share their
// fetches; the more the blocks differ, by the entropy of their classes, the less they do.
double fetched_share(const Plan& plan, double resident) {
  double blocks = 0, bits = 0;
  for (const BlockClass& some : plan.blocks) blocks += as_double(some.count);
  for (const BlockClass& some : plan.blocks) {
    const double share = as_double(some.count) / blocks;
    if (share > 0 && share < 1) bits -= share * std::log2(share);
  }
  const double alone = std::min(1.0, bits / law::kUnsharedFetchBits);
  return 1 / resident + (1 - 1 / resident) * alone;
}

/// The phases of a block.
using Phases = std::vector<PhaseDemand>;

// Whether the phase has any demand or latency; others are left out.
bool does_something(const PhaseDemand& phase) {
  return phase.repeats > 0 &&
         phase.latency + phase.load_latency + phase.stores + phase.demand.total() > 0;
}

/// The blocks of a launch, round by round.
class Rounds {
 public:
  Rounds(const Plan& plan, const Occupancy& occupancy, const MemoryCost& memory, const Gpu& gpu)
      : plan_(plan),
        memory_(memory),
        gpu_(gpu),
        places_(places_of(plan, occupancy, gpu)),
        start_cycles_(block_start_cycles(plan.launch.warps(), gpu)),
        fetched_(fetched_share(plan, as_double(places_.per_sm))) {}

  SmTime time() {
    std::int64_t blocks = 0;
    for (const BlockClass& some : plan_.blocks) blocks += some.count;
    // Blocks of the partial last round, or of the only round.
    const std::int64_t rest = blocks <= places_.all ? blocks : blocks % places_.all;
    std::int64_t in_full = blocks - rest;
    // Blocks on the fullest SMs in that round, and the number of SMs if all were that full.
    const double resident = std::ceil(as_double(rest) / places_.sms);
    const double active = as_double(rest) / std::max(1.0, resident);
    for (const BlockClass& some : plan_.blocks) {
      const Phases phases = phases_of(some);
      const std::int64_t full = std::min(some.count, in_full);
      in_full -= full;
      if (full > 0) add_full(phases, full);
      if (some.count > full) {
        add(some.count - full,
            later_ ? steady(phases, resident, active) : lockstep(phases, resident, active));
      }
      add_busy(phases, as_double(some.count) /
                           std::min(places_.sms, as_double(std::max<std::int64_t>(1, blocks))));
    }
    SmTime result;
    result.cycles = plan_.blocks.size() > 1 && !later_ && resident > 1
                        ? shared_round(blocks)
                        : makespan(jobs_, places_.all) + first_round_;
    result.idle = std::clamp(result.cycles - first_round_ - held_, 0.0, result.cycles);
    // The copy pipeline that feeds the tensor cores takes time to start, except for tcgen05.
    const bool on_tensor_cores = plan_.useful.tensor_flops.total() > 0;
    if (pipelined_ && on_tensor_cores && !plan_.uses(Instruction::tcgen05)) {
      result.cycles += law::kPipelineStartCycles;
    }
    result.busy = busy_;
    result.busy[Resource::l2] = std::max(busy_[Resource::l2], l2_);
    return result;
  }

 private:
  Phases phases_of(const BlockClass& some) {
    Phases phases;
    phases.reserve(some.phases.size() + 1);
    for (const Phase& phase : some.phases) {
      PhaseDemand demand = demand_of(phase, plan_, memory_, gpu_);
      demand.code *= fetched_;
      if (!does_something(demand)) continue;
      phases.push_back(demand);
      pipelined_ |= is_pipelined(phase);
    }
    if (phases.empty()) phases.emplace_back();
    return phases;
  }

  // The phases of a block and its start, which later tiles of a persistent block lack. The start is
  // a phase of its own before a loop, else part of the first phase. Valid until the next call.
  std::span<const PhaseDemand> started(const Phases& phases, double resident, double active,
                                       bool first) {
    Phases& found = started_;
    found.clear();
    const bool starts = first || !is_persistent(plan_.scheduler);
    if (starts && phases.front().repeats > 1) found.emplace_back();
    found.insert(found.end(), phases.begin(), phases.end());
    for (PhaseDemand& phase : found) share_memory(phase, active);
    if (starts) found.front().demand[Station::block_start] += start_cycles_;
    if (starts && !first) found.front().latency += cluster_wait(resident);
    return found;
  }

  // The `active` SMs share L2 and DRAM. Stores occupy the port at the lower of the SM's own store
  // rate and its share of L2's write rate.
  static void share_memory(PhaseDemand& phase, double active) {
    for (std::size_t s = kPipes + 1; s < kStations; ++s) phase.demand.at(s) *= active;
    phase.code *= active;
    phase.demand[Station::port] += std::max(phase.stores, phase.l2_stores * active);
  }

  // The blocks of a cluster start together, each after other block starts on its SM. The longest of
  // n exponential waits is Σ 1/i means; one mean is already counted.
  double cluster_wait(double resident) const {
    double longest = 0;
    for (std::int64_t i = 1; i <= plan_.launch.cluster_blocks(); ++i) longest += 1 / as_double(i);
    return (longest - 1) * (resident - 1) * start_cycles_;
  }

  // Cycles of a block where all blocks of a round start together.
  double lockstep(const Phases& phases, double resident, double active) {
    double cycles = 0, code = 0;
    for (const PhaseDemand& phase : started(phases, resident, active, true)) {
      cycles += lockstep_cycles(phase, resident);
      code += resident * phase.code;
    }
    return std::max(cycles, code);
  }
  // Lower bound of `steady`: blocks that begin a round together stay in phase and queue phase by
  // phase, even if other SMs use no memory.
  double phase_by_phase(const Phases& phases, double resident, Ends ends) const {
    double cycles = is_persistent(plan_.scheduler) ? 0 : start_cycles_ + cluster_wait(resident);
    for (PhaseDemand phase : phases) {
      share_memory(phase, 1);
      cycles += steady_cycle({&phase, 1}, resident, ends);
    }
    return cycles;
  }
  // Cycles from block to block in a place, where blocks are out of step.
  double steady(const Phases& phases, double resident, double active) {
    const Ends ends = is_persistent(plan_.scheduler) ? Ends::last : Ends::both;
    const std::span<const PhaseDemand> all = started(phases, resident, active, false);
    if (plan_.scheduler != TileScheduler::ping_pong) {
      const double least = phases.size() > 1 ? phase_by_phase(phases, resident, ends) : 0;
      return steady_cycle(all, resident, ends, least);
    }
    // The main loops of the two tiles alternate: one multiplies while the other is stored.
    const auto loops = all.first(all.size() - 1);
    return steady_cycle(all, 2 * resident, ends, 2 * steady_cycle(loops, resident, ends)) / 2;
  }

  // A single round of several block classes: the blocks of an SM share it until the shortest ends.
  double shared_round(std::int64_t blocks) {
    const auto sms = static_cast<std::int64_t>(places_.sms);
    std::vector<std::vector<double>> lives;  // cycles by class and other blocks on the SM
    std::vector<std::int64_t> counts;
    for (const BlockClass& some : plan_.blocks) {
      counts.push_back(some.count);
      const Phases phases = phases_of(some);
      auto& life = lives.emplace_back();
      for (std::int64_t resident = 1; (resident - 1) * sms < blocks; ++resident) {
        const double n = as_double(resident);
        const double active = std::min(places_.sms, as_double(blocks) / n);
        life.push_back(lockstep(phases, n, active));
      }
    }
    return shared_makespan(counts, lives, sms);
  }

  void add_full(const Phases& phases, std::int64_t count) {
    const double resident = as_double(places_.per_sm);
    const double cycles = steady(phases, resident, places_.sms);
    add(count, cycles);
    if (later_) return;
    later_ = true;
    first_round_ = std::max(0.0, lockstep(phases, resident, places_.sms) - cycles);
  }

  void add(std::int64_t count, double cycles) {
    jobs_.push_back({count, cycles});
    held_ += as_double(count) * cycles / as_double(places_.all);
  }

  void add_busy(const Phases& phases, double per_sm) {
    for (const PhaseDemand& phase : phases) {
      const double times = per_sm * phase.repeats;
      busy_ += times * phase.pipes;
      l2_ += times * places_.sms * phase.demand[Station::l2];
      busy_[Resource::dram] += times * places_.sms * phase.demand[Station::dram];
      busy_[Resource::instruction_fetch] += times * places_.sms * phase.code;
      busy_[Resource::latency] += times * phase.latency / as_double(places_.per_sm);
    }
    if (!is_persistent(plan_.scheduler)) busy_[Resource::block_start] += per_sm * start_cycles_;
  }

  const Plan& plan_;
  const MemoryCost& memory_;
  const Gpu& gpu_;
  Places places_;
  double start_cycles_;  // SM launch unit, per block
  double fetched_;       // share of a block's code that it fetches itself
  std::vector<Jobs> jobs_;
  Phases started_;
  double held_ = 0;         // mean cycles that a place is occupied
  double first_round_ = 0;  // cycles of the first round beyond those of a later one
  bool later_ = false, pipelined_ = false;
  ByResource busy_;  // per SM; l2: its port
  double l2_ = 0;    // cycles of the whole L2
};

}  // namespace

SmTime sm_time(const Plan& plan, const Occupancy& occupancy, const MemoryCost& memory,
               const Gpu& gpu) {
  return Rounds(plan, occupancy, memory, gpu).time();
}

}  // namespace roofcast
