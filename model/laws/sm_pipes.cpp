#include "model/laws/sm_pipes.hpp"

#include <algorithm>

namespace roofcast {
namespace {

// Warps on an SM at which issue efficiency and the overlap of its pipes are stated.
constexpr double kMeasuredWarps = 8;

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

std::optional<double> rate(const std::optional<double>& sustained,
                           const std::optional<double>& datasheet) {
  return sustained ? sustained : datasheet;
}

double issue_efficiency(double resident_warps, const Gpu& gpu) {
  const double lost = 1 / gpu.sustained.issue_efficiency.value_or(1) - 1;
  return 1 / (1 + lost * kMeasuredWarps / std::max(1.0, resident_warps));
}

CyclesByResource pipe_cycles(const Step& step, DType compute, const Gpu& gpu) {
  CyclesByResource cycles{};
  const auto set = [&cycles](Resource resource, double value) {
    cycles[static_cast<std::size_t>(resource)] = value;
  };
  const Work& issued = step.issued;
  set(Resource::tensor, tensor_cycles(issued.tensor_flops, gpu));
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

// Every multiply-add is also an issued instruction, and shared memory and L1 are one data pipe: of
// each pair the fuller one counts. What is left overlaps imperfectly.
double busy_cycles(const CyclesByResource& pipes, const Overlap& overlap) {
  const auto of = [&pipes](Resource resource) { return pipes[static_cast<std::size_t>(resource)]; };
  return overlap(std::array{std::max(of(Resource::vector), of(Resource::issue)),
                            of(Resource::tensor), of(Resource::special), of(Resource::conversion),
                            of(Resource::shared) + of(Resource::l1), of(Resource::l2)});
}

Overlap pipe_overlap(double resident_warps, const Gpu& gpu) {
  constexpr double kSharpest = 20;
  std::optional<double> pipes = gpu.sustained.overlap_exponent;
  if (pipes) *pipes = std::min(kSharpest, 1 + (*pipes - 1) * resident_warps / kMeasuredWarps);
  return Overlap(pipes);
}

}  // namespace roofcast
