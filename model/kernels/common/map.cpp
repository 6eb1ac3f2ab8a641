#include "model/kernels/common/map.hpp"

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::map {
namespace {

// The compiled kernel, or an estimate where it is generated at run time.
compiled::Kernel kernel_of(const Operation& operation, const Problem& p, std::int64_t width) {
  if (!operation.kernel.empty()) {
    return compiled::kernel(operation.kernel, p.dtype, p[kVectorBytes], p[kLoads]);
  }
  const double waiting = operation.reads + std::max(1.0, operation.writes) - 1;
  compiled::Kernel kernel;
  kernel.registers =
      generated_registers(p.dtype, static_cast<std::int64_t>(waiting), p[kVectorBytes], p[kLoads]);
  kernel.straight =
      kInstructionsPerThread + (width > 1 ? kInstructionsOfVectors : 0) +
      as_double(p[kLoads]) * kInstructionsPerAccess * (operation.reads + operation.writes) +
      as_double(width * p[kLoads]) * operation.cost.instructions;
  return kernel;
}

}  // namespace

Plan plan_of(const Pass& pass) {
  const double elements = as_double(pass.elements), chunk = as_double(pass.chunk);
  Plan plan =
      launch_plan(ceil_div(pass.elements, pass.chunk), {pass.threads, 1, 1}, pass.registers);
  plan.useful = elements * pass.each;
  Step step;
  step.issued = chunk * pass.each;
  set_traffic(step.issued, chunk * pass.bytes);
  step.warp_instructions = warps_of(pass.threads) * pass.instructions;
  step.waits = {.global = 1, .arithmetic = pass.dependent};
  set_blocks_with_edge(plan, step, chunk / elements);
  return plan;
}

Plan plan(const Operation& operation, const Problem& problem) {
  const std::int64_t element = element_bytes(problem.dtype), vector = problem[kVectorBytes];
  const std::int64_t loads = problem[kLoads];
  require(is_power_of_two(vector), "vector_bytes is ", vector, ": give a power of two");
  require(is_power_of_two(loads), "loads is ", loads, ": give a power of two");
  require(vector >= element, "vector_bytes is ", vector, ", less than one element: give at least ",
          element);
  const std::int64_t width = vector / element;
  const compiled::Kernel kernel = kernel_of(operation, problem, width);
  require(kernel.registers != 0, "no kernel is compiled for vector_bytes ", vector, " with loads ",
          loads, ": give vector_bytes 16 and loads 1 or 2");
  Plan result = plan_of({.elements = problem[kElements],
                         .threads = problem[kThreads],
                         .chunk = problem[kThreads] * width * loads,
                         .registers = kernel.registers,
                         .each = operation.cost.work(),
                         .bytes = as_double(element) * Traffic{operation.reads, operation.writes},
                         .instructions = kernel.straight,
                         .dependent = kDependentShare * kernel.straight});
  result.launch.shared_bytes = problem[kReservedShared];

  const double bytes = as_double(problem[kElements] * element);
  ArrayId array = 0;
  for (; array < static_cast<ArrayId>(operation.reads); ++array) {
    result.arrays.push_back(array == 0 ? reads_activation(array, bytes) : reads(array, bytes));
  }
  const auto outputs = static_cast<ArrayId>(std::max(1.0, operation.writes));
  for (ArrayId output = 0; output < outputs; ++output) {
    result.arrays.push_back(writes(array + output, bytes));
  }
  return result;
}

}  // namespace roofcast::map
