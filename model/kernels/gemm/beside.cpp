#include "model/kernels/gemm/beside.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/gemm.hpp"

namespace roofcast::gemm {
namespace {

constexpr std::int64_t kElementThreads = 256;
constexpr double kWide = 2, kNarrow = 1;  // bytes of an element of A before and after
constexpr double kLanes = 32;

// A launch of threads that take so many elements each.
Plan plan_of_elements(double elements, std::int64_t per_thread) {
  Plan plan;
  plan.launch.grid[0] = ceil_div(static_cast<std::int64_t>(elements), kElementThreads * per_thread);
  plan.launch.block[0] = kElementThreads;
  plan.launch.registers = 32;
  plan.notes.estimated_traffic = true;
  return plan;
}

// A in 16 bits to A in 8 by a scale that is known: a thread a vector of them.
Plan conversion_of_vectors(double elements, const ArrayUse& wide, ArrayId narrow) {
  constexpr std::int64_t kPerThread = 8;
  Plan plan = plan_of_elements(elements, kPerThread);
  plan.useful.vector_flops = elements;
  plan.useful.conversions = elements;
  plan.arrays = {wide, scratch(narrow, {0, elements * kNarrow})};
  const double in_block = as_double(kElementThreads * kPerThread);
  Step step;
  step.issued.vector_flops = step.issued.conversions = in_block;
  step.warp_instructions = in_block / kLanes * 3;
  set_traffic(step.issued, {in_block * kWide, in_block * kNarrow});
  step.waits.global = 1;
  set_blocks(plan, {{step}});
  return plan;
}

// The passes over A below are those of TensorRT-LLM (cpp/tensorrt_llm/common/cudaFp8Utils.cu,
// computeFP8QuantizeScale and scaleMatrix per tensor; scaleMatrixPerTensorVec converts in vectors):
// 1024 blocks whatever A's size, a thread an element at a time, in strides of the grid.
// Instructions are counted from the source: loads, conversions, arithmetic, addresses and the
// loop's end.
constexpr std::int64_t kPassBlocks = 1024;

/// One element of a pass, for each thread.
struct OfElement {
  double warp_instructions;
  double at_once;  ///< loads of a thread in flight together
  double flops, special, conversions;
  double written;     ///< bytes
  double arithmetic;  ///< dependent operations from the load to the next one
};

// As `elements` grow, first more blocks have one each a thread, then all have more.
void set_pass(Plan& plan, std::int64_t threads, double elements, const OfElement& one,
              const Step& ends) {
  plan.launch.grid[0] = kPassBlocks;
  plan.launch.block[0] = threads;
  plan.launch.registers = 32;
  plan.notes.estimated_traffic = true;
  const double in_block = as_double(threads);
  const double working = std::min(as_double(kPassBlocks), std::ceil(elements / in_block));
  const double in_step = std::min(one.at_once, elements / (working * in_block));
  const double taken = in_step * in_block;
  Step step;
  step.issued.vector_flops = taken * one.flops;
  step.issued.special_flops = taken * one.special;
  step.issued.conversions = taken * one.conversions;
  step.warp_instructions = std::ceil(taken / kLanes) * one.warp_instructions;
  set_traffic(step.issued, {taken * kWide, taken * one.written});
  step.wavefronts.l1 = step.wavefronts.l1_lookups =
      std::ceil(taken / kLanes) * (one.written > 0 ? 2 : 1);
  step.waits = {.global = 1, .arithmetic = one.arithmetic};
  const double repeats = elements / (working * taken);
  plan.blocks = {{static_cast<std::int64_t>(working), {{step, repeats}, {ends}}}};
  const auto idle = kPassBlocks - plan.blocks.front().count;
  if (idle > 0) plan.blocks.push_back({idle, {{ends}}});
}

// The largest |a|: four loads are unrolled; a block's threads then compare by shuffles and shared
// memory, and one of them reads the scale so far; few blocks find a larger one and replace it.
Plan largest(double elements, const QuantizedArrays& arrays) {
  constexpr std::int64_t kThreads = 1024;
  Plan plan;
  plan.useful.vector_flops = elements;
  plan.arrays = {reads_activation(arrays.wide, elements * kWide), scratch(arrays.scale, {4, 4})};
  Step ends;
  const double warps = as_double(kThreads) / kLanes;
  ends.warp_instructions = warps * 45;
  ends.wavefronts.shared = 2 * warps;
  ends.waits = {.global = 1, .shared = 12, .arithmetic = 20, .barriers = 1};
  set_pass(plan, kThreads, elements,
           {.warp_instructions = 7,
            .at_once = 4,
            .flops = 1,
            .special = 0,
            .conversions = 0,
            .written = 0,
            .arithmetic = 8},
           ends);
  return plan;
}

// A divided by the scale. A thread's store may change what it loads next, as far as the compiler
// knows, so each load waits for the one before it.
Plan conversion(double elements, const QuantizedArrays& arrays) {
  constexpr std::int64_t kThreads = 256;
  Plan plan;
  plan.useful.vector_flops = elements;
  plan.useful.conversions = elements;
  plan.arrays = {scratch(arrays.wide, {elements * kWide, 0}), scratch(arrays.scale, {4, 0}),
                 scratch(arrays.narrow, {0, elements * kNarrow})};
  Step ends;
  ends.warp_instructions = as_double(kThreads) / kLanes * 20;
  set_pass(plan, kThreads, elements,
           {.warp_instructions = 24,
            .at_once = 1,
            .flops = 6,
            .special = 1,
            .conversions = 1,
            .written = kNarrow,
            .arithmetic = 15},
           ends);
  return plan;
}

// One block that reads and writes a number.
Plan of_a_number(ArrayId from, ArrayId to, bool reads_it) {
  Plan plan;
  plan.launch.block[0] = 128;
  plan.launch.registers = 16;
  plan.notes.estimated_traffic = true;
  if (reads_it) plan.arrays.push_back(scratch(from, {4, 0}));
  plan.arrays.push_back(scratch(to, {0, 4}));
  Step step;
  step.warp_instructions = as_double(plan.launch.block[0]) / kLanes * 20;
  set_traffic(step.issued, {reads_it ? as_double(kSectorBytes) : 0, as_double(kSectorBytes)});
  step.waits.global = reads_it ? 1 : 0;
  set_blocks(plan, {{step}});
  return plan;
}

}  // namespace

LaunchSequence quantization(Quantize how, double elements, const QuantizedArrays& arrays) {
  LaunchSequence program;
  if (how == kActivations) {
    const ArrayUse wide = reads_activation(arrays.wide, elements * kWide);
    program.push_back({conversion_of_vectors(elements, wide, arrays.narrow)});
  }
  if (how != kDynamic && how != kDynamicVectors) return program;
  program.push_back({of_a_number(arrays.scale, arrays.scale, false)});
  program.push_back({largest(elements, arrays)});
  if (how == kDynamicVectors) {
    const ArrayUse again = scratch(arrays.wide, {elements * kWide, 0});
    program.push_back({conversion_of_vectors(elements, again, arrays.narrow)});
  } else {
    // The scale has 16 bits: it is widened for the product.
    program.push_back({conversion(elements, arrays)});
    program.push_back({of_a_number(arrays.scale, arrays.wide_scale, true)});
  }
  // Later releases launch each while the one before runs (programmatic dependent launch).
  for (Launched& node : program) {
    node.plan.start = how == kDynamic ? Start::code : Start::kept_code;
  }
  return program;
}

Plan sum_of_parts(double outputs, double splits, double result_bytes, ArrayId parts, ArrayId sums) {
  constexpr std::int64_t kPerThread = 4;
  const double part_bytes = splits * outputs * as_double(kPartBytes);
  Plan plan = plan_of_elements(outputs, kPerThread);
  plan.useful.vector_flops = outputs * (splits - 1);
  plan.arrays = {scratch(parts, {part_bytes, 0}), writes(sums, outputs * result_bytes)};
  const double blocks = as_double(plan.launch.blocks());
  Step step;
  step.issued.vector_flops = plan.useful.vector_flops / blocks;
  step.warp_instructions = outputs / blocks / kLanes * (splits * (1 + 1.0 / kPerThread) + 4);
  set_traffic(step.issued, {part_bytes / blocks, outputs * result_bytes / blocks});
  step.waits.global = 1;
  set_blocks(plan, {{step}});
  return plan;
}

}  // namespace roofcast::gemm
