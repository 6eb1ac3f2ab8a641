#include "model/expression/chain.hpp"

#include <algorithm>
#include <optional>

#include "model/types/problem.hpp"

namespace roofcast::expression {
namespace {

// What a node of the expression has become: a number in the kernels that use it, or an array.
struct Operand {
  std::optional<double> number;
  std::size_t array = 0;
};

// Scratch arrays of the chain: the one freed last is handed out first.
class Scratch {
 public:
  explicit Scratch(Chain& chain) : chain_(chain) {}

  std::size_t take() {
    if (free_.empty()) return first() + chain_.scratch++;
    const std::size_t array = free_.back();
    free_.pop_back();
    return array;
  }
  void give_back(std::size_t array) {
    if (array >= first()) free_.push_back(array);
  }

 private:
  std::size_t first() const { return chain_.inputs + 1; }

  Chain& chain_;
  std::vector<std::size_t> free_;
};

void add_operand(Step& step, const Operand& operand) {
  if (operand.number) {
    step.operation.nodes.push_back({Op::number, 0, 0, *operand.number});
    return;
  }
  const auto known = std::find(step.reads.begin(), step.reads.end(), operand.array);
  const auto position = static_cast<std::uint8_t>(known - step.reads.begin());
  if (known == step.reads.end()) {
    step.reads.push_back(operand.array);
    step.operation.inputs.emplace_back(position == 0 ? "a" : "b");
  }
  step.operation.nodes.push_back({Op::input, position});
}

}  // namespace

Chain eager(const Expression& expression) {
  const Expression folded = fold(expression);
  if (operands(folded.nodes.back().op) == 0) {
    throw InputError("the expression \"" + print(expression) +
                     "\" computes nothing from an array: write an operation on a name, as in 2*x");
  }
  Chain chain;
  chain.inputs = folded.inputs.size();
  Scratch scratch(chain);
  std::vector<Operand> values(folded.nodes.size());
  for (std::size_t i = 0; i < folded.nodes.size(); ++i) {
    const Node& node = folded.nodes[i];
    const int count = operands(node.op);
    if (count == 0) {
      if (node.op == Op::number)
        values[i].number = node.value;
      else
        values[i].array = node.a;
      continue;
    }
    Step step;
    add_operand(step, values[node.a]);
    if (count == 2) add_operand(step, values[node.b]);
    step.operation.nodes.push_back({node.op, 0, static_cast<std::uint8_t>(count - 1)});
    step.writes = i + 1 == folded.nodes.size() ? chain.output() : scratch.take();
    for (const std::size_t array : step.reads) scratch.give_back(array);
    values[i].array = step.writes;
    chain.steps.push_back(std::move(step));
  }
  return chain;
}

}  // namespace roofcast::expression
