#include <algorithm>
#include <array>
#include <cmath>

#include "model/constants/laws.hpp"
#include "model/counting/integers.hpp"
#include "model/laws/bounds.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/launching.hpp"
#include "model/laws/memory_cost.hpp"
#include "model/laws/stations.hpp"

namespace roofcast {
namespace {

constexpr double kUnlimited = 1e18;  // a rate that never binds

/// Lower bounds of L2's and DRAM's SM cycles: of all bytes, and per byte that blocks read and
/// write.
struct LeastMemory {
  double all, read, write;
};

/// A block's last step, its epilogue, in SM cycles.
class End {
 public:
  End(const Step& step, double warps, const Gpu& gpu)
      : read_(step.issued.l2.read_bytes),
        stored_(step.issued.l2.write_bytes),
        loads_(per_clk(read_, gpu.sm.l2_bytes_per_clk)) {
    const double issue = per_clk(step.warp_instructions, gpu.sm.warp_issue_per_clk);
    pipes_ = std::max(step.wavefronts.shared + step.wavefronts.l1, issue);
    const StepLatency latency = latency_of(step.waits, {}, gpu);
    waits_ = latency.loads + latency.rest;
    const bool together = step.waits.barriers > 0;
    if (together) issue_ = issue;
    port_share_ = together ? 1 : 1 / warps;
    exposed_ = std::min(1.0, law::kOverlappingWarps / warps);
  }
  /// Cycles of the port at `store_rate` bytes per cycle.
  double port(double store_rate) const { return loads_ + stored_ / store_rate; }
  /// Cycles of the step if `resident` blocks on each of `active` SMs begin it together.
  double together(double port, double resident, double active, const LeastMemory& memory) const {
    const double shared = active * std::max(read_ * memory.read, stored_ * memory.write);
    return waits_ + resident * std::max({port, pipes_, shared});
  }
  /// Cycles of the step without queueing. In steps with a barrier, port and issue overlap in part.
  double own(double port) const {
    const double exposed = port_share_ * port;
    return waits_ + std::max(exposed, issue_) + exposed_ * std::min(exposed, issue_);
  }

 private:
  double read_, stored_, loads_, pipes_, waits_, issue_ = 0, port_share_, exposed_;
};

LeastMemory least_memory(const Outline& outline, double clock_hz, const Gpu& gpu,
                         CacheState cache) {
  const double of_step = outline.loop.step.issued.l2.read_bytes;
  const double blocks = as_double(outline.blocks);
  double asked = blocks * (outline.loop.repeats * of_step + outline.end.issued.l2.read_bytes) +
                 outline.epilogue_read_bytes;
  if (const auto& tail = outline.tail) {
    asked += as_double(tail->blocks()) * tail->steps * of_step +
             as_double(tail->tiles) * tail->reducing_end.issued.l2.read_bytes;
  }
  Traffic moved;
  MemoryTime dram;
  // In a cold launch DRAM reads each operand once, and takes the partial sums that a later launch
  // adds. L2 may keep some of what the last launch writes.
  if (cache == CacheState::cold) {
    std::array<SparseAccesses, 2> sparse;
    for (std::size_t i = 0; i < sparse.size(); ++i) {
      const OperandRead& of = outline.operands.at(i);
      sparse.at(i) = {of.bytes, read_density(of.pattern)};
      moved.read_bytes += of.bytes;
    }
    const double kept = law::kL2DirtyShare * gpu.memory.l2_bytes.value_or(kUnlimited);
    moved.write_bytes =
        outline.launches > 1 ? outline.reduction_bytes : std::max(0.0, outline.result_bytes - kept);
    dram = dram_time(moved, sparse, gpu);
  }
  const double rate = gpu.sustained.l2_bandwidth_bytes_per_s.value_or(kUnlimited);
  const double l2_read_s = (outline.l2_read_bytes + law::kL2FillShare * moved.read_bytes) / rate;
  const double l2_write_s =
      blocks * outline.end.issued.l2.write_bytes / (rate * law::kL2WriteShare);
  return {std::max(dram.total_s(), l2_read_s + l2_write_s) * clock_hz,
          asked > 0 ? std::max(l2_read_s, dram.read_s) / asked * clock_hz : 0,
          outline.reduction_bytes > 0 ? dram.write_s * clock_hz / outline.reduction_bytes : 0};
}

/// Lower bounds in SM cycles: of a block its time alone; of an SM's blocks together the time of the
/// fullest pipe.
class LoopBound {
 public:
  LoopBound(const Outline& outline, const LeastMemory& memory, double clock_hz, const Gpu& gpu)
      : outline_(outline),
        memory_(memory),
        loop_(outline.loop),
        parts_(loop_.groups > 0 ? loop_.groups * loop_.chains : 1),
        l2_reads_(gpu.sustained.l2_bandwidth_bytes_per_s.value_or(kUnlimited) / clock_hz),
        block_start_(block_start_cycles(outline.warps, gpu)) {
    const Step& step = loop_.step;
    arithmetic_ = std::max(
        {tensor_cycles(step.issued.tensor_flops, gpu),
         per_clk(step.issued.vector_flops, gpu.sm.vector_flop_per_clk[outline.type]),
         step.wavefronts.operands, per_clk(step.warp_instructions, gpu.sm.warp_issue_per_clk)});
    port_ = std::max(per_clk(step.issued.l2.read_bytes, gpu.sm.l2_bytes_per_clk),
                     law::kClocksPerCopyRequest * step.wavefronts.copies);
    // Cycles of a step for one chain of a group.
    const StepLatency latency = latency_of(step.waits, {}, gpu);
    const double handed_over = is_pipelined(loop_) ? law::kPipelineStepCycles / loop_.chains : 0;
    const double load = latency.loads + port_;
    loads_ = latency.loads;
    multiplied_ = arithmetic_ / parts_ + latency.rest + handed_over;
    // Copies ahead have `ahead` steps to arrive. Without copies ahead, port and pipes overlap
    // within a block.
    step_ = loop_.ahead > 0
                ? std::max(multiplied_, std::min(load + multiplied_, load / loop_.ahead))
                : latency.loads + std::max(multiplied_, port_);
    const StepLatency before = latency_of(outline.first, {}, gpu);
    before_ = before.loads + before.rest;
  }

  /// Cycles to start the copy pipeline, once per launch.
  double start() const {
    const bool feeds = outline_.on_tensor_cores() && !outline_.of_tcgen05 && is_pipelined(loop_);
    return feeds ? double{law::kPipelineStartCycles} : 0;
  }
  /// Cycles of `count` rounds of `resident` blocks on each of `active` SMs, which share memory.
  double rounds(double count, double resident, double active, double steps, const End& end) const {
    const double port = end.port(store_rate(active)), own = end.own(port);
    // The main loops of two tiles that take turns follow each other.
    if (outline_.scheduler == TileScheduler::ping_pong) {
      return count * std::max(blocks(2 * resident, active, steps, port, own) / 2,
                              blocks(resident, active, steps, 0, 0));
    }
    const double mixed = blocks(resident, active, steps, port, own);
    if (resident > 1 || parts_ <= 1) return count * mixed;
    // A block alone on its SM does not overlap loop and stores: its warpgroups end the loop first.
    const double stores = end.port(law::kSmStoreBytesPerClk);
    return count * std::max(mixed, blocks(1, 1, steps, 0, 0) + std::max(stores, end.own(stores)));
  }
  /// Cycles of such a round if its blocks begin each phase together, as those of the first round.
  double first_round(double resident, double active, double steps, const End& end) const {
    const double port = end.port(store_rate(active));
    const double stored = std::max(end.own(port), end.together(port, resident, active, memory_));
    const double started = resident * block_start_;
    // Blocks start beside the one step of a short loop.
    if (steps <= 1) {
      const double read = resident * active * loop_.step.issued.l2.read_bytes * memory_.read;
      return before_ + loads_ + std::max(started + multiplied_, read) + stored;
    }
    const double fill = loop_.ahead > 0 ? loads_ : 0;  // else every step has its wait
    const double step = blocks(resident, active, 1, 0, 0, 1);
    return started + before_ + fill + walked(steps) * step + stored;
  }

 private:
  // Stores of an SM, bytes per cycle, beside those of the others.
  double store_rate(double active) const {
    return std::min<double>(law::kSmStoreBytesPerClk, law::kL2WriteShare * l2_reads_ / active);
  }
  // A block's chains start and end a step apart: chains − 1 further steps.
  double walked(double steps) const { return steps + loop_.chains - 1; }
  double blocks(double count, double active, double steps, double end_port, double end_own) const {
    return blocks(count, active, steps, end_port, end_own, walked(steps));
  }
  // Cycles of `count` blocks that share an SM, on each of `active` SMs.
  double blocks(double count, double active, double steps, double end_port, double end_own,
                double walked) const {
    const double busy = std::max(steps * arithmetic_, steps * port_ + end_port);
    double cycles = std::max(count * busy, walked * step_ + end_own);
    cycles = queued(cycles, walked * multiplied_ + end_own, walked * arithmetic_ / parts_,
                    count * steps * arithmetic_, count * parts_ - 1, law::kSmVariability);
    const double bytes = loop_.step.issued.l2.read_bytes, read = active * bytes * memory_.read;
    if (loop_.ahead < 1) return std::max(cycles, count * steps * read);
    const double arrivals = walked / loop_.ahead;  // waits for loads that follow one another
    return queued(cycles, arrivals * (loads_ + port_) + end_own, arrivals * read,
                  count * steps * read, count * (loop_.ahead + 1),
                  law::kMemoryQueueBytes / std::max(1.0, bytes));
  }
  // Lower bound of the T = `rest` + wait(T) of a block whose customers queue at one station that
  // works `all` cycles of T (network.cpp); at least `cycles`, itself a lower bound. The wait falls
  // with T ever less, so one Newton step stays a lower bound.
  static double queued(double cycles, double rest, double own, double all, double others,
                       double variability) {
    cycles = std::max(cycles, all);
    if (others <= 0 || all <= 0) return cycles;
    const double ahead = others / (others + variability), idle = cycles - ahead * all;
    const double wait = variability * own * ahead * all / idle;
    return cycles + std::max(0.0, (rest + wait - cycles) / (1 + wait / idle));
  }

  const Outline& outline_;
  const LeastMemory& memory_;
  const Phase& loop_;
  double parts_;  // products in flight in a block
  double l2_reads_, arithmetic_, port_, loads_, multiplied_, step_;
  double block_start_, before_;  // cycles of a block before its main loop
};

// Cycles of a launch's blocks: full rounds, the partial one, then those of the tail split.
double rounds_cycles(const Outline& outline, const LoopBound& loop, const Gpu& gpu) {
  const std::int64_t sms = gpu.sm_count.value_or(1), all = sms * outline.blocks_per_sm;
  const auto full = as_double(outline.blocks / all);
  const auto left = as_double(outline.blocks % all);
  const double last = std::ceil(left / as_double(sms));
  double cycles = 0;
  const auto add = [&](double rounds, double resident, double active, double steps,
                       const End& end) {
    if (rounds <= 0) return;
    const double later = loop.rounds(rounds, resident, active, steps, end);
    if (cycles > 0) {
      cycles += later;
    } else {
      const double first = loop.first_round(resident, active, steps, end);
      cycles = later + std::max(0.0, first - later / rounds);
    }
  };
  const End end(outline.end, outline.warps, gpu);
  add(full, as_double(outline.blocks_per_sm), as_double(sms), outline.loop.repeats, end);
  add(last > 0 ? 1 : 0, last, left / last, outline.loop.repeats, end);
  if (const auto& tail = outline.tail) {
    const std::int64_t before = (tail->blocks() - 1) / all;
    add(as_double(before), 1, as_double(sms), tail->steps,
        End(tail->partial_end, outline.warps, gpu));
    add(1, 1, as_double(tail->blocks() - before * all), tail->steps,
        End(tail->reducing_end, outline.warps, gpu));
  }
  return cycles;
}

// Time beside the blocks of the GEMM and copy kernels: launch costs, one first access to new data,
// the wait for code of each further kernel, and the reads of the reduction kernel, one trip and all
// their bytes.
double least_beside_s(const Outline& outline, double clock_hz, const Gpu& gpu,
                      const Assumptions& assumptions) {
  const CacheState cache = assumptions.cache;
  const LaunchCosts costs = launch_costs(gpu, assumptions);
  const double new_data_s = back_to_back(cache) ? 0 : gpu.sustained.first_access_s.value_or(0);
  const double next_s = costs.next_s + gpu.sustained.first_access_s.value_or(0);
  const auto& l2 = gpu.sustained.l2_bandwidth_bytes_per_s;
  double summed_s = l2 ? outline.reduction_bytes / *l2 : 0;
  if (outline.launches > 1) summed_s += latency_of({.global = 1}, {}, gpu).loads / clock_hz;
  const double later = static_cast<double>(outline.copies) + outline.launches - 1;
  return costs.first_s + later * next_s + new_data_s + summed_s;
}

}  // namespace

double least_time_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions) {
  const auto clock_hz = expected_clock_hz(gpu, outline.on_tensor_cores(), assumptions);
  if (!clock_hz) return 0;
  const LeastMemory memory = least_memory(outline, *clock_hz, gpu, assumptions.cache);
  const LoopBound loop(outline, memory, *clock_hz, gpu);
  const double cycles = loop.start() + std::max(rounds_cycles(outline, loop, gpu), memory.all);
  double running_s = cycles / *clock_hz;
  const auto& sheet = gpu.sm.tensor_flop_per_clk[outline.type];
  if (!assumptions.sm_clock_hz && sheet && cycles > 0) {
    // The slowdown at the bound is a lower bound: a longer launch draws less but ends later.
    const double least_w =
        energy_of({.tensor_clk = outline.useful_flops / *sheet}, gpu).sms_j / running_s;
    running_s +=
        running_s * launch_slowdown(least_w * (1 + assumptions.clock_slowdown), running_s, gpu);
  }
  return least_beside_s(outline, *clock_hz, gpu, assumptions) + running_s;
}

}  // namespace roofcast
