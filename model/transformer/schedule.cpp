#include "model/transformer/schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "model/constants/steps.hpp"
#include "model/laws/memory_cost.hpp"

namespace roofcast::transformer {
namespace {

constexpr std::array kOnSms = {
    Part::tensor, Part::vector, Part::special, Part::conversion,  Part::issue,
    Part::shared, Part::l1,     Part::latency, Part::block_start, Part::instruction_fetch,
    Part::tail};

// Relative rate of a node beside another. A kernel's waves grow from ⌈w⌉ to ⌈w ÷ (1 − h)⌉ on the
// SMs that a transfer leaves.
double rate_with(const Use& one, const Use& other) {
  if (one.transfer) return other.on_gpu() ? double{constants::kTransferShare} : 1;
  const double more = std::ceil(one.waves / (1 - other.held_sms)) / std::ceil(one.waves);
  return one.waves > 0 ? 1 / (1 + one.on_sms * (more - 1)) : 1;
}

/// A stream during the simulation; left_s: remaining time of its current node, if run alone.
struct Stream {
  explicit Stream(std::vector<Node>& of) : nodes(of) {
    if (!done()) left_s = now().alone_s;
  }

  bool done() const { return next == nodes.size(); }
  Node& now() const { return nodes[next]; }
  bool may_run(const Stream& other) const { return !done() && now().after <= other.next; }

  /// Runs the current node for `for_s` seconds at a relative `rate`; `ends`: completes it.
  void run(double from_s, double for_s, double rate, bool ends) {
    if (!begun) now().start_s = from_s;
    begun = !ends;
    left_s -= for_s * rate;
    if (!ends) return;
    nodes[next++].end_s = from_s + for_s;
    if (!done()) left_s = now().alone_s;
  }

  std::vector<Node>& nodes;
  std::size_t next = 0;
  double left_s = 0;
  bool begun = false;
};

}  // namespace

Use use_of(const Prediction& kernel) {
  Use use;
  const Forecast& time = *kernel.time;
  if (kernel.waves) use.waves = kernel.waves->count;
  double on_sms_s = 0;
  for (const Part part : kOnSms) on_sms_s += time.waterfall[part];
  use.on_sms = std::clamp(on_sms_s / time.expected_s, 0.0, 1.0);
  use.dram = std::clamp(time.terms[Resource::dram] / time.expected_s, 0.0, 1.0);
  return use;
}

Use use_of(const Transfer& transfer, double expected_s, const Gpu& gpu) {
  Use use;
  use.transfer = true;
  use.dram = std::min(1.0, dram_time(dram_traffic(transfer), {}, gpu).total_s() / expected_s);
  constexpr double kMost = 0.5;  // kernels get SMs in between, however many the channels
  use.held_sms = std::min(kMost, static_cast<double>(gpu.collective_channels.value_or(1)) /
                                     static_cast<double>(gpu.sm_count.value_or(1)));
  return use;
}

Rates rates(const Use& first, const Use& second) {
  if (first.transfer && second.transfer) return {0.5, 0.5};
  Rates both{rate_with(first, second), rate_with(second, first)};
  const double asked = both.first * first.dram, other = both.second * second.dram;
  if (asked + other <= 1) return both;
  // SM share of `first`: a transfer has its channels, a kernel the SMs that `second` leaves.
  const double share = first.transfer ? first.held_sms : 1 - second.held_sms;
  const double got = std::clamp(asked, 1 - std::max(other, 1 - share), std::max(share, 1 - other));
  return {both.first * std::min(1.0, got / asked), both.second * std::min(1.0, (1 - got) / other)};
}

Program schedule(Program program) {
  Stream in_turn(program.in_turn), beside(program.beside);
  double now_s = 0;
  while (!in_turn.done() || !beside.done()) {
    const bool first = in_turn.may_run(beside);
    const bool kept_out = !beside.begun && first && in_turn.begun && in_turn.now().use.on_gpu();
    const bool second = beside.may_run(in_turn) && !kept_out;
    if (!first && !second) throw std::logic_error("nodes of a program wait for each other");
    Rates share;
    if (first && second) share = rates(in_turn.now().use, beside.now().use);
    const double first_s = first ? in_turn.left_s / share.first : 0;
    const double second_s = second ? beside.left_s / share.second : 0;
    const bool first_ends = first && (!second || first_s <= second_s);
    const bool second_ends = second && (!first || second_s <= first_s);
    const double step_s = first_ends ? first_s : second_s;
    if (first) in_turn.run(now_s, step_s, share.first, first_ends);
    if (second) beside.run(now_s, step_s, share.second, second_ends);
    now_s += step_s;
  }
  program.total_s = now_s;
  return program;
}

}  // namespace roofcast::transformer
