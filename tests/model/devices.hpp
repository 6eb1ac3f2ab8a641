#pragma once
#include "model/types/gpu.hpp"

namespace roofcast::testing {

/// A Hopper-like device with round numbers, so that expectations can be worked out by hand.
inline Gpu hopper_like() {
  Gpu gpu;
  gpu.name = "test-gpu";
  gpu.title = "a test device";
  gpu.year = 2024;
  gpu.compute_capability = {9, 0};
  gpu.architecture = "hopper";
  gpu.features.grid_max = {2147483647, 65535, 65535};
  gpu.features.cluster_blocks_portable = 8;
  gpu.features.cluster_blocks_max = 16;
  for (const auto one :
       {Instruction::cp_async, Instruction::bulk_copy, Instruction::mma_sync, Instruction::wgmma}) {
    gpu.features.instructions[static_cast<std::size_t>(one)] = true;
  }
  gpu.sm_count = 132;
  gpu.clocks.max_hz = 2e9;
  gpu.clocks.vector_boost_hz = 2e9;
  gpu.clocks.tensor_boost_hz = 1.8e9;
  gpu.sm.vector_flop_per_clk[DType::fp32] = 256;
  gpu.sm.vector_flop_per_clk[DType::fp64] = 128;
  gpu.sm.tensor_flop_per_clk[DType::fp16] = 4096;
  gpu.sm.tensor_flop_per_clk[DType::bf16] = 4096;
  gpu.sm.special_per_clk = 16;
  gpu.sm.warp_issue_per_clk = 4;
  gpu.sm.shared_bytes_per_clk = 128;
  gpu.sm.l2_bytes_per_clk = 64;
  gpu.memory.dram_bandwidth_bytes_per_s = 4.8e12;
  gpu.memory.l2_bytes = 60e6;
  gpu.latency.fma_cycles = 4;
  gpu.latency.shared_cycles = 29;
  gpu.latency.l1_cycles = 34;
  gpu.latency.l2_cycles = 265;
  gpu.latency.dram_cycles = 655;
  gpu.occupancy = OccupancyRules{.warp_size = 32,
                                 .warps_per_sm = 64,
                                 .blocks_per_sm = 32,
                                 .threads_per_block = 1024,
                                 .registers_per_sm = 65536,
                                 .registers_per_thread = 255,
                                 .register_allocation_unit = 256,
                                 .warp_allocation_unit = 4,
                                 .shared_bytes_per_sm = 228 * 1024,
                                 .shared_bytes_per_block = 227 * 1024,
                                 .shared_reserved_bytes_per_block = 1024,
                                 .shared_allocation_unit_bytes = 128};
  return gpu;
}

}  // namespace roofcast::testing
