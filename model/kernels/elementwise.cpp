#include "model/kernels/elementwise.hpp"

#include "model/io_complexity.hpp"

namespace roofcast::elementwise {
namespace {

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

//                                reads writes flops special instructions
constexpr map::Operation kReluWork = {
    1, 1, 0, 0, 1, map::Body::relu};  // a maximum is no FLOP by the counters
constexpr map::Operation kGeluWork = {1, 1, 6, 2, 9, map::Body::gelu};

// One launch for each operation, as an eager framework runs it. Intermediates take turns in two
// scratch arrays, as a caching allocator hands out memory that was just freed.
struct Link {
  map::Operation operation;
  bool rereads;     ///< what it reads has been read or written before in the chain
  bool overwrites;  ///< what it writes replaces an intermediate no one needs any more
};
using map::Body;
constexpr std::array<Link, 9> kGeluChain = {{
    {{1, 1, 1, 0, 1, Body::square}, false, false},  // t1 = x·x
    {{2, 1, 1, 0, 1, Body::add}, true, false},      // t2 = t1·x
    {{1, 1, 1, 0, 1, Body::scale}, true, true},     // t3 = 0.044715·t2
    {{2, 1, 1, 0, 1, Body::add}, true, true},       // t4 = x + t3
    {{1, 1, 1, 0, 1, Body::scale}, true, true},     // t5 = 0.797885·t4
    {{1, 1, 3, 2, 6, Body::tanh}, true, true},      // t6 = tanh(t5) by exp and 1/x
    {{1, 1, 1, 0, 1, Body::scale}, true, true},     // t7 = 1 + t6
    {{1, 1, 1, 0, 1, Body::scale}, true, true},     // t8 = 0.5·x
    {{2, 1, 1, 0, 1, Body::add}, true, false},      // y  = t8·t7
}};
constexpr double kArraysInTurn = 3;  // x and the two scratch arrays

Plans plan_relu(const Problem& problem, const Gpu& /*gpu*/) {
  return {map::plan(kReluWork, problem)};
}

Plans plan_gelu_fused(const Problem& problem, const Gpu& /*gpu*/) {
  return {map::plan(kGeluWork, problem)};
}

// An array comes round again when the others in turn have gone through L2. What L2 still holds by
// then is not read from DRAM, and an intermediate overwritten there never reaches it.
Plans plan_gelu_unfused(const Problem& problem, const Gpu& /*gpu*/) {
  Plans plans;
  plans.reserve(kGeluChain.size());
  const double array_bytes = static_cast<double>(problem[kElements]) * size_bytes(problem.dtype);
  for (const Link& link : kGeluChain) {
    Plan plan = map::plan(link.operation, problem);
    plan.reuse = {.read_bytes = link.rereads ? link.operation.reads * array_bytes : 0,
                  .write_bytes = link.overwrites ? array_bytes : 0,
                  .distance_bytes = kArraysInTurn * array_bytes};
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
    "elementwise.relu", "y = max(x, 0)", map::kParameters, kTypes, relu_work, io,
    kReluVariants,      map::kValidated};
constinit const KernelFamily kGelu = {
    "elementwise.gelu", "y = x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))",
    map::kParameters,   kTypes,
    gelu_work,          io,
    kGeluVariants,      map::kValidated};

}  // namespace roofcast::elementwise
