#pragma once
// Schedules launches and transfers on two streams, which share SMs, DRAM and link.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/transformer/collective.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::transformer {

/// Use of SMs, DRAM and link by a node; shares are 0 to 1.
struct Use {
  bool transfer = false;  ///< uses the link
  double on_sms = 0;      ///< share of its time that scales with its SMs
  double waves = 0;       ///< waves on the whole GPU
  double dram = 0;        ///< DRAM utilization
  double held_sms = 0;    ///< share of the SMs that a transfer's channels occupy

  bool on_gpu() const { return !transfer && on_sms + dram > 0; }
};

/// Use by a kernel with a forecast: `on_sms` from its waterfall, `dram` from its terms.
Use use_of(const Prediction& kernel);
/// Use by a transfer of `expected_s` seconds: DRAM moves dram_traffic(), each channel holds an SM.
Use use_of(const Transfer& transfer, double expected_s, const Gpu& gpu);

/// Rates of two concurrent nodes relative to each alone. A transfer runs at kTransferShare beside a
/// kernel, which needs more waves on the SMs that the transfer leaves. If their DRAM demand exceeds
/// the bandwidth, every SM gets an equal share, and a node gets what the other leaves. Two
/// transfers get half of the link each.
struct Rates {
  double first = 1, second = 1;
};
Rates rates(const Use& first, const Use& second);

/// A launch or a transfer of a program.
struct Node {
  double alone_s = 0;
  Use use{};
  std::size_t after = 0;      ///< nodes of the other stream that must have ended
  std::size_t operation = 0;  ///< index in Step::operations
  std::int64_t layer = 0;     ///< index from 0, in Section::layer
  double start_s = 0, end_s = 0;
  double duration_s() const { return end_s - start_s; }
};

/// Two streams, each in order. A transfer in `beside` starts only while no launch runs or when a
/// launch starts: blocks of a running kernel are scheduled before those of a later kernel.
struct Program {
  std::vector<Node> in_turn;  ///< launches, and transfers that the next launch waits for
  std::vector<Node> beside;   ///< transfers that overlap the launches
  double total_s = 0;
};

/// Fills in start and end of each node. Throws std::logic_error if nodes wait for each other.
Program schedule(Program program);

}  // namespace roofcast::transformer
