#include "model/kernels/elementwise.hpp"

#include "model/io_complexity.hpp"

namespace roofcast::elementwise {
namespace {

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

//                                reads writes flops special instructions
constexpr map::Operation kReluWork = {1, 1, 0, 0, 1};  // a maximum is no FLOP by the counters
constexpr map::Operation kGeluWork = {1, 1, 8, 1, 20};

// One launch for each operation, as an eager framework runs it; the comment is the operation.
struct Link {
  map::Operation operation;
  double reads_just_written;  ///< arrays read that the launch before wrote
};
constexpr std::array<Link, 9> kGeluChain = {{
    {{1, 1, 1, 0, 1}, 0},   // t1 = x·x
    {{2, 1, 1, 0, 1}, 1},   // t2 = t1·x
    {{1, 1, 1, 0, 1}, 1},   // t3 = 0.044715·t2
    {{2, 1, 1, 0, 1}, 1},   // t4 = x + t3
    {{1, 1, 1, 0, 1}, 1},   // t5 = 0.797885·t4
    {{1, 1, 0, 1, 15}, 1},  // t6 = tanh(t5)
    {{1, 1, 1, 0, 1}, 1},   // t7 = 1 + t6
    {{1, 1, 1, 0, 1}, 0},   // t8 = 0.5·x
    {{2, 1, 1, 0, 1}, 1},   // y  = t8·t7
}};

Plans plan_relu(const Problem& problem, const Gpu& /*gpu*/) {
  return {map::plan(kReluWork, problem)};
}

Plans plan_gelu_fused(const Problem& problem, const Gpu& /*gpu*/) {
  return {map::plan(kGeluWork, problem)};
}

// An intermediate is read by the next launch, after as many bytes as one launch moves; x, read by
// several launches, likewise. What is still in L2 then need not come from DRAM.
Plans plan_gelu_unfused(const Problem& problem, const Gpu& /*gpu*/) {
  Plans plans;
  plans.reserve(kGeluChain.size());
  const double array_bytes = static_cast<double>(problem[kElements]) * size_bytes(problem.dtype);
  for (const Link& link : kGeluChain) {
    Plan plan = map::plan(link.operation, problem);
    const bool first = plans.empty();
    const double moved = array_bytes * (link.operation.reads + link.operation.writes);
    plan.reuse = {first ? 0 : link.operation.reads * array_bytes, 0, moved};
    plans.push_back(plan);
  }
  return plans;
}

Work relu_work(const Problem& problem) {
  return map::plan(kReluWork, problem).total;
}
Work gelu_work(const Problem& problem) {
  return map::plan(kGeluWork, problem).total;
}

IoComplexity io(const Problem& /*problem*/, double compulsory_bytes, double on_chip_bytes) {
  return streaming_io(compulsory_bytes, on_chip_bytes);
}

constexpr std::array<KernelModel, 2> kReluVariants = {{
    {"elementwise.relu.unfused", "one kernel: relu is a single operation", map::kParameters, kTypes,
     plan_relu},
    {"elementwise.relu.fused", "one kernel: relu is a single operation", map::kParameters, kTypes,
     plan_relu},
}};

constexpr std::array<KernelModel, 2> kGeluVariants = {{
    {"elementwise.gelu.unfused", "nine kernels, one an operation, as an eager framework runs it",
     map::kParameters, kTypes, plan_gelu_unfused},
    {"elementwise.gelu.fused", "one kernel, intermediates in registers", map::kParameters, kTypes,
     plan_gelu_fused},
}};

}  // namespace

constinit const KernelFamily kRelu = {
    "elementwise.relu", "y = max(x, 0)", map::kParameters, kTypes, relu_work, io, kReluVariants};
constinit const KernelFamily kGelu = {
    "elementwise.gelu", "y = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))",
    map::kParameters,   kTypes,
    gelu_work,          io,
    kGeluVariants};

}  // namespace roofcast::elementwise
