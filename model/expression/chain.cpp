#include "model/expression/chain.hpp"

#include <algorithm>

#include "model/types/problem.hpp"

namespace roofcast::expression {
namespace {

void add_operand(Step& step, const Node& value, std::size_t array, bool of_rows) {
  if (value.op == Op::number) {
    step.operation.nodes.push_back(value);
    return;
  }
  const auto known = std::find(step.reads.begin(), step.reads.end(), array);
  const auto position = static_cast<std::uint8_t>(known - step.reads.begin());
  if (known == step.reads.end()) {
    step.reads.push_back(array);
    step.read_rows.push_back(of_rows);
    step.operation.inputs.emplace_back(position == 0 ? "a" : "b");
  }
  step.operation.nodes.push_back({Op::input, position});
}

}  // namespace

void check_outputs(const Expression& folded) {
  const std::vector<std::uint8_t> outputs = folded.outputs();
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    require(operands(folded.nodes[*output].op) > 0, "the expression \"", print(folded),
            "\" computes nothing from an array: write an operation on a name, as in 2*x");
    require(std::find(outputs.begin(), output, *output) == output, "the expression \"",
            print(folded), "\" has the same result under two names: leave one out");
  }
}

bool Step::along_rows() const {
  if (has_reduction(operation)) return true;
  return !writes_rows && std::find(read_rows.begin(), read_rows.end(), true) != read_rows.end();
}

Chain eager(const Expression& expression) {
  const Expression folded = fold(expression);
  check_outputs(folded);
  const std::vector<std::uint8_t> outputs = folded.outputs();
  const std::vector<bool> of_rows = values_of_rows(folded);
  Chain chain;
  chain.inputs = folded.inputs.size();
  chain.outputs = outputs.size();
  std::vector<std::size_t> arrays(folded.nodes.size());  // by node; numbers have none
  std::vector<std::size_t> free;
  std::vector<int> readers(folded.nodes.size());  // readers still to run, by node
  for (const Node& node : folded.nodes) {
    for_each_operand(node, [&](std::uint8_t at) { ++readers[at]; });
  }
  for (std::size_t i = 0; i < folded.nodes.size(); ++i) {
    const Node& node = folded.nodes[i];
    const int count = operands(node.op);
    if (count == 0) {
      arrays[i] = node.a;
      continue;
    }
    Step step;
    for_each_operand(node, [&](std::uint8_t at) {
      add_operand(step, folded.nodes[at], arrays[at], of_rows[at]);
    });
    step.operation.nodes.push_back({node.op, 0, static_cast<std::uint8_t>(count - 1)});
    step.operation.statements.push_back({"", static_cast<std::uint8_t>(count)});
    step.writes_rows = of_rows[i];
    const auto output = std::find(outputs.begin(), outputs.end(), i);
    if (output != outputs.end()) {
      step.writes = chain.inputs + static_cast<std::size_t>(output - outputs.begin());
    } else if (free.empty()) {
      step.writes = chain.first_scratch() + chain.scratch++;
    } else {
      step.writes = free.back();
      free.pop_back();
    }
    arrays[i] = step.writes;
    for_each_operand(node, [&](std::uint8_t at) {
      if (--readers[at] == 0 && arrays[at] >= chain.first_scratch()) free.push_back(arrays[at]);
    });
    chain.steps.push_back(std::move(step));
  }
  return chain;
}

}  // namespace roofcast::expression
