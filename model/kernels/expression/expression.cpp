#include "model/kernels/expression/expression.hpp"

#include <algorithm>
#include <array>

#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::elementwise {
namespace {

using expression::Chain;
using expression::Expression;
using expression::Node;
using expression::Op;
using map::Cost;

// A fused multiply-add is 2 FLOP in 1 instruction.
struct Line {
  Op op;
  Cost fp32;     // accurate to the last bits, as the functions of a C library
  Cost sixteen;  // by the special-function unit, whose error is below a 16-bit rounding
};

// Costs of the code that kernels/expression/source.cpp generates: FLOPs, special functions,
// conversions, instructions. From the PTX of CUDA 13.0 and, for division and square root, what
// ptxas puts in their place, without the paths for huge and infinite arguments and for NaN.
constexpr std::array kCosts = {
    Line{Op::divide, {11, 1, 0, 10}, {1, 1, 0, 2}}, Line{Op::exp, {10, 1, 0, 10}, {1, 1, 0, 2}},
    Line{Op::log, {25, 0, 1, 25}, {1, 1, 0, 2}},    Line{Op::sqrt, {6, 1, 0, 8}, {0, 1, 0, 1}},
    Line{Op::rsqrt, {0, 1, 0, 1}, {0, 1, 0, 1}},    Line{Op::sin, {20, 0, 2, 28}, {8, 1, 0, 6}},
    Line{Op::cos, {20, 0, 2, 28}, {8, 1, 0, 6}},    Line{Op::tanh, {4, 2, 0, 5}, {4, 2, 0, 5}},
    Line{Op::sigmoid, {2, 2, 0, 4}, {2, 2, 0, 4}},  Line{Op::power, {60, 2, 3, 75}, {60, 2, 3, 75}},
    Line{Op::erf, {16, 1, 0, 25}, {15, 2, 0, 12}},  Line{Op::silu, {3, 2, 0, 5}, {3, 2, 0, 5}},
};
// Operations without a line take one instruction, comparisons two. Counters count no FLOP for a
// sign, minimum, maximum or absolute value; a sum or mean takes one FLOP an element.
constexpr std::array kOneFlop = {Op::add, Op::subtract, Op::multiply, Op::row_sum, Op::row_mean};
constexpr Cost kComparison = {0, 0, 0, 2};  // set a predicate, then select 1.0 or 0.0

Cost cost_of(Op op, DType dtype) {
  if (operands(op) == 0) return {};
  if (op >= Op::less) return kComparison;
  for (const Line& line : kCosts) {
    if (line.op == op) return dtype == DType::fp32 ? line.fp32 : line.sixteen;
  }
  const bool flop = std::find(kOneFlop.begin(), kOneFlop.end(), op) != kOneFlop.end();
  return {flop ? 1.0 : 0.0, 0, 0, 1};
}

// Powers that are cheaper than the general one; the generated code makes the same choices.
Cost power_cost(double exponent, DType dtype) {
  const Cost product = cost_of(Op::multiply, dtype);
  if (exponent == 2) return product;
  if (exponent == 3) return Cost(product) += product;
  if (exponent == 0.5) return cost_of(Op::sqrt, dtype);
  if (exponent == -0.5) return cost_of(Op::rsqrt, dtype);
  if (exponent == -1) return cost_of(Op::divide, dtype);
  if (exponent == -2) return Cost(product) += cost_of(Op::divide, dtype);
  return cost_of(Op::power, dtype);
}

Plan plan_whole(const Problem& problem) {
  const Expression asked = expression_of(problem);
  if (!has_reduction(asked)) return map::plan(operation_of(asked, problem.dtype), problem);
  return plan_rows(asked, std::vector<bool>(asked.inputs.size()), problem);
}

template <bool kFused>
LaunchSequence plan(const Problem& problem, const Gpu& /*gpu*/) {
  LaunchSequence sequence =
      kFused ? launch_of(plan_whole(problem))
             : chain_plans(expression::eager(expression_of(problem)), {}, problem);
  sequence.front().plan.notes.caveat =
      "the kernels are generated: their registers and instruction counts are estimates";
  return sequence;
}

Work work(const Problem& problem) {
  return total_work(plan_whole(problem));
}

constexpr std::array kParameters = with_own(
    map::kParameters,
    Parameter{.name = "expression",
              .meaning = "what to compute from named arrays, as in \"x*sigmoid(x)\" or "
                         "\"y = a*b; z = a + b\"",
              .minimum = 0,
              .maximum = 0,
              .is_text = true},
    Parameter{"cols", "elements of a row, along which sum, mean, amax and amin reduce; 0: none", 0,
              std::int64_t{1} << 30, 0});

constexpr std::array<KernelModel, 2> kVariants = {{
    {"elementwise.expr.unfused",
     "one kernel an operation, as an eager framework runs it, equal subexpressions each time",
     kParameters, map::kTypes, plan<false>},
    {"elementwise.expr.fused", "one kernel, intermediates in registers, equal subexpressions once",
     kParameters, map::kTypes, plan<true>},
}};

}  // namespace

Cost cost_of(const Expression& expression, const Node& node, DType dtype) {
  const bool fixed_power = node.op == Op::power && expression.nodes[node.b].op == Op::number;
  return fixed_power ? power_cost(expression.nodes[node.b].value, dtype) : cost_of(node.op, dtype);
}

map::Operation operation_of(const Expression& folded, DType dtype) {
  const Expression shared = expression::share(folded);
  Cost sum;
  for (const Node& node : shared.nodes) sum += cost_of(shared, node, dtype);
  return {.reads = static_cast<double>(shared.inputs.size()),
          .writes = static_cast<double>(shared.outputs().size()),
          .cost = sum};
}

LaunchSequence chain_plans(const Chain& chain, std::span<const std::string_view> kernels,
                           const Problem& problem) {
  LaunchSequence sequence;
  sequence.reserve(chain.steps.size());
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    const expression::Step& step = chain.steps[i];
    Plan plan;
    if (step.along_rows()) {
      plan = plan_rows(step.operation, step.read_rows, problem);
    } else {
      map::Operation operation = operation_of(step.operation, problem.dtype);
      if (!kernels.empty()) operation.kernel = kernels[i];
      Problem of_step = problem;
      if (step.writes_rows) of_step[map::kElements] /= problem[kCols];
      plan = map::plan(operation, of_step);
    }
    for (std::size_t read = 0; read < step.reads.size(); ++read) {
      plan.arrays[read].array = static_cast<ArrayId>(step.reads[read]);
    }
    plan.arrays.back().array = static_cast<ArrayId>(step.writes);
    for (ArrayUse& use : plan.arrays) use.activation = use.array == 0;  // the chain's first input
    sequence.push_back({std::move(plan)});
  }
  return sequence;
}

Expression expression_of(const Problem& problem) {
  Expression folded = expression::fold(expression::parse(problem.text.view()));
  expression::check_outputs(folded);
  const std::size_t inputs = folded.inputs.size(), outputs = folded.outputs().size();
  require(outputs <= kMaxOutputs, "the expression has ", outputs,
          " results and a kernel writes at most ", kMaxOutputs, ": compute a part of them apart");
  if (has_reduction(folded)) {
    const std::int64_t n = problem[map::kElements], cols = problem[kCols];
    require(cols > 0, "sum, mean, amax and amin reduce rows: give cols, the elements of a row");
    require(n % cols == 0, "n is ", n, ", which rows of ", cols,
            " elements do not make up: give a multiple of cols");
  }
  require(inputs <= kMaxInputs, "the expression reads ", inputs,
          " arrays and a kernel takes at most ", kMaxInputs, ": compute a part of it first");
  return folded;
}

constinit const KernelFamily kExpr = {"elementwise.expr",
                                      "any expressions of named arrays, also along rows",
                                      kParameters,
                                      map::kTypes,
                                      kVariants,
                                      map::kValidated,
                                      work};

}  // namespace roofcast::elementwise
