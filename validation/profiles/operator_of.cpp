#include "validation/profiles/operator_of.hpp"

#include <algorithm>
#include <string_view>

#include "validation/profiles/trace.hpp"

namespace roofcast::validation {
namespace {

// Line `number` of a text.
std::string_view line_of(std::string_view text, std::size_t number) {
  for (; number > 0; --number) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return text.substr(0, text.find('\n'));
}

// Whether an operator's tensors were recorded: as dimensions, [[8192, 768], []], or, without
// dimensions, as the type of a tensor, ["long int", "Scalar"].
bool holds_a_tensor(const std::string& inputs) {
  if (inputs.empty()) return false;
  constexpr std::size_t kDims = 0, kTypes = 2;  // positions in kInputMembers
  if (line_of(inputs, kDims).find_first_of("0123456789") != std::string_view::npos) return true;
  std::string_view types = line_of(inputs, kTypes);
  for (std::size_t open = types.find('"'); open != types.npos; open = types.find('"')) {
    types.remove_prefix(open + 1);
    const std::size_t end = std::min(types.find('"'), types.size());
    if (names_a_tensor(types.substr(0, end))) return true;
    types.remove_prefix(std::min(end + 1, types.size()));
  }
  return false;
}

// Events that enclose operators and whose inputs are not those of the operators.
bool holds_many(const std::string& name) {
  return name.find("Compiled") != name.npos || name.starts_with("##") ||
         name.starts_with("ProfilerStep") || name.starts_with("Optimizer.");
}

bool is_of_triton(const std::string& name) {
  return name.starts_with("triton_");
}

}  // namespace

OperatorFinder::OperatorFinder(const TraceEvents& events)
    : events_(events), shaped_(events.texts.size()), parents_(events.operators.size()) {
  const auto& operators = events.operators;
  by_begin_.resize(operators.size());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const OperatorEvent& op = operators[i];
    by_begin_[i] = i;
    shaped_[op.inputs] = shaped_[op.inputs] || holds_a_tensor(events.texts[op.inputs]);
    if (op.external_id != kNoId) by_id_[op.external_id] = i;
  }
  std::sort(by_begin_.begin(), by_begin_.end(), [&](std::size_t a, std::size_t b) {
    const OperatorEvent &x = operators[a], &y = operators[b];
    if (x.thread != y.thread) return x.thread < y.thread;
    if (x.begin_us != y.begin_us) return x.begin_us < y.begin_us;
    return x.end_us > y.end_us;
  });
  std::vector<std::size_t> around;
  for (const std::size_t i : by_begin_) {
    const OperatorEvent& op = operators[i];
    while (!around.empty() && (operators[around.back()].thread != op.thread ||
                               operators[around.back()].end_us <= op.begin_us)) {
      around.pop_back();
    }
    if (!around.empty()) parents_[i] = around.back();
    around.push_back(i);
    // The earliest operator with a sequence number is the forward one.
    if (op.sequence == kNoId || !has_shapes(i)) continue;
    const auto [known, is_new] = forward_.emplace(op.sequence, i);
    if (!is_new && operators[known->second].begin_us > op.begin_us) known->second = i;
  }
  for (std::size_t i = 0; i < events.launches.size(); ++i) {
    by_correlation_[events.launches[i].correlation] = i;
  }
}

std::optional<std::size_t> OperatorFinder::innermost(const LaunchEvent& launch) const {
  const auto& operators = events_.operators;
  auto after = std::upper_bound(by_begin_.begin(), by_begin_.end(), launch,
                                [&](const LaunchEvent& call, std::size_t op) {
                                  if (call.thread != operators[op].thread) {
                                    return call.thread < operators[op].thread;
                                  }
                                  return call.begin_us < operators[op].begin_us;
                                });
  if (after == by_begin_.begin()) return std::nullopt;
  std::optional<std::size_t> op = *--after;
  if (operators[*op].thread != launch.thread) return std::nullopt;
  while (op && operators[*op].end_us < launch.begin_us) op = parents_[*op];
  return op;
}

std::optional<std::size_t> OperatorFinder::launcher(const KernelEvent& kernel) const {
  const auto by_id = by_id_.find(kernel.external_id);
  if (by_id != by_id_.end()) return by_id->second;
  const auto call = by_correlation_.find(kernel.correlation);
  if (kernel.correlation == kNoId || call == by_correlation_.end()) return std::nullopt;
  const LaunchEvent& launch = events_.launches[call->second];
  const auto its = by_id_.find(launch.external_id);
  return its != by_id_.end() ? std::optional(its->second) : innermost(launch);
}

OperatorOf OperatorFinder::with_shapes(std::size_t op) const {
  const auto& operators = events_.operators;
  for (std::optional<std::size_t> at = op; at; at = parents_[*at]) {
    if (holds_many(events_.texts[operators[*at].name])) break;
    if (has_shapes(*at)) return {at, operators[*at].name, operators[*at].inputs};
    const auto forward = forward_.find(operators[*at].sequence);
    if (operators[*at].sequence != kNoId && forward != forward_.end()) {
      return {at, operators[*at].name, operators[forward->second].inputs};
    }
  }
  return {op, operators[op].name, operators[op].inputs};
}

OperatorOf OperatorFinder::find(const KernelEvent& kernel) const {
  const auto op = launcher(kernel);
  if (!op) return {};
  const OperatorOf found = with_shapes(*op);
  const std::string& name = events_.texts[*found.name];
  // A compiled graph launches many of Inductor's kernels: each is a call under its own name.
  const bool own = is_of_triton(events_.texts[kernel.name]) && !is_of_triton(name);
  return own || holds_many(name) ? OperatorOf{} : found;
}

}  // namespace roofcast::validation
