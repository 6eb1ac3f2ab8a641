#include "model/laws/stations.hpp"

#include <algorithm>

#include "model/constants/laws.hpp"
#include "model/counting/coalescing.hpp"
#include "model/counting/integers.hpp"
#include "model/laws/network.hpp"

namespace roofcast {

double tensor_cycles(const FlopsByType& flops, const Gpu& gpu) {
  double cycles = 0;
  for (const DType type : kAllDTypes) {
    if (flops[type] <= 0) continue;
    cycles += per_clk(flops[type], gpu.sm.tensor_flop_per_clk[type]);
  }
  return cycles;
}

double tensor_share(const Plan& plan, const Gpu& gpu) {
  return plan.uses(Instruction::mma_sync) ? gpu.sm.mma_sync_share.value_or(1) : 1;
}

double block_start_cycles(double warps, const Gpu& gpu) {
  return gpu.sustained.block_launch_cycles.value_or(0) +
         warps * gpu.sustained.warp_launch_cycles.value_or(0);
}

ByResource pipe_cycles(const Step& step, const Plan& plan, const Gpu& gpu) {
  const Work& issued = step.issued;
  const Wavefronts& wavefronts = step.wavefronts;
  const Sustained& known = gpu.sustained;
  ByResource cycles;
  // A matrix instruction takes the longer of its arithmetic and its operands from shared memory.
  cycles[Resource::tensor] = std::max(
      tensor_cycles(issued.tensor_flops, gpu) / tensor_share(plan, gpu), wavefronts.operands);
  cycles[Resource::vector] = per_clk(
      issued.vector_flops,
      rate(known.vector_flop_per_clk[plan.compute], gpu.sm.vector_flop_per_clk[plan.compute]));
  cycles[Resource::special] =
      per_clk(issued.special_flops, rate(known.special_per_clk, gpu.sm.special_per_clk));
  cycles[Resource::conversion] =
      per_clk(issued.conversions, rate(known.conversion_per_clk, gpu.sm.conversion_per_clk));
  cycles[Resource::issue] = per_clk(step.warp_instructions, gpu.sm.warp_issue_per_clk);
  cycles[Resource::shared] = wavefronts.shared;
  cycles[Resource::l1] =
      std::max(wavefronts.l1, per_clk(wavefronts.l1_lookups, known.l1_tags_per_clk));
  cycles[Resource::l2] = per_clk(issued.l2.total_bytes(), gpu.sm.l2_bytes_per_clk);
  return cycles;
}

StepLatency latency_of(const Waits& waits, const WaitShares& shares, const Gpu& gpu) {
  const auto cycles = [&](std::optional<double> Latencies::*of, double unknown = 0) {
    return rate(gpu.sustained.latency.*of, gpu.latency.*of).value_or(unknown);
  };
  const double l1 = cycles(&Latencies::l1_cycles), l2 = cycles(&Latencies::l2_cycles);
  const double dram = std::max(l2, cycles(&Latencies::dram_cycles, l2));
  const double below_l1 = 1 - shares.l1;
  const double load =
      shares.l1 * std::min(l1, l2) + (below_l1 - shares.dram) * l2 + shares.dram * dram;
  // One round trip for the stores to the other SMs, one for the barrier's arrivals.
  constexpr double kTripsOfExchange = 2;
  const double rest = waits.shared * cycles(&Latencies::shared_cycles) +
                      waits.arithmetic * cycles(&Latencies::fma_cycles) +
                      waits.barriers * gpu.sustained.barrier_cycles.value_or(0) +
                      waits.cluster_exchanges * kTripsOfExchange * l2;
  return {waits.global * load + waits.tile_loads * std::max<double>(law::kTileLoadCycles, load),
          rest};
}

PhaseDemand demand_of(const Phase& phase, const Plan& plan, const MemoryCost& memory,
                      const Gpu& gpu) {
  const Step& step = phase.step;
  const ByResource pipes = pipe_cycles(step, plan, gpu);
  const Traffic& l2 = step.issued.l2;
  const bool pipelined = is_pipelined(phase);
  const double warps = plan.launch.warps();
  PhaseDemand result;
  result.pipes = pipes;
  result.bytes = l2.total_bytes();
  Demand& d = result.demand;
  d[Station::arithmetic] = std::max(pipes[Resource::vector], pipes[Resource::issue]);
  d[Station::tensor] = pipes[Resource::tensor];
  d[Station::special] = pipes[Resource::special];
  d[Station::conversion] = pipes[Resource::conversion];
  // Data from L2 also occupies the data pipe, which writes it into L1 or shared memory.
  d[Station::data] =
      pipes[Resource::shared] + pipes[Resource::l1] + (pipelined ? 0 : l2.read_bytes / kLineBytes);
  d[Station::port] = std::max(per_clk(l2.read_bytes, gpu.sm.l2_bytes_per_clk),
                              law::kClocksPerCopyRequest * step.wavefronts.copies);
  result.stores = l2.write_bytes / law::kSmStoreBytesPerClk;
  result.l2_stores = l2.write_bytes * memory.l2_write;
  d[Station::l2] = l2.read_bytes * memory.l2_read + result.l2_stores;
  d[Station::dram] = l2.read_bytes * memory.dram_read + l2.write_bytes * memory.dram_write;
  result.code = step.code_bytes / (law::kCodeBytesPerClk * as_double(gpu.sm_count.value_or(1)));
  const StepLatency latency = latency_of(step.waits, memory.shares, gpu);
  result.load_latency = latency.loads;
  // Each chain of a group waits for its own tiles.
  const double chains = phase.groups > 0 ? phase.chains : 1;
  // A warp that copies its own tiles hands none over to other warps.
  const bool handed_over = pipelined && phase.groups < warps;
  result.latency =
      latency.rest + (handed_over ? law::kPipelineStepCycles * phase.waited_products / chains : 0);
  result.repeats = phase.repeats;
  result.ahead = phase.ahead;
  result.warps = warps * phase.chains;
  result.grouped = phase.groups > 0 && warps / phase.groups >= kSubPartitions;
  result.waited_products = phase.waited_products;
  if (phase.groups > 0) {
    result.parts = phase.groups * phase.chains;
    result.ramp_steps = phase.chains - 1;
  } else {
    const bool together = step.waits.barriers + step.waits.cluster_exchanges > 0 || phase.ahead > 0;
    result.parts = together ? 1 : warps;
  }
  return result;
}

}  // namespace roofcast
