#pragma once
// The stations of the queueing network, and the demand of a block's step at each.
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

/// Cycles of `work` at a rate per cycle; 0 where the rate is unknown.
inline double per_clk(double work, const std::optional<double>& rate) {
  return rate && *rate > 0 ? work / *rate : 0;
}

/// Whether tiles are loaded ahead of their use.
inline bool is_pipelined(const Phase& phase) {
  return phase.ahead > 0 && phase.step.waits.tile_loads > 0;
}

/// Share of the tensor cores' rate that the plan's matrix instruction reaches.
double tensor_share(const Plan& plan, const Gpu& gpu);

/// Cycles of an SM's tensor cores for these FLOPs.
double tensor_cycles(const FlopsByType& flops, const Gpu& gpu);

/// Cycles of an SM's launch unit for the start of a block of `warps`.
double block_start_cycles(double warps, const Gpu& gpu);

/// Cycles that each pipe of an SM is busy with one block's step. Issue: instructions ÷ issue rate.
ByResource pipe_cycles(const Step& step, const Plan& plan, const Gpu& gpu);

/// The servers that an SM's blocks queue at: its pipes, its launch unit, its share of L2 and DRAM.
enum class Station : unsigned char {
  arithmetic,  ///< vector pipe or instruction issue, whichever is fuller
  tensor,
  special,
  conversion,
  data,  ///< shared memory and L1, one pipe
  port,  ///< from L2 to the SM, or its copy engine (TMA), whichever is fuller
  block_start,
  l2,
  dram
};
inline constexpr std::size_t kStations = 9;
/// The pipes come first, then the launch unit, then memory that all SMs share.
inline constexpr std::size_t kPipes = static_cast<std::size_t>(Station::block_start);

inline constexpr double kSubPartitions = 4;  ///< of an SM

/// SM cycles by station.
using Demand = ByKey<Station, double, kStations>;

constexpr bool is_memory(std::size_t station) {
  return station > kPipes;
}
/// Whether loads wait at the station: loads ahead hide its cycles.
constexpr bool is_load(std::size_t station) {
  return is_memory(station) || station == static_cast<std::size_t>(Station::port);
}
/// Whether each sub-partition of an SM has its own share of the station.
constexpr bool is_partitioned(std::size_t station) {
  return station <= static_cast<std::size_t>(Station::conversion);
}

/// A phase in the terms of the queueing network.
struct PhaseDemand {
  ByResource pipes{};  ///< cycles of one block's step at each pipe of the SM
  Demand demand;       ///< cycles of one block's step at each station, with memory unshared
  /// Cycles of the step's stores: at the port if no other SM stores, and at the whole L2.
  double stores = 0, l2_stores = 0;
  double bytes = 0;         ///< of one block's step below L1
  double code = 0;          ///< cycles of the step's code at the instruction caches, unshared
  double load_latency = 0;  ///< cycles of loads, hidden by loads ahead
  double latency = 0;       ///< cycles of all other latency
  double repeats = 1;
  double ahead = 0;
  double parts = 1;            ///< customers of a block: 1, its warps, or groups · chains
  bool grouped = false;        ///< the parts are groups, each with warps on all sub-partitions
  double waited_products = 1;  ///< share of the tensor cores' time that a group waits for
  double warps = 1;            ///< instruction streams of a block: more overlap pipes better
  double ramp_steps = 0;       ///< further steps: chains start and end a step apart
};

/// Shares of loads that L1 and DRAM serve; L2 serves the rest.
struct WaitShares {
  double l1 = 0;
  double dram = 0;
};

/// Cycles of the whole device's memory per byte that the blocks move below L1, and load shares.
struct MemoryCost {
  WaitShares shares;
  double l2_read = 0, l2_write = 0, dram_read = 0, dram_write = 0;
};

/// Latency of a step, cycles: loads, and all other.
struct StepLatency {
  double loads, rest;
};
StepLatency latency_of(const Waits& waits, const WaitShares& shares, const Gpu& gpu);

PhaseDemand demand_of(const Phase& phase, const Plan& plan, const MemoryCost& memory,
                      const Gpu& gpu);

}  // namespace roofcast
