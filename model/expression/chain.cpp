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
  std::size_t first() const { return chain_.first_scratch(); }

  Chain& chain_;
  std::vector<std::size_t> free_;
};

void add_operand(Step& step, const Operand& operand, bool of_rows) {
  if (operand.number) {
    step.operation.nodes.push_back({Op::number, 0, 0, *operand.number});
    return;
  }
  const auto known = std::find(step.reads.begin(), step.reads.end(), operand.array);
  const auto position = static_cast<std::uint8_t>(known - step.reads.begin());
  if (known == step.reads.end()) {
    step.reads.push_back(operand.array);
    step.read_rows.push_back(of_rows);
    step.operation.inputs.emplace_back(position == 0 ? "a" : "b");
  }
  step.operation.nodes.push_back({Op::input, position});
}

// Readers of each node; an output has one that never comes.
std::vector<int> readers_of(const Expression& e) {
  std::vector<int> readers(e.nodes.size());
  for (const Node& node : e.nodes) {
    if (operands(node.op) > 0) ++readers[node.a];
    if (operands(node.op) > 1) ++readers[node.b];
  }
  for (const std::uint8_t output : e.outputs()) ++readers[output];
  return readers;
}

}  // namespace

void check_outputs(const Expression& folded) {
  const std::vector<std::uint8_t> outputs = folded.outputs();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (operands(folded.nodes[outputs[i]].op) == 0) {
      throw InputError(
          "the expression \"" + print(folded) +
          "\" computes nothing from an array: write an operation on a name, as in 2*x");
    }
    if (std::find(outputs.begin(), outputs.begin() + static_cast<std::ptrdiff_t>(i), outputs[i]) !=
        outputs.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw InputError("the expression \"" + print(folded) +
                       "\" has the same result under two names: leave one out");
    }
  }
}

bool Step::along_rows() const {
  if (is_reduction(operation.nodes.back().op)) return true;
  return !writes_rows && std::find(read_rows.begin(), read_rows.end(), true) != read_rows.end();
}

Chain eager(const Expression& expression) {
  const Expression folded = fold(expression);
  check_outputs(folded);
  const std::vector<std::uint8_t> outputs = folded.outputs();
  Chain chain;
  chain.inputs = folded.inputs.size();
  chain.outputs = outputs.size();
  Scratch scratch(chain);
  std::vector<Operand> values(folded.nodes.size());
  std::vector<int> readers = readers_of(folded);
  const std::vector<bool> of_rows = values_of_rows(folded);
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
    add_operand(step, values[node.a], of_rows[node.a]);
    if (count == 2) add_operand(step, values[node.b], of_rows[node.b]);
    step.operation.nodes.push_back({node.op, 0, static_cast<std::uint8_t>(count - 1)});
    step.operation.statements.push_back({"", static_cast<std::uint8_t>(count)});
    const auto output = std::find(outputs.begin(), outputs.end(), i);
    step.writes = output == outputs.end()
                      ? scratch.take()
                      : chain.inputs + static_cast<std::size_t>(output - outputs.begin());
    step.writes_rows = of_rows[i];
    const auto has_read = [&](std::uint8_t operand) {
      if (--readers[operand] > 0 || values[operand].number) return;
      scratch.give_back(values[operand].array);
    };
    has_read(node.a);
    if (count == 2) has_read(node.b);
    values[i].array = step.writes;
    chain.steps.push_back(std::move(step));
  }
  return chain;
}

}  // namespace roofcast::expression
