#include "model/kernels/expression/expression.hpp"

#include <algorithm>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::elementwise {
namespace {

using expression::Expression;
using expression::Node;
using expression::Op;
using map::kInstructionsPerAccess, map::kInstructionsPerThread;

// Instructions of a warp for each reduction over the block: five shuffles with their operations, a
// store and a barrier, then the same once more over the partial results of the warps.
constexpr double kShuffles = 5;
constexpr double kMergeInstructions = 2 * 2 * kShuffles + 6;
constexpr double kBarriersOfMerge = 2;

// Arrays that a sweep reads.
double inputs_of(const Expression& shared, const Sweep& sweep) {
  return static_cast<double>(
      std::count_if(sweep.computes.begin(), sweep.computes.end(),
                    [&](std::size_t at) { return shared.nodes[at].op == Op::input; }));
}

// A sweep of a block over its row in batches, each of which all threads load at once.
Phase batches_of(const Expression& shared, const Sweep& sweep, const Problem& problem) {
  const std::int64_t cols = problem[kCols], loads = problem[map::kLoads];
  const std::int64_t threads = row_threads(problem);
  const double warps = warps_of(threads), element = size_bytes(problem.dtype);
  const double batches = as_double(ceil_div(cols, threads * row_width(problem) * loads));
  const double elements = as_double(cols) / batches;
  map::Cost cost;
  for (const auto& nodes : {sweep.computes, sweep.reduces}) {
    for (const std::size_t at : nodes) cost += cost_of(shared, shared.nodes[at], problem.dtype);
  }
  const double inputs = inputs_of(shared, sweep);
  const auto outputs = static_cast<double>(sweep.writes.size());
  Step batch;
  batch.issued = elements * cost.work();
  set_traffic(batch.issued, elements * element * Traffic{inputs, outputs});
  batch.warp_instructions = warps * kInstructionsPerAccess * as_double(loads) * (inputs + outputs) +
                            elements / kWarpLanes * cost.instructions;
  batch.wavefronts.l1 = batch.wavefronts.l1_lookups = batch.issued.l1.total_bytes() / kLineBytes;
  batch.waits = {.global = inputs > 0 ? 1.0 : 0.0,
                 .arithmetic = kDependentShare * batch.warp_instructions / warps};
  return {batch, batches};
}

// The reductions over the block at the end of a sweep.
Phase merge_of(const Sweep& sweep, const Problem& problem) {
  const auto reductions = static_cast<double>(sweep.reduces.size());
  Step merge;
  merge.warp_instructions =
      warps_of(row_threads(problem)) * (kInstructionsPerThread + reductions * kMergeInstructions);
  merge.waits = {.shared = 2 * kShuffles * reductions, .barriers = kBarriersOfMerge * reductions};
  return {merge};
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
    std::vector<bool> needed(shared.nodes.size());
    for (std::size_t i = 0; i < shared.nodes.size(); ++i) {
      if (!is_reduction(shared.nodes[i].op) || levels[i] != level + 1) continue;
      sweep.reduces.push_back(i);
      needed[shared.nodes[i].a] = true;
    }
    for (const std::uint8_t output : shared.outputs()) {
      if (of_rows[output] || levels[output] != level) continue;
      sweep.writes.push_back(output);
      needed[output] = true;
    }
    for (std::size_t i = needed.size(); i-- > 0;) {
      if (!needed[i] || of_rows[i]) continue;
      sweep.computes.push_back(i);
      for_each_operand(shared.nodes[i], [&](std::uint8_t at) { needed[at] = true; });
    }
    std::reverse(sweep.computes.begin(), sweep.computes.end());
    if (!sweep.reduces.empty() || !sweep.writes.empty()) sweeps.push_back(std::move(sweep));
  }
  return sweeps;
}

std::int64_t row_width(const Problem& problem) {
  const std::int64_t element = element_bytes(problem.dtype);
  const std::int64_t vector = problem[map::kVectorBytes];
  require(vector >= element && power_of_two_from(vector) == vector, "vector_bytes is ", vector,
          ": give a power of two, at least ", element);
  return problem[kCols] * element % vector == 0 ? vector / element : 1;
}

std::int64_t row_threads(const Problem& problem) {
  require(problem[map::kThreads] % kWarpLanes == 0, "threads is ", problem[map::kThreads],
          ": give a multiple of 32");
  const std::int64_t vectors = ceil_div(problem[kCols], row_width(problem));
  return std::min(problem[map::kThreads], round_up(vectors, kWarpLanes));
}

Plan plan_rows(const Expression& folded, const std::vector<bool>& input_rows,
               const Problem& problem) {
  const Expression shared = expression::share(folded);
  const std::vector<bool> of_rows = expression::values_of_rows(shared, input_rows);
  const double element = size_bytes(problem.dtype);
  const double row_bytes = as_double(problem[kCols]) * element;
  const std::int64_t rows = problem[map::kElements] / problem[kCols];

  const auto arrays = static_cast<std::int64_t>(shared.inputs.size() + shared.outputs().size());
  Plan plan =
      launch_plan(rows, {row_threads(problem), 1, 1},
                  map::generated_registers(problem.dtype, arrays - 1, problem[map::kVectorBytes],
                                           problem[map::kLoads]),
                  std::int64_t{32} * 4);
  map::Cost useful;  // each value once, even if several sweeps compute it
  for (std::size_t i = 0; i < shared.nodes.size(); ++i) {
    const Node& node = shared.nodes[i];
    if (!of_rows[i] || is_reduction(node.op)) useful += cost_of(shared, node, problem.dtype);
  }
  plan.useful = as_double(problem[map::kElements]) * useful.work();

  std::vector<Phase> phases;
  double inputs_read = 0;  // arrays read, once for each sweep that reads them
  for (const Sweep& sweep : sweeps_of(shared, input_rows)) {
    inputs_read += inputs_of(shared, sweep);
    phases.push_back(batches_of(shared, sweep, problem));
    if (!sweep.reduces.empty()) phases.push_back(merge_of(sweep, problem));
  }
  set_blocks(plan, std::move(phases));

  const auto bytes_of = [&](bool of_row) {
    return as_double(rows) * (of_row ? element : row_bytes);
  };
  ArrayId array = 0;
  for (const bool of_row : input_rows) {
    plan.arrays.push_back(reads(array, bytes_of(of_row)));
    plan.arrays.back().activation = array++ == 0;
  }
  for (const std::uint8_t output : shared.outputs()) {
    plan.arrays.push_back(writes(array++, bytes_of(of_rows[output])));
  }
  // Reuse distance: between two sweeps over a row a block reads that row of every input.
  const auto inputs = static_cast<double>(std::count(input_rows.begin(), input_rows.end(), false));
  if (inputs_read > inputs) {
    plan.reuse = {{.scope = Scope::block,
                   .bytes = as_double(rows) * row_bytes * (inputs_read - inputs),
                   .distance_bytes = row_bytes * inputs,
                   .l2_distance_bytes = row_bytes * inputs}};
  }
  return plan;
}

}  // namespace roofcast::elementwise
