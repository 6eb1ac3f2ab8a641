#pragma once
// The stations of the queueing network, and what a block's step asks of each.
#include <cstddef>
#include <optional>

#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// The measured rate where there is one, else the datasheet's.
inline const std::optional<double>& rate(const std::optional<double>& sustained,
                                         const std::optional<double>& datasheet) {
  return sustained ? sustained : datasheet;
}

/// Share of the tensor cores' rate that the plan's matrix instruction reaches.
double tensor_share(const Plan& plan, const Gpu& gpu);

/// Cycles each pipe of an SM is busy with one block's step. Issue: if no slot stayed empty.
ByResource pipe_cycles(const Step& step, const Plan& plan, const Gpu& gpu);

/// The servers of an SM's blocks: its pipes, its launch unit, and its share of L2 and DRAM.
enum class Station : unsigned char {
  arithmetic,  ///< vector pipe or instruction issue, whichever is fuller
  tensor,
  special,
  conversion,
  data,  ///< shared memory and L1, one pipe
  port,  ///< from L2 to the SM, or its copy engine
  block_start,
  l2,
  dram
};
inline constexpr std::size_t kStations = 9;
/// The pipes come first, then the launch unit, then memory that all SMs share.
inline constexpr std::size_t kPipes = static_cast<std::size_t>(Station::block_start);

inline constexpr double kSubPartitions = 4;  ///< of an SM

/// SM cycles.
using Demand = ByKey<Station, double, kStations>;

constexpr bool is_memory(std::size_t station) {
  return station > kPipes;
}
/// Whether a step's loads wait there, so that loads ahead hide it.
constexpr bool is_load(std::size_t station) {
  return is_memory(station) || station == static_cast<std::size_t>(Station::port);
}
/// Whether each sub-partition of an SM has a part of it.
constexpr bool is_partitioned(std::size_t station) {
  return station <= static_cast<std::size_t>(Station::conversion);
}

/// A phase as the network sees it.
struct Visit {
  ByResource pipes{};  ///< of the SM, each alone
  Demand demand;       ///< of one block's step
  /// Cycles of its stores at the port, where no other SM stores, and of all of L2.
  double stores = 0, l2_stores = 0;
  double bytes = 0;         ///< below L1, of one block's step
  double load_latency = 0;  ///< cycles, that loads ahead hide
  double latency = 0;       ///< the rest
  double repeats = 1;
  double ahead = 0;
  double parts = 1;      ///< customers that a block is: it as one, its warps, or groups of warps
  bool grouped = false;  ///< these are groups of warps, each of which fills a pipe
  double waited_products = 1;  ///< share of the tensor cores' time that a group waits for
  double warps = 1;            ///< instruction streams of a block, by which its own pipes overlap
  double ramp_steps =
      0;  ///< steps at a block's begin and end in which not all chains are under way
};

/// Share of loads that L1 and DRAM answer; L2 the rest.
struct WaitShares {
  double l1 = 0;
  double dram = 0;
};

/// What the memory of the whole device takes for a byte that the launch's blocks move below L1, SM
/// cycles.
struct MemoryCost {
  WaitShares shares;
  double l2_read = 0, l2_write = 0, dram_read = 0, dram_write = 0;
};

/// Latency of a step, cycles: that of loads, and the rest.
struct StepLatency {
  double loads, rest;
};
StepLatency latency_of(const Waits& waits, const WaitShares& shares, const Gpu& gpu);

Visit visit_of(const Phase& phase, const Plan& plan, const MemoryCost& memory, const Gpu& gpu);

}  // namespace roofcast
