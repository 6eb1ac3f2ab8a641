#include "model/kernels/common/plan_parts.hpp"

#include <cmath>

namespace roofcast {

void require_tensor_cores(DType type, const Gpu& gpu) {
  if (gpu.sm.tensor_flop_per_clk[type]) return;
  require(gpu.kind != DeviceKind::tpu, gpu.name,
          " is a TPU, which runs no CUDA kernel: ask for the family alone, such as gemm, whose "
          "limit holds for any program");
  require(false, gpu.name, " has no tensor cores for ", name(type),
          ": choose another type (`roofcast gpus ", gpu.name, "`)");
}

Launch linear_launch(double blocks, std::int64_t threads) {
  constexpr double kMostBlocks = 1e18;
  return {.grid = {static_cast<std::int64_t>(std::min(kMostBlocks, blocks)), 1, 1},
          .block = {threads, 1, 1},
          .registers = 32};
}

Plan even_launch(const Launch& launch, std::vector<ArrayUse> arrays, Step step) {
  Plan plan;
  plan.launch = launch;
  plan.arrays = std::move(arrays);
  Traffic sum;
  for (const ArrayUse& use : plan.arrays) sum += use.footprint;
  set_traffic(step.issued, sum / as_double(launch.blocks()));
  set_blocks(plan, {{step}});
  plan.notes.estimated_traffic = true;
  return plan;
}

Plan even_launch(std::int64_t blocks, std::int64_t threads, std::vector<ArrayUse> arrays,
                 Step step) {
  Plan plan = even_launch(linear_launch(as_double(blocks), threads), std::move(arrays), step);
  plan.notes.caveat = "registers are a guess";
  return plan;
}

void set_blocks_with_edge(Plan& plan, const Step& full, double share) {
  const std::int64_t blocks = plan.launch.blocks();
  const auto whole = static_cast<std::int64_t>(std::floor(1 / share * (1 + 1e-12)));
  const std::int64_t full_blocks = std::min(blocks, whole);
  if (full_blocks > 0) plan.blocks.push_back({full_blocks, {{full}}});
  if (full_blocks == blocks) return;
  const double left = std::max(0.0, 1 / share - as_double(full_blocks));
  const double part = left / as_double(blocks - full_blocks);
  Step edge = full;
  edge.issued = part * full.issued;
  edge.warp_instructions *= part;
  edge.wavefronts = {part * full.wavefronts.shared, part * full.wavefronts.l1,
                     part * full.wavefronts.l1_lookups};
  plan.blocks.push_back({blocks - full_blocks, {{edge}}});
}

}  // namespace roofcast
