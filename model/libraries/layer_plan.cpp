#include <algorithm>
#include <utility>

#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/layer.hpp"
#include "model/libraries/layer_walks.hpp"

namespace roofcast::layer {
namespace {

constexpr std::string_view kCaveat =
    "bytes, launches and waits are counted from the framework's source; registers are an estimate";

/// A launch, so often, with its share of what all of them move.
struct Part {
  Plan plan;
  double repeats, share;
};

std::vector<Part> parts_of(const Counted& one) {
  std::vector<Part> parts;
  if (one.movement.walk != Walk::chunks) {
    parts.push_back({plan_of(one), one.movement.launches, 1});
    return parts;
  }
  const auto elements = static_cast<std::int64_t>(one.elements());
  const std::int64_t launches = elements / (kChunk * kChunksOfLaunch);
  const std::int64_t left = elements - launches * kChunk * kChunksOfLaunch;
  const Chunks full{kChunksOfLaunch, 0}, rest{left / kChunk, as_double(left % kChunk)};
  for (const auto& [chunks, times] : {std::pair{full, launches}, {rest, std::int64_t{1}}}) {
    if (times == 0 || chunks.elements() <= 0) continue;
    parts.push_back({over_chunks(one, chunks), as_double(times) * one.movement.launches,
                     chunks.elements() / one.elements()});
  }
  return parts;
}

// Conversions from and to 64 bits: 16 a clock of GPUs with 32 or more multiply-adds of double
// precision, 2 of others (CUDA C++ Programming Guide, arithmetic throughput).
DoubleCosts double_costs(const Gpu& gpu) {
  constexpr double kMany = 64, kFast = 16, kSlow = 2;
  DoubleCosts costs;
  const auto single = gpu.sm.vector_flop_per_clk[DType::fp32],
             wide = gpu.sm.vector_flop_per_clk[DType::fp64];
  if (!single || !wide) return costs;
  costs.operation = *single / *wide;
  const double rate = *wide >= kMany ? kFast : kSlow;
  costs.conversion = std::max(1.0, gpu.sm.conversion_per_clk.value_or(rate) / rate);
  return costs;
}

Counted counted(const Movement& movement, const Problem& p, const DoubleCosts& costs = {}) {
  return {movement, p.dtype, as_double(p[kRows]), as_double(p[kCols]), as_double(p[kOf]), costs};
}

}  // namespace

LaunchSequence plan_of(const Operation& operation, const Problem& p, const Gpu& gpu) {
  const auto movements = operation.launches(p[kPass], p[kForm]);
  LaunchSequence program;
  ArrayId next = 0, last = 0;
  double handed = 0;
  const auto launched = [&](const Movement& movement) { return movement.launched(p[kRows]); };
  for (const Movement& movement : movements) {
    if (!launched(movement)) continue;
    const Counted one = counted(movement, p, double_costs(gpu));
    const Traffic all = one.bytes();
    if (!movement.follows) handed = 0;
    const double taken = std::min(handed, all.read_bytes), given = all.read_bytes - taken;
    const ArrayId input = next++, output = next++;
    for (Part& part : parts_of(one)) {
      auto& arrays = part.plan.arrays;
      arrays.clear();
      if (taken > 0) arrays.push_back(scratch(last, {part.share * taken, 0}));
      if (given > 0) {
        arrays.push_back(program.empty() ? reads_activation(input, part.share * given)
                                         : reads(input, part.share * given));
      }
      const double written = part.share * all.write_bytes;
      if (written > 0) {
        const bool result = std::none_of(&movement + 1, movements.end(), launched);
        arrays.push_back(result ? writes(output, written) : scratch(output, {0, written}));
      }
      part.plan.notes.estimated_traffic = true;
      part.plan.notes.caveat = kCaveat;
      program.push_back({std::move(part.plan), part.repeats});
    }
    last = output;
    handed = all.write_bytes;
  }
  return program;
}

Work work_of(const Operation& operation, const Problem& p) {
  Work work;
  for (const Movement& movement : operation.launches(p[kPass], kFused)) {
    if (!movement.launched(p[kRows])) continue;
    const Counted one = counted(movement, p);
    work.vector_flops += one.elements() * one.flops();
    work.special_flops += one.elements() * movement.special;
    work.compulsory += movement.launches * one.bytes();
  }
  return work;
}

}  // namespace roofcast::layer
