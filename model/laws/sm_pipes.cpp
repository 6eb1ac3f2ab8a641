#include "model/laws/sm_pipes.hpp"

#include <algorithm>

namespace roofcast {
namespace {

double per_clk(double work, const std::optional<double>& rate) {
  return rate && *rate > 0 ? work / *rate : 0;
}

double tensor_cycles(const FlopsByType& flops, const Gpu& gpu) {
  double cycles = 0;
  for (const DType type : kAllDTypes) {
    if (flops[type] <= 0) continue;
    cycles += per_clk(flops[type], gpu.sm.tensor_flop_per_clk[type]);
  }
  return cycles;
}

}  // namespace

double tensor_share(const Plan& plan, const Gpu& gpu) {
  const bool by_warps =
      std::find(plan.needs.begin(), plan.needs.end(), Instruction::mma_sync) != plan.needs.end();
  return by_warps ? gpu.sm.mma_sync_share.value_or(1) : 1;
}

CyclesByResource pipe_cycles(const Step& step, const Plan& plan, const Gpu& gpu) {
  CyclesByResource cycles{};
  const auto set = [&cycles](Resource resource, double value) {
    cycles[static_cast<std::size_t>(resource)] = value;
  };
  const Work& issued = step.issued;
  const DType compute = plan.compute;
  // A matrix instruction takes as long as its operands where these take longer.
  set(Resource::tensor, std::max(tensor_cycles(issued.tensor_flops, gpu) / tensor_share(plan, gpu),
                                 step.wavefronts.operands));
  set(Resource::vector,
      per_clk(issued.vector_flops, rate(gpu.sustained.vector_flop_per_clk[compute],
                                        gpu.sm.vector_flop_per_clk[compute])));
  set(Resource::special,
      per_clk(issued.special_flops, rate(gpu.sustained.special_per_clk, gpu.sm.special_per_clk)));
  set(Resource::conversion, per_clk(issued.conversions, rate(gpu.sustained.conversion_per_clk,
                                                             gpu.sm.conversion_per_clk)));
  set(Resource::issue, per_clk(step.warp_instructions, gpu.sm.warp_issue_per_clk));
  set(Resource::shared, step.wavefronts.shared);
  set(Resource::l1, std::max(step.wavefronts.l1,
                             per_clk(step.wavefronts.l1_lookups, gpu.sustained.l1_tags_per_clk)));
  set(Resource::l2, per_clk(issued.l2.total_bytes(), gpu.sm.l2_bytes_per_clk));
  return cycles;
}

}  // namespace roofcast
