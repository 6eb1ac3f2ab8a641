#include "model/transformer/timeline.hpp"

#include "model/transformer/step_program.hpp"

namespace roofcast::transformer {

std::vector<TimelineEvent> timeline(const Step& step, const Architecture& model, const Task& task) {
  const Program program = step_program(step, model, task, Pass::last, true);
  const Schedule when = schedule(program);
  std::vector<TimelineEvent> events;
  const auto add = [&](const std::vector<Node>& nodes, const std::vector<Span>& spans) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const StepOperation& one = step.operations[nodes[i].operation];
      events.push_back({one.part, one.what, one.bound, one.section, one.direction, nodes[i].layer,
                        spans[i].start_s, spans[i].duration_s(), one.transfer.has_value(),
                        one.order != Order::in_turn});
    }
  };
  add(program.chain, when.chain);
  add(program.beside, when.beside);
  return events;
}

}  // namespace roofcast::transformer
