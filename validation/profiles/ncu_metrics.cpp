#include "validation/profiles/ncu_metrics.hpp"

#include <algorithm>
#include <utility>

namespace roofcast::validation {
namespace {

struct Named {
  std::string_view name;
  Metric metric;
};

constexpr std::array kNamed = {
    Named{"gpu__time_duration.sum", Metric::time},
    Named{"gpu__time_duration.max", Metric::time},
    Named{"gpu__time_duration.avg", Metric::time},
    Named{"Duration", Metric::time},
    Named{"launch__registers_per_thread", Metric::registers},
    Named{"Registers Per Thread", Metric::registers},
    Named{"launch__shared_mem_per_block", Metric::shared_bytes},
    Named{"launch__shared_mem_per_block_static", Metric::static_shared_bytes},
    Named{"Static Shared Memory Per Block", Metric::static_shared_bytes},
    Named{"launch__shared_mem_per_block_dynamic", Metric::dynamic_shared_bytes},
    Named{"Dynamic Shared Memory Per Block", Metric::dynamic_shared_bytes},
    Named{"launch__waves_per_multiprocessor", Metric::waves},
    Named{"Waves Per SM", Metric::waves},
    Named{"sm__warps_active.avg.pct_of_peak_sustained_active", Metric::achieved_occupancy},
    Named{"Achieved Occupancy", Metric::achieved_occupancy},
    Named{"smsp__cycles_elapsed.avg.per_second", Metric::sm_clock},
    Named{"sm__cycles_elapsed.avg.per_second", Metric::sm_clock},
    Named{"gpc__cycles_elapsed.avg.per_second", Metric::sm_clock},
    Named{"SM Frequency", Metric::sm_clock},
    Named{"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", Metric::tensor_busy},
    Named{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", Metric::dram_busy},
    Named{"DRAM Throughput", Metric::dram_busy},
    Named{"smsp__inst_executed.sum", Metric::warp_instructions},
    Named{"sm__inst_executed.sum", Metric::warp_instructions},
    Named{"sass__inst_executed_per_opcode", Metric::warp_instructions},
    Named{"Executed Instructions", Metric::warp_instructions},
    Named{"dram__bytes_read.sum", Metric::dram_read_bytes},
    Named{"dram__bytes_write.sum", Metric::dram_write_bytes},
    Named{"dram__bytes.sum", Metric::dram_bytes},
    Named{"dram__bytes_read.sum.per_second", Metric::dram_read_rate},
    Named{"dram__bytes_write.sum.per_second", Metric::dram_write_rate},
    Named{"dram__bytes.sum.per_second", Metric::dram_rate},
    Named{"Memory Throughput", Metric::dram_rate},
    Named{"lts__t_sectors_op_read.sum", Metric::l2_read_sectors},
    Named{"lts__t_sectors_op_write.sum", Metric::l2_write_sectors},
    Named{"lts__t_sectors_srcunit_tex_op_read.sum", Metric::l2_read_sectors},
    Named{"lts__t_sectors_srcunit_tex_op_write.sum", Metric::l2_write_sectors},
    Named{"launch__grid_dim_x", Metric::grid_x},
    Named{"launch__grid_dim_y", Metric::grid_y},
    Named{"launch__grid_dim_z", Metric::grid_z},
    Named{"launch__block_dim_x", Metric::block_x},
    Named{"launch__block_dim_y", Metric::block_y},
    Named{"launch__block_dim_z", Metric::block_z},
    Named{"launch__grid_size", Metric::blocks},
    Named{"launch__block_size", Metric::threads},
};
static_assert(static_cast<std::size_t>(Metric::threads) + 1 == kMetrics);

struct Operation {
  std::string_view name;
  double flops;
};

// smsp__sass_thread_inst_executed_op_ffma_pred_on.sum counts thread instructions, of which 16-bit
// ones do two operations. The roofline section has FLOPs: derived__smsp__..._x2 or _x4;
// derived__sm__... is a peak.
std::optional<FlopsMetric> vector_metric(std::string_view name) {
  constexpr std::string_view kOp = "smsp__sass_thread_inst_executed_op_", kDerived = "derived__";
  const bool derived = name.starts_with(kDerived);
  if (derived) name.remove_prefix(kDerived.size());
  if (!name.starts_with(kOp)) return std::nullopt;
  name.remove_prefix(kOp.size());
  constexpr std::array kTypes = {std::pair('f', DType::fp32), std::pair('d', DType::fp64),
                                 std::pair('h', DType::fp16)};
  constexpr std::array kOperations = {Operation{"add_pred_on", 1}, Operation{"mul_pred_on", 1},
                                      Operation{"fma_pred_on", 2}};
  const auto* type = std::find_if(kTypes.begin(), kTypes.end(), [&](const auto& one) {
    return !name.empty() && one.first == name.front();
  });
  if (type == kTypes.end()) return std::nullopt;
  for (const Operation& one : kOperations) {
    if (!name.substr(1).starts_with(one.name)) continue;
    const std::string_view end = name.substr(1 + one.name.size());
    FlopsMetric found{std::string(name.substr(0, 1 + one.name.size())), type->second};
    found.flops = derived ? 1 : one.flops * (type->second == DType::fp16 ? 2 : 1);
    found.per_cycle = derived || end == ".sum.per_cycle_elapsed";
    if (derived ? end == "_x2" || end == "_x4" : found.per_cycle || end == ".sum") return found;
  }
  return std::nullopt;
}

// sm__ops_path_tensor_src_bf16_dst_fp32.sum: adds and multiplies.
std::optional<FlopsMetric> tensor_metric(std::string_view name) {
  constexpr std::string_view kPath = "sm__ops_path_tensor_src_";
  if (!name.starts_with(kPath)) return std::nullopt;
  struct Type {
    std::string_view source;
    DType type;
  };
  constexpr std::array kTypes = {Type{"fp8", DType::fp8},   Type{"bf16", DType::bf16},
                                 Type{"fp16", DType::fp16}, Type{"tf32", DType::tf32},
                                 Type{"fp64", DType::fp64}, Type{"int8", DType::int8},
                                 Type{"fp4", DType::fp4}};
  FlopsMetric found;
  found.tensor = true;
  const std::string_view rest = name.substr(kPath.size());
  for (const Type& one : kTypes) {
    // fp4_fp6_fp8 of later GPUs counts as fp8, the slowest of the three.
    const bool mixed = one.type == DType::fp8 && rest.starts_with("fp4_fp6_fp8");
    if (!mixed && !rest.starts_with(one.source)) continue;
    found.type = one.type;
    found.per_cycle = rest.ends_with(".sum.per_cycle_elapsed");
    // Skips the parts with and without sparsity: another metric is their sum.
    if (rest.find("_sparsity_") != rest.npos) return std::nullopt;
    found.counter = rest.substr(0, rest.find('.'));
    if (found.per_cycle || rest.ends_with(".sum")) return found;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Metric> metric_named(std::string_view name, std::string_view unit) {
  for (const Named& one : kNamed) {
    if (one.name != name) continue;
    // The details page has both a share and a rate with this name.
    if (one.metric == Metric::dram_rate && unit.find("byte") == unit.npos) return std::nullopt;
    return one.metric;
  }
  return std::nullopt;
}

std::optional<FlopsMetric> flops_metric_named(std::string_view name) {
  if (const auto found = vector_metric(name)) return found;
  return tensor_metric(name);
}

}  // namespace roofcast::validation
