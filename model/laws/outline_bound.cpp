#include "model/laws/outline_bound.hpp"

#include <algorithm>
#include <cmath>

#include "model/constants/laws.hpp"
#include "model/laws/clock.hpp"
#include "model/laws/launching.hpp"
#include "model/laws/power.hpp"
#include "model/laws/program_time.hpp"

namespace roofcast {
namespace {

/// SM cycles of one block's loop, where nothing waits.
class LoopBound {
 public:
  LoopBound(const Outline& outline, double clock_hz, const Gpu& gpu)
      : outline_(outline), ahead_(outline.stages > 1 ? 1 : 0) {
    const auto& sheet = outline.on_tensor_cores ? gpu.sm.tensor_flop_per_clk[outline.type]
                                                : gpu.sm.vector_flop_per_clk[outline.type];
    constexpr double kNever = 1e18;
    const double arithmetic =
        std::max({outline.step_flops / sheet.value_or(kNever), outline.step_operands,
                  outline.step_instructions / gpu.sm.warp_issue_per_clk.value_or(kNever)});
    arithmetic_ = arithmetic;
    port_ = std::max(outline.step_bytes / gpu.sm.l2_bytes_per_clk.value_or(kNever),
                     law::kClocksPerCopiedPiece * outline.step_copies);
    const double l2_writes =
        law::kL2WriteShare * gpu.sustained.l2_bandwidth_bytes_per_s.value_or(kNever) / clock_hz;
    const double share = l2_writes / static_cast<double>(gpu.sm_count.value_or(1));
    stored_ = outline.stored_bytes / std::min<double>(law::kSmStoreBytesPerClk, share);
    rest_ = arithmetic / outline.parts + ahead_ * law::kPipelineStepCycles / outline.chains;
    // With one buffer nothing is copied ahead, and port and pipes overlap in a block.
    step_ = ahead_ > 0 ? std::max(rest_, (law::kTileLoadCycles + port_ + rest_) / outline.stages)
                       : law::kTileLoadCycles + std::max(rest_, port_);
  }

  /// Of the start of a launch, once.
  double start() const {
    return ahead_ * (law::kPipelineStartCycles +
                     (outline_.of_warpgroups ? double{law::kWgmmaStartCycles} : 0.0));
  }
  /// From a block's start to that of the next one in its place, of `resident` that have drifted
  /// apart.
  double apart(double resident) const {
    const double blocks = groups() * resident;
    const double loop = outline_.steps * step_;
    const double busy = std::max(outline_.steps * arithmetic_, outline_.steps * port_ + stored_);
    return std::max(blocks * busy, loop + stores(loop, blocks)) / groups();
  }
  /// The same of one of the rest, whatever it stores.
  double rest() const {
    return outline_.rest_steps * std::max({step_ / groups(), arithmetic_, port_});
  }
  /// Of `resident` blocks that start together: the first loads show.
  double together(double resident) const {
    if (outline_.steps <= 1) {
      return law::kTileLoadCycles + std::max(rest_, resident * arithmetic_) + resident * stored_;
    }
    const double step = std::max(resident * std::max(arithmetic_, port_), step_);
    const double first = ahead_ > 0 ? law::kTileLoadCycles.value : 0;
    return first + outline_.steps * step + resident * stored_;
  }

 private:
  double groups() const { return outline_.scheduler == TileScheduler::ping_pong ? 2 : 1; }
  // Warps store each for itself (network.hpp): the port is less full than where a block's time is
  // its loop and all stores, one after the other.
  double stores(double loop, double blocks) const {
    if (stored_ <= 0) return 0;
    const double own = stored_ / outline_.warps;
    const double others = blocks * outline_.warps - 1;
    const double ahead = others / (others + law::kSmVariability);
    const double full = ahead * blocks * stored_ / (loop + blocks * stored_);
    return own * (1 + law::kSmVariability * full / (1 - full));
  }

  const Outline& outline_;
  double ahead_;
  double arithmetic_ = 0, port_ = 0, stored_ = 0, rest_ = 0, step_ = 0;
};

double least_cycles(const Outline& outline, double clock_hz, const Gpu& gpu) {
  const LoopBound loop(outline, clock_hz, gpu);
  const std::int64_t sms = gpu.sm_count.value_or(1), all = sms * outline.blocks_per_sm;
  const auto rest_rounds = static_cast<double>((outline.rest_blocks + all - 1) / all);
  const double end = loop.start() + rest_rounds * loop.rest();
  if (outline.blocks <= 0) return end;
  std::int64_t per_sm = outline.blocks_per_sm, slots = all;
  if (stays(outline.scheduler) && outline.blocks < slots) {
    per_sm = (outline.blocks + sms - 1) / sms, slots = outline.blocks;
  }
  const auto full = static_cast<double>(outline.blocks / slots);
  const std::int64_t left = outline.blocks % slots;
  const auto last = static_cast<double>((left + sms - 1) / sms);
  if (full < 1) return end + loop.together(last);
  const double round = loop.apart(static_cast<double>(per_sm));
  const bool shows = outline.scheduler != TileScheduler::ping_pong;
  const double first = shows ? loop.together(static_cast<double>(per_sm)) : round;
  return end + std::max(round, first) + (full - 1) * round + (left > 0 ? loop.apart(last) : 0);
}

// Beside starting its kernels: of one the first data are new, each further one waits for its code,
// and of one the last writes show.
double least_beside_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions) {
  const CacheState cache = assumptions.cache;
  const LaunchCosts costs = launch_costs(gpu, assumptions);
  const double new_data_s =
      cache == CacheState::steady ? 0 : gpu.sustained.first_access_s.value_or(0);
  const double next_s = costs.next_s + gpu.sustained.first_access_s.value_or(0);
  return costs.first_s + (outline.launches - 1) * next_s + new_data_s;
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
