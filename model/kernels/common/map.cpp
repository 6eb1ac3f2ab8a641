#include "model/kernels/common/map.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::map {
namespace {

// What kernels generated at run time take, beside the arithmetic: index and exit; head and tail of
// vectors of several elements; address, bounds test and predicate of each access. By the
// counters of copies and triads.
constexpr double kInstructionsPerThread = 16;
constexpr double kInstructionsOfVectors = 28;
constexpr double kInstructionsPerAccess = 8.2;

// Of the instructions, those that wait for the one before: addresses, tests, conversions. By the
// time that blocks alone on an SM take.
constexpr double kDependentShare = 0.5;

// A vector of several fp16 elements is taken apart where it has been loaded, so the thread's next
// load waits for it; of bf16 only one that is not computed with, as widening is a part of its
// arithmetic. Pairs and wider elements are used as they come.
double round_trips(const Operation& operation, DType type, std::int64_t width, double loads) {
  const bool taken_apart = type == DType::fp16 || (type == DType::bf16 && operation.flops <= 0);
  return taken_apart && width > 2 ? loads : 1;
}

// The kernel, or an estimate of it. A vector of one element has no head and no tail, which machine
// code does not know: its instructions are estimated too.
compiled::Kernel kernel_of(const Operation& operation, const Problem& p, std::int64_t width) {
  const bool known = !operation.kernel.empty();
  compiled::Kernel kernel;
  if (known) {
    kernel = compiled::kernel(operation.kernel, p.dtype, p[kVectorBytes], p[kLoads]);
    kernel.straight += as_double(width * p[kLoads]) * operation.branched;
  }
  if (!known || width == 1) {
    kernel.straight =
        kInstructionsPerThread + (width > 1 ? kInstructionsOfVectors : 0) +
        as_double(p[kLoads]) * (kInstructionsPerAccess * (operation.reads + operation.writes) +
                                as_double(width) * operation.instructions);
  }
  if (!known) {
    const double waiting = operation.reads + std::max(1.0, operation.writes) - 1;
    kernel.registers = generated_registers(p.dtype, static_cast<std::int64_t>(waiting),
                                           p[kVectorBytes], p[kLoads]);
  }
  return kernel;
}

void require_power_of_two(std::string_view what, std::int64_t value) {
  if (!std::has_single_bit(static_cast<std::uint64_t>(value))) {
    throw InputError(std::string(what) + " is " + std::to_string(value) + ": give a power of two");
  }
}

}  // namespace

Plan plan(const Operation& operation, const Problem& problem) {
  const double element = size_bytes(problem.dtype);
  const auto vector = static_cast<double>(problem[kVectorBytes]);
  require_power_of_two("vector_bytes", problem[kVectorBytes]);
  require_power_of_two("loads", problem[kLoads]);
  if (vector < element) {
    throw InputError("vector_bytes is " + std::to_string(problem[kVectorBytes]) +
                     ", less than one element: give at least " +
                     std::to_string(static_cast<int>(element)));
  }
  const auto width = static_cast<std::int64_t>(vector / element);
  const std::int64_t chunk = problem[kThreads] * width * problem[kLoads];
  const auto n = as_double(problem[kElements]);

  Plan result;
  result.launch.grid[0] = (problem[kElements] + chunk - 1) / chunk;
  result.launch.block[0] = problem[kThreads];
  const compiled::Kernel kernel = kernel_of(operation, problem, width);
  result.launch.registers = kernel.registers;
  if (result.launch.registers == 0) {
    throw InputError("no kernel is compiled for vector_bytes " +
                     std::to_string(problem[kVectorBytes]) + " with loads " +
                     std::to_string(problem[kLoads]) + ": give vector_bytes 16 and loads 1 or 2");
  }
  result.launch.shared_bytes = problem[kReservedShared];

  const auto loads = as_double(problem[kLoads]);
  const auto elements = as_double(chunk);
  Step step;
  step.issued.vector_flops = elements * operation.flops;
  step.issued.special_flops = elements * operation.special;
  step.issued.conversions = elements * operation.conversions;
  const double each = elements * element;
  set_traffic(step.issued, {each * operation.reads, each * operation.writes});
  step.warp_instructions = warps_of(problem[kThreads]) * kernel.straight;
  step.waits.global = round_trips(operation, problem.dtype, width, loads);
  step.waits.arithmetic = kDependentShare * kernel.straight;
  set_blocks_with_edge(result, step, elements / n);

  result.useful.vector_flops = n * operation.flops;
  result.useful.special_flops = n * operation.special;
  result.useful.conversions = n * operation.conversions;
  ArrayId array = 0;
  for (; array < static_cast<ArrayId>(operation.reads); ++array) {
    result.arrays.push_back(array == 0 ? reads_activation(array, n * element)
                                       : reads(array, n * element));
  }
  const auto outputs = static_cast<ArrayId>(std::max(1.0, operation.writes));
  for (ArrayId output = 0; output < outputs; ++output) {
    result.arrays.push_back(writes(array + output, n * element));
  }
  return result;
}

}  // namespace roofcast::map
