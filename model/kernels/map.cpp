#include "model/kernels/map.hpp"

#include <bit>
#include <string>

namespace roofcast::map {
namespace {

// Address arithmetic, bounds tests and exit, for each thread; then for each access: 61 in all for a
// copy by the counters of an H200, 2026-11-21.
constexpr double kInstructionsPerThread = 57;
constexpr double kInstructionsPerAccess = 2;

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
  const auto n = static_cast<double>(problem[kElements]);

  Plan result;
  result.launch.grid[0] = (problem[kElements] + chunk - 1) / chunk;
  result.launch.block[0] = problem[kThreads];
  result.launch.registers =
      operation.body == Body::generated
          ? generated_registers(problem.dtype, static_cast<std::int64_t>(operation.reads),
                                problem[kVectorBytes], problem[kLoads])
          : registers_of(operation.body, problem.dtype, problem[kVectorBytes], problem[kLoads]);

  result.launch.shared_bytes = problem[kReservedShared];

  Work& work = result.total;
  work.vector_flops = n * operation.flops;
  work.special_flops = n * operation.special;
  work.conversions = n * operation.conversions;
  work.compulsory = {n * element * operation.reads, n * element * operation.writes};
  work.requested = work.l1 = work.l2 = work.dram_footprint = work.compulsory;

  const double warps = static_cast<double>((problem[kThreads] + 31) / 32);
  const auto loads = static_cast<double>(problem[kLoads]);
  const double arrays = operation.reads + operation.writes;
  const auto elements = static_cast<double>(chunk);
  Step& once = result.block.once;
  result.block.steps = 0;
  once.vector_flops = elements * operation.flops;
  once.special_ops = elements * operation.special;
  once.conversions = elements * operation.conversions;
  once.instructions = warps * (kInstructionsPerThread + kInstructionsPerAccess * loads * arrays) +
                      elements / 32 * operation.instructions;
  once.l2_bytes = elements * element * arrays;
  once.global_round_trips = 1;
  result.on_chip_bytes = 0;
  return result;
}

}  // namespace roofcast::map
