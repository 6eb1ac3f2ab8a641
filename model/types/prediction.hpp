#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/types/by_key.hpp"
#include "model/types/launch.hpp"
#include "model/types/problem.hpp"
#include "model/types/work.hpp"

namespace roofcast {

/// What can bound a kernel. The name is the one in JSON and tables.
enum class Resource : unsigned char {
  tensor,             ///< tensor-core arithmetic
  vector,             ///< SIMT arithmetic
  special,            ///< special-function unit
  conversion,         ///< conversion between number formats
  issue,              ///< instruction issue
  shared,             ///< shared-memory bandwidth
  l1,                 ///< L1 lookups and bandwidth
  l2,                 ///< L2 bandwidth
  dram,               ///< DRAM bandwidth
  latency,            ///< dependent accesses with too little in flight
  block_start,        ///< the launch units of the SMs, which start block after block
  instruction_fetch,  ///< the instruction caches that SMs share
  launch              ///< the cost of starting a kernel
};
inline constexpr std::size_t kResources = 13;

constexpr std::string_view name(Resource resource) {
  return word_of(resource, {"tensor", "vector", "special", "conversion", "issue", "shared", "l1",
                            "l2", "dram", "latency", "block_start", "instruction_fetch", "launch"});
}

/// Cycles or seconds that each resource takes by itself.
using ByResource = ByKey<Resource, double, kResources>;

/// The resource that takes the longest; the launch if none takes any time.
constexpr Resource binding(const ByResource& times) {
  const auto* const longest = std::max_element(times.begin(), times.end());
  return *longest > 0 ? static_cast<Resource>(longest - times.begin()) : Resource::launch;
}

/// What decides the time of a kernel: errors are reported and interval widths fitted per regime.
enum class Regime : unsigned char { launch_bound, memory, compute };

constexpr std::string_view name(Regime regime) {
  return word_of(regime, {"launch-bound", "memory", "compute"});
}

/// Kernels below this time (s) are launch-bound, whatever their terms.
inline constexpr double kLaunchBoundBelow_s = 20e-6;

/// The regime of a kernel of measured or expected time `time_s`, by the terms of its forecast. A
/// latency-bound kernel takes the regime of the larger of its memory and compute terms.
inline Regime regime_of(double time_s, const ByResource& terms) {
  const double starts_s = terms[Resource::launch] + terms[Resource::block_start];
  const double memory_s = std::max(terms[Resource::dram], terms[Resource::l2]);
  const double compute_s =
      std::max({terms[Resource::tensor], terms[Resource::vector], terms[Resource::special],
                terms[Resource::conversion], terms[Resource::issue], terms[Resource::shared],
                terms[Resource::l1], terms[Resource::instruction_fetch]});
  const bool starts_bind = starts_s > std::max({terms[Resource::latency], memory_s, compute_s});
  if (time_s < kLaunchBoundBelow_s || starts_bind) return Regime::launch_bound;
  return memory_s > compute_s ? Regime::memory : Regime::compute;
}

/// Where the expected time goes, part by part.
enum class Part : unsigned char {
  launch,        ///< until the first instruction, and between launches
  host,          ///< the device waits for the host to submit the next launch
  first_access,  ///< until first data and code arrive: cold address translations
  tensor,        ///< from here to dram: busy time of each launch's fullest resource
  vector,
  special,
  conversion,
  issue,
  shared,
  l1,
  l2,
  dram,
  latency,      ///< exposed latency and queueing
  block_start,  ///< the SM's launch unit
  instruction_fetch,
  tail,  ///< empty slots while the last blocks run
  limit  ///< rest up to the limit, if the other parts add up to less
};
inline constexpr std::size_t kParts = 17;

constexpr std::string_view name(Part part) {
  return word_of(part, {"launch", "host", "first_access", "tensor", "vector", "special",
                        "conversion", "issue", "shared", "l1", "l2", "dram", "latency",
                        "block_start", "instruction_fetch", "tail", "limit"});
}

/// Seconds by part; they add up to the time.
using Waterfall = ByKey<Part, double, kParts>;

/// What L2 holds when the kernel starts, and whether write-back of its dirty lines is timed.
enum class CacheState : unsigned char {
  cold,      ///< one launch timed alone: L2 is full of other, clean data; dirty lines may stay
  warm,      ///< as cold, but L2 holds as much of the activations (ArrayUse::activation) as fits;
             ///< the earlier kernel bears their write-back
  steady,    ///< launches back to back on different data: write-back counts
  repeated,  ///< launches back to back on the same data: L2 keeps what fits
};

inline constexpr std::array kCacheStates = {CacheState::cold, CacheState::warm, CacheState::steady,
                                            CacheState::repeated};
constexpr std::string_view name(CacheState cache) {
  return word_of(cache, {"cold", "warm", "steady", "repeated"});
}

/// Whether launches follow each other without a pause.
constexpr bool back_to_back(CacheState cache) {
  return cache == CacheState::steady || cache == CacheState::repeated;
}

/// How kernels are launched.
enum class LaunchMode : unsigned char {
  stream,  ///< each submitted by the host
  graph,   ///< as nodes of a replayed CUDA graph
  pdl      ///< programmatic dependent launch in a graph: blocks start while the one before drains
};

inline constexpr std::array kLaunchModes = {LaunchMode::stream, LaunchMode::graph, LaunchMode::pdl};
constexpr std::string_view name(LaunchMode mode) {
  return word_of(mode, {"stream", "graph", "pdl"});
}

/// Assumptions::queued_s of a device that never waits for the host, as in the harness, which fills
/// L2 with other data right before the launches.
inline constexpr double kQueueNeverEmpty = std::numeric_limits<double>::infinity();

/// The state of caches, clock and stream that a forecast assumes.
struct Assumptions {
  CacheState cache = CacheState::cold;
  std::optional<double> sm_clock_hz{};  ///< a measured clock instead of the expected one
  /// Time for which earlier work occupies the stream when the first kernel is submitted (s): the
  /// host's head start on the further launches (laws/launching.hpp).
  double queued_s = 0;
  std::optional<LaunchMode> launch{};  ///< absent: graph if back to back, else stream
  /// Time of continuous work before the launches (s): the power limit lowers the clock in long runs
  /// (laws/clock.hpp).
  double worked_s = 0;
  /// Slowdown s of the SM clock by the mean power of a long run of many kernels: clock ÷ (1 + s).
  double clock_slowdown = 0;
};

enum class OccupancyLimiter : unsigned char { warps, blocks, registers, shared_memory, clusters };
constexpr std::string_view name(OccupancyLimiter limiter) {
  return word_of(limiter, {"warps", "blocks", "registers", "shared_memory", "clusters"});
}

struct Occupancy {
  std::int64_t blocks_per_sm = 0;
  std::int64_t warps_per_sm = 0;
  OccupancyLimiter limited_by = OccupancyLimiter::warps;
};

struct Waves {
  double count = 0;             ///< blocks ÷ slots, fractional
  std::int64_t full = 0;        ///< waves that fill the device
  double tail_utilization = 0;  ///< share of the slots that a partial last wave fills, else 1
  double efficiency = 0;        ///< count ÷ ⌈count⌉
  std::int64_t active_sms = 0;  ///< SMs that have a block
};

/// Where bytes are counted, from the threads to DRAM.
enum class Level : unsigned char {
  requested,  ///< bytes requested by the threads
  l1,         ///< whole sectors, between the threads and L1
  l2,         ///< between L1 and L2
  dram        ///< between L2 and DRAM
};

constexpr std::string_view name(Level level) {
  return word_of(level, {"requested", "l1", "l2", "dram"});
}

/// Why more or fewer bytes cross at a level than at the one before it.
struct TrafficReason {
  Level level;
  std::string text;  ///< "stride 16: 64 B moved for 4 B used"
};

/// Lower bound on the time: no measurement may be shorter.
struct Limit {
  double time_s = 0;
  ByResource terms;  ///< s
};

struct Forecast {
  double expected_s = 0;
  double low_s = 0;
  double high_s = 0;
  double sm_cycles = 0;
  double sm_clock_hz = 0;
  double energy_j = 0;  ///< of the board for the work, beyond idle
  ByResource terms;     ///< time of each resource alone (s); these overlap
  Waterfall waterfall;  ///< its parts add up to expected_s
};

struct IoComplexity {
  std::string_view formula;  ///< "Θ(MNK/√S)"
  double lower_bound_bytes = 0;
  double on_chip_bytes = 0;  ///< the S of the formula
};

/// The answer for one kernel, problem and device. A family alone has work, io and limit only.
struct Prediction {
  Problem problem;  ///< the question, with open settings chosen
  Work work;
  /// FLOPs of the result, the same for all variants: FLOP/s count these.
  double useful_flops = 0;
  IoComplexity io;
  Limit limit;
  std::optional<Launch> launch;  ///< of a sequence: the longest launch
  std::size_t shown_launch = 0;  ///< its position in the sequence
  std::optional<Occupancy> occupancy;
  std::optional<Waves> waves;
  std::optional<Forecast> time;
  std::int64_t launches = 0;
  /// Size of all arrays together; absent unless KernelFamily::compares_footprint.
  std::optional<double> footprint_bytes;
  std::vector<TrafficReason> traffic_reasons;
  std::vector<std::string> notes;
};

}  // namespace roofcast
