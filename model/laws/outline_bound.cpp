#include "model/laws/outline_bound.hpp"

#include <algorithm>
#include <cmath>

#include "model/constants/laws.hpp"

namespace roofcast {

namespace {

double least_cycles(const Outline& outline, double clock_hz, const Gpu& gpu) {
  const auto& sheet = outline.on_tensor_cores ? gpu.sm.tensor_flop_per_clk[outline.type]
                                              : gpu.sm.vector_flop_per_clk[outline.type];
  constexpr double kNever = 1e18;
  const double arithmetic =
      std::max(outline.step_flops / sheet.value_or(kNever), outline.step_operands);
  const double port = outline.step_bytes / gpu.sm.l2_bytes_per_clk.value_or(kNever);
  const auto sms = static_cast<double>(gpu.sm_count.value_or(1));
  const double l2_writes =
      law::kL2WriteShare * gpu.sustained.l2_bandwidth_bytes_per_s.value_or(kNever) / clock_hz;
  const double stored =
      outline.stored_bytes / std::min<double>(law::kSmStoreBytesPerClk, l2_writes / sms);
  // With one buffer nothing is copied ahead.
  const double ahead = outline.stages > 1 ? 1 : 0;
  const double rest =
      arithmetic / outline.parts + ahead * law::kPipelineStepCycles / outline.chains;
  const double step = std::max(rest, (law::kTileLoadCycles + port + rest) / outline.stages);
  const double groups = outline.scheduler == TileScheduler::ping_pong ? 2 : 1;
  const double life = (outline.steps * step + stored) / groups;
  const double busy = std::max(outline.steps * arithmetic, outline.steps * port + stored);
  const auto blocks = static_cast<double>(outline.blocks);
  const auto resident = static_cast<double>(outline.blocks_per_sm);
  const double slots = sms * resident;
  const double full = std::floor(blocks / slots), left = blocks - full * slots;
  const double last = left > 0 ? std::max(std::ceil(left / sms) * busy, life) : 0;
  return ahead * law::kPipelineStartCycles + full * std::max(resident * busy, life) + last;
}

}  // namespace

double least_time_s(const Outline& outline, const LaunchCosts& costs, double clock_hz,
                    const Gpu& gpu) {
  return costs.first_s + (outline.launches - 1) * costs.next_s +
         least_cycles(outline, clock_hz, gpu) / clock_hz;
}

}  // namespace roofcast
