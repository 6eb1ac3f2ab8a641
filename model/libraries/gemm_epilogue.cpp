#include "model/libraries/gemm_epilogue.hpp"

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::gemm {
namespace {

/// Of an element of C.
struct Cost {
  double matrix_reads = 0;  ///< elements of C's type
  double matrix_writes = 0;
  double bits = 0;
  bool bias = false;
  double flops = 0, special = 0;
};

// GELU by tanh and its gradient as layer.gelu has them.
constexpr std::array<Cost, kEpilogueNames.size()> kCosts = {{
    {},
    {.bias = true, .flops = 1},
    {.bias = true, .flops = 2},
    {.bias = true, .flops = 7, .special = 2},
    {.bits = 1, .bias = true, .flops = 2},
    {.matrix_writes = 1, .bias = true, .flops = 7, .special = 2},
    {.matrix_reads = 1, .flops = 16, .special = 2},
    {.matrix_reads = 1, .flops = 1},
}};

const Cost& cost_of(std::int64_t epilogue) {
  return kCosts[static_cast<std::size_t>(epilogue)];
}

}  // namespace

Work epilogue_work(std::int64_t epilogue, double m, double n, double result_bytes) {
  const Cost& cost = cost_of(epilogue);
  constexpr double kBitsOfByte = 8;
  Work work;
  work.vector_flops = m * n * cost.flops;
  work.special_flops = m * n * cost.special;
  work.compulsory = {m * n * cost.matrix_reads * result_bytes + (cost.bias ? n * result_bytes : 0),
                     m * n * (cost.matrix_writes * result_bytes + cost.bits / kBitsOfByte)};
  return work;
}

void add_epilogue(Plan& plan, std::int64_t epilogue, const Work& of_all, ArrayId array) {
  if (epilogue == kPlain) return;
  const Traffic& bytes = of_all.compulsory;
  if (bytes.read_bytes > 0) plan.arrays.push_back(reads(array, bytes.read_bytes));
  if (bytes.write_bytes > 0) plan.arrays.push_back(writes(array + 1, bytes.write_bytes));
  plan.useful.vector_flops += of_all.vector_flops;
  plan.useful.special_flops += of_all.special_flops;
  Work issued;
  issued.vector_flops = of_all.vector_flops;
  issued.special_flops = of_all.special_flops;
  set_traffic(issued, bytes);
  const double instructions = (of_all.vector_flops + of_all.special_flops) / as_double(kWarpLanes);
  for (BlockClass& blocks : plan.blocks) {
    Step& step = blocks.phases.back().step;
    const double share = 1 / (as_double(plan.launch.blocks()) * blocks.phases.back().repeats);
    step.issued += share * issued;
    step.warp_instructions += share * instructions;
    if (cost_of(epilogue).matrix_reads > 0) step.waits.global += 1;
  }
}

}  // namespace roofcast::gemm
