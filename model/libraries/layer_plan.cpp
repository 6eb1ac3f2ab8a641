#include <algorithm>
#include <cmath>
#include <utility>

#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/layer.hpp"

namespace roofcast::layer {
namespace {

// Conversions from and to 64 bits: 16 a clock of GPUs with 32 or more multiply-adds of double
// precision, 2 of others (CUDA C++ Programming Guide, arithmetic throughput).
DoubleCosts double_costs(const Gpu& gpu) {
  constexpr double kMany = 64, kFast = 16, kSlow = 2;
  const auto single = gpu.sm.vector_flop_per_clk[DType::fp32],
             wide = gpu.sm.vector_flop_per_clk[DType::fp64];
  if (!single || !wide) return {};
  const double rate = *wide >= kMany ? kFast : kSlow;
  return {*single / *wide, std::max(1.0, gpu.sm.conversion_per_clk.value_or(rate) / rate)};
}

Counted counted(const Movement& movement, const Problem& p, const DoubleCosts& costs = {}) {
  return {movement, p.dtype, as_double(p[kRows]), as_double(p[kCols]), as_double(p[kOf]), costs};
}

}  // namespace

std::initializer_list<Movement> Operation::launches(const Problem& p, std::int64_t form) const {
  const bool backward = p[kPass] == kBackward;
  if (backward && p[kRows] > kMostUnsorted && sorted_backward.size() > 0) return sorted_backward;
  const auto& other = backward ? eager_backward : eager;
  return form == kEager && other.size() > 0 ? other : backward ? fused_backward : fused;
}

LaunchSequence plan_of(const Operation& operation, const Problem& p, const Gpu& gpu) {
  const auto movements = operation.launches(p, p[kForm]);
  LaunchSequence program;
  ArrayId next = 0, last = 0;
  double handed = 0;
  for (const Movement& movement : movements) {
    const bool is_last = &movement + 1 == movements.end();
    Counted one = counted(movement, p, double_costs(gpu));
    if (!movement.follows) handed = 0;
    const ArrayId input = next++, output = next++;
    constexpr double kMost = kChunk * kChunksOfLaunch;
    const double full = movement.walk == Walk::chunks ? std::floor(one.elements() / kMost) : 0;
    const double of_full = kMost / one.elements();
    for (const auto& [times, share] :
         {std::pair{full, of_full}, {1.0, (one.elements() - full * kMost) / one.elements()}}) {
      if (times <= 0 || share <= 0) continue;
      one.share = share;
      const Traffic all = share * one.bytes();
      const double taken = std::min(handed, all.read_bytes), given = all.read_bytes - taken;
      Plan plan = plan_of(one);
      plan.arrays.clear();
      if (taken > 0) plan.arrays.push_back(scratch(last, {taken, 0}));
      if (given > 0) {
        plan.arrays.push_back(program.empty() ? reads_activation(input, given)
                                              : reads(input, given));
      }
      if (all.write_bytes > 0) {
        plan.arrays.push_back(is_last ? writes(output, all.write_bytes)
                                      : scratch(output, {0, all.write_bytes}));
      }
      plan.notes.estimated_traffic = true;
      plan.notes.caveat =
          "bytes, launches and waits are counted from the framework's source; registers are an "
          "estimate";
      program.push_back({std::move(plan), times * movement.launches});
    }
    last = output;
    handed = one.bytes().write_bytes;
  }
  return program;
}

Work work_of(const Operation& operation, const Problem& p) {
  Work work;
  for (const Movement& movement : operation.launches(p, kFused)) {
    const Counted one = counted(movement, p);
    work += one.work();
    work.compulsory += movement.launches * one.bytes();
  }
  return work;
}

}  // namespace roofcast::layer
