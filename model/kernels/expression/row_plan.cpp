#include "model/kernels/expression/row_plan.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/expression/expression.hpp"

namespace roofcast::elementwise {
namespace {

using expression::Expression;
using expression::Node;
using expression::Op;

// Of a thread, for each access: address, bounds test and its part of the loop. As
// kernels/common/map.
constexpr double kInstructionsPerAccess = 8.2;
constexpr double kInstructionsPerThread = 16;
// Of a warp, for each reduction: five shuffles with their operations, a store, a barrier, and the
// same once more over the parts of the warps.
constexpr double kShuffles = 5;
constexpr double kMergeInstructions = 2 * 2 * kShuffles + 6;
constexpr double kBarriersOfMerge = 2;
// As of kernels/common/map: the instructions that wait for the one before.
constexpr double kDependentShare = 0.5;

void mark(const Expression& e, const std::vector<bool>& of_rows, std::size_t at,
          std::vector<bool>& marked) {
  if (marked[at] || of_rows[at]) return;
  marked[at] = true;
  const Node& node = e.nodes[at];
  if (operands(node.op) > 0) mark(e, of_rows, node.a, marked);
  if (operands(node.op) > 1) mark(e, of_rows, node.b, marked);
}

// What the result needs: each value once, also where several sweeps compute it.
Work useful_of(const Expression& shared, const std::vector<Sweep>& sweeps, const Problem& problem) {
  std::vector<bool> counted(shared.nodes.size());
  Cost cost;
  for (const Sweep& sweep : sweeps) {
    for (const auto& nodes : {sweep.computes, sweep.reduces}) {
      for (const std::size_t at : nodes) {
        if (!counted[at]) cost = cost + cost_of(shared, shared.nodes[at], problem.dtype);
        counted[at] = true;
      }
    }
  }
  return work_of(cost, as_double(problem[map::kElements]));
}

double bytes_of_inputs(const Expression& e, const Sweep& sweep, double bytes) {
  return bytes * static_cast<double>(
                     std::count_if(sweep.computes.begin(), sweep.computes.end(),
                                   [&](std::size_t at) { return e.nodes[at].op == Op::input; }));
}

}  // namespace

std::vector<Sweep> sweeps_of(const Expression& shared, const std::vector<bool>& input_rows) {
  const std::vector<bool> of_rows = expression::values_of_rows(shared, input_rows);
  const std::vector<int> levels = expression::reduction_levels(shared);
  const int most = *std::max_element(levels.begin(), levels.end());
  std::vector<Sweep> sweeps;
  for (int level = 0; level <= most; ++level) {
    Sweep sweep;
    sweep.level = level;
    std::vector<bool> marked(shared.nodes.size());
    for (std::size_t i = 0; i < shared.nodes.size(); ++i) {
      if (!is_reduction(shared.nodes[i].op) || levels[i] != level + 1) continue;
      sweep.reduces.push_back(i);
      mark(shared, of_rows, shared.nodes[i].a, marked);
    }
    for (const std::uint8_t output : shared.outputs()) {
      if (of_rows[output] || levels[output] != level) continue;
      sweep.writes.push_back(output);
      mark(shared, of_rows, output, marked);
    }
    for (std::size_t i = 0; i < marked.size(); ++i) {
      if (marked[i]) sweep.computes.push_back(i);
    }
    if (!sweep.reduces.empty() || !sweep.writes.empty()) sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

std::int64_t row_width(const Problem& problem) {
  const std::int64_t element = element_bytes(problem.dtype);
  const std::int64_t vector = problem[map::kVectorBytes];
  if (vector < element || !std::has_single_bit(static_cast<std::uint64_t>(vector))) {
    throw InputError("vector_bytes is " + std::to_string(vector) +
                     ": give a power of two, at least " + std::to_string(element));
  }
  return problem[kCols] * element % vector == 0 ? vector / element : 1;
}

std::int64_t row_threads(const Problem& problem) {
  constexpr std::int64_t kWarp = 32;
  if (problem[map::kThreads] % kWarp != 0) {
    throw InputError("threads is " + std::to_string(problem[map::kThreads]) +
                     ": give a multiple of 32");
  }
  const std::int64_t vectors = ceil_div(problem[kCols], row_width(problem));
  return std::min(problem[map::kThreads], ceil_div(vectors, kWarp) * kWarp);
}

Plan plan_rows(const Expression& expression, const std::vector<bool>& input_rows,
               const Problem& problem) {
  const Expression shared = expression::share(expression::fold(expression));
  const std::vector<bool> of_rows = expression::values_of_rows(shared, input_rows);
  const std::vector<Sweep> sweeps = sweeps_of(shared, input_rows);
  const double element = size_bytes(problem.dtype);
  const std::int64_t cols = problem[kCols], rows = problem[map::kElements] / cols;
  const std::int64_t threads = row_threads(problem), width = row_width(problem);
  const std::int64_t loads = problem[map::kLoads];
  const double warps = warps_of(threads);

  Plan plan;
  plan.launch.grid[0] = rows;
  plan.launch.block[0] = threads;
  plan.launch.registers = map::generated_registers(
      problem.dtype, static_cast<std::int64_t>(shared.inputs.size() + shared.outputs().size()) - 1,
      problem[map::kVectorBytes], loads);
  plan.launch.shared_bytes = std::int64_t{32} * 4;

  const std::int64_t batches = ceil_div(cols, threads * width * loads);
  const double elements = as_double(cols) / as_double(batches);  // of a batch
  plan.useful = useful_of(shared, sweeps, problem);
  std::vector<Phase> phases;
  double read_bytes = 0;
  for (const Sweep& sweep : sweeps) {
    Cost cost;
    for (const auto& nodes : {sweep.computes, sweep.reduces}) {
      for (const std::size_t at : nodes) {
        cost = cost + cost_of(shared, shared.nodes[at], problem.dtype);
      }
    }
    Step batch;
    batch.issued = work_of(cost, elements);
    const double reads = bytes_of_inputs(shared, sweep, elements * element);
    const double written = elements * element * static_cast<double>(sweep.writes.size());
    set_traffic(batch.issued, {reads, written});
    const double arrays = (reads + written) / (elements * element);
    batch.warp_instructions = warps * kInstructionsPerAccess * as_double(loads) * arrays +
                              elements / 32 * cost.instructions;
    batch.wavefronts.l1 = batch.wavefronts.l1_lookups = batch.issued.l1.total_bytes() / 128;
    batch.waits.global = reads > 0 ? 1 : 0;
    batch.waits.arithmetic = kDependentShare * batch.warp_instructions / warps;
    phases.push_back({batch, as_double(batches)});
    read_bytes += reads * as_double(batches) * as_double(rows);
    if (sweep.reduces.empty()) continue;
    const auto reductions = static_cast<double>(sweep.reduces.size());
    Step merge;
    merge.warp_instructions = warps * (kInstructionsPerThread + reductions * kMergeInstructions);
    merge.wavefronts.shared = 2 * warps * reductions;
    merge.issued.shared_bytes = merge.wavefronts.shared * 128;
    merge.waits.shared = 2 * kShuffles * reductions;
    merge.waits.barriers = kBarriersOfMerge * reductions;
    phases.push_back({merge});
  }
  set_blocks(plan, std::move(phases));

  const double array_bytes = as_double(problem[map::kElements]) * element;
  const double row_bytes = as_double(rows) * element;
  ArrayId array = 0;
  double distinct = 0;
  for (const bool of_row : input_rows) {
    const double bytes = of_row ? row_bytes : array_bytes;
    if (!of_row) distinct += bytes;
    plan.arrays.push_back(array == 0 ? reads_activation(array, bytes) : reads(array, bytes));
    ++array;
  }
  for (const std::uint8_t output : shared.outputs()) {
    plan.arrays.push_back(writes(array++, of_rows[output] ? row_bytes : array_bytes));
  }
  // Between two uses of a row a block sweeps over the row's elements of all inputs.
  if (read_bytes > distinct) {
    const double row = distinct / as_double(rows);
    plan.reuse = {{.scope = Scope::block,
                   .bytes = read_bytes - distinct,
                   .distance_bytes = row,
                   .l2_distance_bytes = row}};
  }
  return plan;
}

}  // namespace roofcast::elementwise
