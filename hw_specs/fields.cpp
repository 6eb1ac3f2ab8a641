#include "hw_specs/fields.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

namespace roofcast::specs {
namespace {

template <typename Visit>
void visit_rates(const std::string& group, RateByType& rates, const Visit& visit) {
  for (const DType type : kAllDTypes) visit(child(group, name(type)), rates[type]);
}

template <typename Visit>
void visit_occupancy(OccupancyRules& rules, const Visit& visit) {
  visit("/occupancy/warp_size", rules.warp_size);
  visit("/occupancy/warps_per_sm", rules.warps_per_sm);
  visit("/occupancy/blocks_per_sm", rules.blocks_per_sm);
  visit("/occupancy/threads_per_block", rules.threads_per_block);
  visit("/occupancy/registers_per_sm", rules.registers_per_sm);
  visit("/occupancy/registers_per_thread", rules.registers_per_thread);
  visit("/occupancy/register_allocation_unit", rules.register_allocation_unit);
  visit("/occupancy/warp_allocation_unit", rules.warp_allocation_unit);
  visit("/occupancy/shared_bytes_per_sm", rules.shared_bytes_per_sm);
  visit("/occupancy/shared_bytes_per_block", rules.shared_bytes_per_block);
  visit("/occupancy/shared_reserved_bytes_per_block", rules.shared_reserved_bytes_per_block);
  visit("/occupancy/shared_allocation_unit_bytes", rules.shared_allocation_unit_bytes);
}

template <typename Visit>
void visit_features(Features& features, const Visit& visit) {
  visit("/features/grid_x_max", features.grid_max[0]);
  visit("/features/grid_y_max", features.grid_max[1]);
  visit("/features/grid_z_max", features.grid_max[2]);
  visit("/features/cluster_blocks_portable", features.cluster_blocks_portable);
  visit("/features/cluster_blocks_max", features.cluster_blocks_max);
  visit("/features/cluster_blocks_per_sm", features.cluster_blocks_per_sm);
  visit("/features/gpc_sms", features.gpc_sms);
  for (std::size_t i = 0; i < features.instructions.size(); ++i) {
    visit(child("/features", name(static_cast<Instruction>(i))), features.instructions[i]);
  }
}

template <typename Visit>
void visit_quantities(Gpu& gpu, const Visit& visit) {
  visit("/chip/sm_count", gpu.sm_count);
  visit("/clocks/vector_boost_hz", gpu.clocks.vector_boost_hz);
  visit("/clocks/tensor_boost_hz", gpu.clocks.tensor_boost_hz);
  visit("/clocks/tensor_fp64_boost_hz", gpu.clocks.tensor_fp64_boost_hz);
  visit("/clocks/max_hz", gpu.clocks.max_hz);
  visit_rates("/sm/vector_flop_per_clk", gpu.sm.vector_flop_per_clk, visit);
  visit_rates("/sm/tensor_flop_per_clk", gpu.sm.tensor_flop_per_clk, visit);
  visit_rates("/sm/tensor_fp16_accumulate_flop_per_clk", gpu.sm.tensor_fp16_accumulate_flop_per_clk,
              visit);
  visit("/sm/mma_sync_share", gpu.sm.mma_sync_share);
  visit("/sm/special_per_clk", gpu.sm.special_per_clk);
  visit("/sm/conversion_per_clk", gpu.sm.conversion_per_clk);
  visit("/sm/integer_per_clk", gpu.sm.integer_per_clk);
  visit("/sm/warp_issue_per_clk", gpu.sm.warp_issue_per_clk);
  visit("/sm/shared_bytes_per_clk", gpu.sm.shared_bytes_per_clk);
  visit("/sm/l1_bytes_per_clk", gpu.sm.l1_bytes_per_clk);
  visit("/sm/l2_bytes_per_clk", gpu.sm.l2_bytes_per_clk);
  visit_rates("/peak_flops_per_s", gpu.peak_flops_per_s, visit);
  visit("/memory/dram_bandwidth_bytes_per_s", gpu.memory.dram_bandwidth_bytes_per_s);
  visit("/memory/dram_bytes", gpu.memory.dram_bytes);
  visit("/memory/dram_access_bytes", gpu.memory.dram_access_bytes);
  visit("/memory/l2_bytes", gpu.memory.l2_bytes);
  visit("/memory/l2_bytes_per_clk", gpu.memory.l2_bytes_per_clk);
  visit("/memory/l1_line_bytes", gpu.memory.l1_line_bytes);
  visit("/memory/l2_line_bytes", gpu.memory.l2_line_bytes);
  visit("/memory/l2_partitions", gpu.memory.l2_partitions);
  visit("/memory/l2_sector_bytes", gpu.memory.l2_sector_bytes);
  visit("/memory/l1_shared_bytes", gpu.memory.l1_shared_bytes);
  visit("/memory/shared_banks", gpu.memory.shared_banks);
  visit("/memory/shared_bank_bytes", gpu.memory.shared_bank_bytes);
  visit("/latency/fma_cycles", gpu.latency.fma_cycles);
  visit("/latency/shared_cycles", gpu.latency.shared_cycles);
  visit("/latency/l1_cycles", gpu.latency.l1_cycles);
  visit("/latency/l2_cycles", gpu.latency.l2_cycles);
  visit("/latency/dram_cycles", gpu.latency.dram_cycles);
  visit_features(gpu.features, visit);
  if (gpu.occupancy) visit_occupancy(*gpu.occupancy, visit);
  visit("/power_w", gpu.power_w);
  visit("/link/link_bytes_per_s", gpu.link_bytes_per_s);
  visit("/link/link_over_pcie", gpu.link_over_pcie);
  visit("/link/link_in_switch_reduction", gpu.link_in_switch_reduction);
  visit("/link/collective_start_s", gpu.collective_start_s);
  visit("/link/collective_step_s", gpu.collective_step_s);
  visit("/link/collective_link_share", gpu.collective_link_share);
  visit("/link/collective_channels", gpu.collective_channels);
}

template <typename Visit>
void visit_sustained(Sustained& sustained, const Visit& visit) {
  visit("/sustained/dram_read_bytes_per_s", sustained.dram_read_bytes_per_s);
  visit("/sustained/dram_write_bytes_per_s", sustained.dram_write_bytes_per_s);
  visit("/sustained/l2_bandwidth_bytes_per_s", sustained.l2_bandwidth_bytes_per_s);
  visit("/sustained/sm_clock_hz", sustained.sm_clock_hz);
  visit("/sustained/tensor_clock_hz", sustained.tensor_clock_hz);
  visit("/sustained/stream_launch_s", sustained.stream_launch_s);
  visit("/sustained/graph_launch_s", sustained.graph_launch_s);
  visit("/sustained/launch_gap_s", sustained.launch_gap_s);
  visit("/sustained/first_access_s", sustained.first_access_s);
  visit("/sustained/warp_launch_cycles", sustained.warp_launch_cycles);
  visit("/sustained/barrier_cycles", sustained.barrier_cycles);
  visit("/sustained/l1_tags_per_clk", sustained.l1_tags_per_clk);
  visit("/sustained/fma_latency_cycles", sustained.latency.fma_cycles);
  visit("/sustained/shared_latency_cycles", sustained.latency.shared_cycles);
  visit("/sustained/l1_latency_cycles", sustained.latency.l1_cycles);
  visit("/sustained/l2_latency_cycles", sustained.latency.l2_cycles);
  visit("/sustained/dram_latency_cycles", sustained.latency.dram_cycles);
  visit("/sustained/dram_scattered_bytes_per_s", sustained.dram_scattered_bytes_per_s);
  visit("/sustained/host_submit_s", sustained.host_submit_s);
  visit("/sustained/block_launch_cycles", sustained.block_launch_cycles);
  visit("/sustained/special_per_clk", sustained.special_per_clk);
  visit("/sustained/conversion_per_clk", sustained.conversion_per_clk);
  visit_rates("/sustained/vector_flop_per_clk", sustained.vector_flop_per_clk, visit);
  visit("/sustained/vector_flop_energy_j", sustained.vector_flop_energy_j);
  visit("/sustained/tensor_flop_energy_j", sustained.tensor_flop_energy_j);
  visit("/sustained/spread_launch_bound", sustained.spread_launch_bound);
  visit("/sustained/spread_memory", sustained.spread_memory);
  visit("/sustained/spread_compute", sustained.spread_compute);
}

/// Sets a member of the device if the document has its leaf.
class Reader {
 public:
  explicit Reader(const Json& document) : document_(document) {}

  template <typename Number>
  void operator()(std::string_view pointer, std::optional<Number>& member) const {
    if (const Json* value = find_value(document_, pointer)) member = value->get<Number>();
  }
  template <typename Value>
  void operator()(std::string_view pointer, Value& member) const {
    if (const Json* value = find_value(document_, pointer)) member = value->get<Value>();
  }

 private:
  const Json& document_;
};

/// Parses "9.0", whose form check_rules has checked.
ComputeCapability capability_of(const std::string& text) {
  ComputeCapability capability;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, capability.major);
  std::from_chars(major.ptr + 1, end, capability.minor);
  return capability;
}

template <typename Walk>
std::vector<std::string> collect(const Walk& walk) {
  std::vector<std::string> leaves;
  walk([&leaves](std::string_view pointer, const auto&) { leaves.emplace_back(pointer); });
  return leaves;
}

}  // namespace

Gpu to_gpu(const Json& specification) {
  Gpu gpu;
  gpu.name = specification.at("name").get<std::string>();
  gpu.title = specification.at("title").get<std::string>();
  gpu.year = specification.at("year").get<std::int64_t>();
  gpu.kind = specification.at("kind") == "tpu" ? DeviceKind::tpu : DeviceKind::gpu;
  if (specification.contains("compute_capability")) {
    gpu.compute_capability =
        capability_of(specification["compute_capability"].get_ref<const std::string&>());
  }
  gpu.architecture = specification.value("architecture", "");
  gpu.die = specification.value("die", "");
  if (specification.contains("occupancy")) gpu.occupancy.emplace();
  visit_quantities(gpu, Reader(specification));
  return gpu;
}

void lay_over(const Json& overlay, Gpu& gpu) {
  const Json& provenance = overlay.at("provenance");
  gpu.sustained.source = provenance.at("run").get<std::string>();
  if (provenance.contains("date")) {
    gpu.sustained.source += ", " + provenance["date"].get<std::string>();
  }
  gpu.sustained.published = provenance.value("published", false);
  visit_sustained(gpu.sustained, Reader(overlay));
}

std::map<std::string, double> sustained_values(const Sustained& sustained) {
  std::map<std::string, double> values;
  Sustained copy = sustained;
  visit_sustained(copy, [&values](std::string_view pointer, const std::optional<double>& value) {
    if (value) values[std::string(pointer)] = *value;
  });
  return values;
}

const std::vector<std::string>& plain_leaves() {
  static const std::vector<std::string> leaves = {
      "/name", "/title", "/year", "/kind", "/compute_capability", "/architecture", "/die"};
  return leaves;
}

const std::vector<std::string>& quantity_leaves() {
  static const std::vector<std::string> leaves = collect([](const auto& visit) {
    Gpu gpu;
    gpu.occupancy.emplace();
    visit_quantities(gpu, visit);
  });
  return leaves;
}

const std::vector<std::string>& sustained_leaves() {
  static const std::vector<std::string> leaves = collect([](const auto& visit) {
    Sustained sustained;
    visit_sustained(sustained, visit);
  });
  return leaves;
}

}  // namespace roofcast::specs
