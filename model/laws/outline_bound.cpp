#include <algorithm>
#include <cmath>

#include "model/constants/laws.hpp"
#include "model/counting/integers.hpp"
#include "model/laws/bounds.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/forecast.hpp"
#include "model/laws/launching.hpp"
#include "model/laws/stations.hpp"

namespace roofcast {
namespace {

constexpr double kNever = 1e18;

/// A block's epilogue, in SM cycles: at the port, and as long as it takes without queueing.
struct End {
  double port = 0, own = 0;
};

End end_of(const Outline::Epilogue& step, double warps, const Gpu& gpu) {
  const StepLatency latency = latency_of(step.waits, {}, gpu);
  const double port = step.bytes.read_bytes / gpu.sm.l2_bytes_per_clk.value_or(kNever) +
                      step.bytes.write_bytes / law::kSmStoreBytesPerClk;
  // Warps that meet at no barrier take the port one by one.
  return {port, latency.loads + latency.rest + port / (step.waits.barriers > 0 ? 1 : warps)};
}

/// Lower bounds in SM cycles: a block takes at least its time alone, the blocks of an SM together
/// at least that of their fullest pipe.
class LoopBound {
 public:
  LoopBound(const Outline& outline, const Gpu& gpu) : outline_(outline) {
    const auto& sheet = outline.on_tensor_cores ? gpu.sm.tensor_flop_per_clk[outline.type]
                                                : gpu.sm.vector_flop_per_clk[outline.type];
    arithmetic_ =
        std::max({outline.step_flops / sheet.value_or(kNever), outline.step_operands,
                  outline.step_instructions / gpu.sm.warp_issue_per_clk.value_or(kNever)});
    port_ = std::max(outline.step_bytes / gpu.sm.l2_bytes_per_clk.value_or(kNever),
                     law::kClocksPerCopyRequest * outline.step_copies);
    // Cycles of a step for one chain of a group.
    const StepLatency latency = latency_of(outline.step_waits, {}, gpu);
    const double handed_over = hands_over() ? law::kPipelineStepCycles / outline.chains : 0;
    const double multiplied = arithmetic_ / outline.parts + latency.rest + handed_over;
    loads_ = latency.loads;
    // Copies ahead take no longer than the steps that they are ahead by. Without copies ahead, port
    // and pipes overlap within a block.
    const double load = loads_ + port_;
    step_ = outline.ahead > 0
                ? std::max(multiplied, std::min(load + multiplied, load / outline.ahead))
                : loads_ + std::max(multiplied, port_);
  }

  /// Cycles to start the copy pipeline, once a launch.
  double start() const {
    const bool feeds = outline_.on_tensor_cores && !outline_.of_tcgen05 && hands_over();
    return feeds ? double{law::kPipelineStartCycles} : 0;
  }
  /// Cycles of rounds of `resident` blocks on an SM. The first of a launch exposes its first copies.
  double rounds(double count, double resident, double steps, const End& end, bool first) const {
    const double mixed = block(resident, steps, end);
    const bool in_turns = outline_.scheduler == TileScheduler::ping_pong;
    if (resident > 1 || outline_.parts <= 1 || (in_turns && !first)) return count * mixed;
    // A block alone on its SM does not overlap loop and stores: its warpgroups end the loop first.
    const double alone = block(1, steps, {}) + std::max(end.port, end.own);
    const double later = in_turns ? mixed : std::max(mixed, alone);
    const bool copies = first && steps > 1;
    return count * later + (copies ? std::max(0.0, alone + loads_ - later) : 0);
  }

 private:
  bool hands_over() const { return outline_.ahead > 0 && outline_.step_waits.tile_loads > 0; }

  // Cycles of a block. Its chains start and end a step apart: chains − 1 steps more.
  double block(double resident, double steps, const End& end) const {
    const double tiles = outline_.scheduler == TileScheduler::ping_pong ? 2 : 1;
    const double busy = std::max(steps * arithmetic_, steps * port_ + end.port);
    return std::max(resident * busy, ((steps + outline_.chains - 1) * step_ + end.own) / tiles);
  }

  const Outline& outline_;
  double arithmetic_, port_, loads_, step_;
};

// Cycles of a launch's blocks: full rounds, the partial one, then the rounds of tail_blocks.
double rounds_cycles(const Outline& outline, const LoopBound& loop, const Gpu& gpu) {
  const std::int64_t sms = gpu.sm_count.value_or(1), all = sms * outline.blocks_per_sm;
  const double full = as_double(outline.blocks / all);
  const double last = as_double(ceil_div(outline.blocks % all, sms));
  double cycles = 0;
  const auto add = [&](double rounds, double resident, double steps,
                       const Outline::Epilogue& epilogue) {
    if (rounds <= 0) return;
    const End end = end_of(epilogue, outline.warps, gpu);
    cycles += loop.rounds(rounds, resident, steps, end, cycles <= 0);
  };
  add(full, as_double(outline.blocks_per_sm), outline.steps, outline.epilogue);
  add(last > 0 ? 1 : 0, last, outline.steps, outline.epilogue);
  if (outline.tail_blocks > 0) {
    add(as_double((outline.tail_blocks - 1) / all), 1, outline.tail_steps, outline.tail_epilogue);
    add(1, 1, outline.tail_steps, outline.reducing_epilogue);
  }
  return cycles;
}

// Cycles of L2 for the bytes that the launch looks up, and for its stores at the rate of writes.
double l2_cycles(const Outline& outline, double clock_hz, const Gpu& gpu) {
  const double stored = as_double(outline.blocks) * outline.epilogue.bytes.write_bytes;
  return (outline.l2_read_bytes + stored / law::kL2WriteShare) * clock_hz /
         gpu.sustained.l2_bandwidth_bytes_per_s.value_or(kNever);
}

// Time beside the blocks of the GEMM kernel and of copies: launch costs, one first access to new
// data, for each further kernel the wait for its code, and the bytes that the last one sums.
double least_beside_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions) {
  const CacheState cache = assumptions.cache;
  const LaunchCosts costs = launch_costs(gpu, assumptions);
  const double new_data_s = back_to_back(cache) ? 0 : gpu.sustained.first_access_s.value_or(0);
  const double next_s = costs.next_s + gpu.sustained.first_access_s.value_or(0);
  const auto& l2 = gpu.sustained.l2_bandwidth_bytes_per_s;
  const double summed_s = l2 ? outline.reduction_bytes / *l2 : 0;
  const double later = static_cast<double>(outline.copies) + outline.launches - 1;
  return costs.first_s + later * next_s + new_data_s + summed_s;
}

}  // namespace

double least_time_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions) {
  const auto clock = expected_clock(outline.on_tensor_cores, gpu, assumptions);
  if (!clock) return 0;
  const LoopBound loop(outline, gpu);
  const double cycles = loop.start() + std::max(rounds_cycles(outline, loop, gpu),
                                                l2_cycles(outline, clock->hz, gpu));
  double running_s = cycles / clock->hz;
  const auto& sheet = gpu.sm.tensor_flop_per_clk[outline.type];
  if (!clock->given && sheet && cycles > 0) {
    // The slowdown at the lower bound is one too: a longer launch draws less and yet ends later.
    const double least_w =
        energy_of({.tensor_clk = outline.useful_flops / *sheet}, gpu).sms_j / running_s;
    running_s += running_s * launch_slowdown(least_w * (1 + clock->slowdown), running_s, gpu);
  }
  return least_beside_s(outline, gpu, assumptions) + running_s;
}

}  // namespace roofcast
