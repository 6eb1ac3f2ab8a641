#pragma once
// Launches and transfers on two streams, and what both share while they run at once.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/transformer/collective.hpp"
#include "model/types/prediction.hpp"

namespace roofcast::transformer {

/// Shares, between 0 and 1, that a node takes of SMs, DRAM and link.
struct Use {
  bool transfer = false;  ///< two transfers share a link
  double on_sms = 0;      ///< of its time: what grows as SMs become fewer
  double waves = 0;       ///< of its blocks over all SMs
  double dram = 0;        ///< of its time: DRAM is busy
  double held_sms = 0;    ///< of the GPU's SMs: a transfer's channels, which nothing else gets

  bool on_gpu() const { return !transfer && on_sms + dram > 0; }
};

/// A kernel's shares by its forecast: the SMs' from its waterfall, DRAM's from its terms.
Use use_of(const Prediction& kernel);
/// The shares of a transfer of `expected_s`: DRAM moves dram_traffic; each channel holds an SM.
Use use_of(const Transfer& transfer, double expected_s, const Gpu& gpu);

/// Rates of two nodes while both run, as shares of those alone. On the SMs left a kernel's blocks
/// need more waves. Where both ask for more of DRAM than there is, each SM gets the same of it, and
/// what one node leaves goes to the other. Two transfers have half of the link each.
struct Rates {
  double first = 1, second = 1;
};
Rates rates(const Use& first, const Use& second);

inline constexpr std::size_t kNothing = static_cast<std::size_t>(-1);

/// A launch or a transfer of a program.
struct Node {
  double alone_s = 0;
  Use use{};
  std::size_t after = kNothing;  ///< a node of the other stream that has to end first
  std::size_t operation = 0;     ///< of a step: its position there
  std::int64_t layer = 0;        ///< of Section::layer, from 0
  double start_s = 0, end_s = 0;
  double duration_s() const { return end_s - start_s; }
};

/// Nodes of a stream follow each other. A transfer beside begins when no launch runs or one begins:
/// blocks of a running kernel take the SMs before those of a later one.
struct Program {
  std::vector<Node> chain;   ///< launches, and transfers that the next launch waits for
  std::vector<Node> beside;  ///< transfers that run beside
  double total_s = 0;
};

/// The program with the times at which nodes start and end. Throws std::logic_error where nodes
/// wait for each other.
Program schedule(Program program);

}  // namespace roofcast::transformer
