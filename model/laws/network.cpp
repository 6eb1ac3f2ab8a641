#include "model/laws/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "model/constants/laws.hpp"

namespace roofcast {
namespace {

// Servers of the station: a part of one warp uses one sub-partition of the SM, one of four or more
// warps all of them.
double servers(const PhaseDemand& phase, std::size_t station) {
  if (!is_partitioned(station)) return 1;
  return std::max(1.0, kSubPartitions * phase.parts / phase.warps);
}

bool is_hidden(const PhaseDemand& phase, std::size_t station) {
  return phase.ahead > 0 && is_load(station);
}

/// Cycles at the pipes of an SM: the fullest pipe's, and the sum.
struct Pipes {
  double fullest = 0, sum = 0;

  void add(double cycles) {
    sum += cycles;
    fullest = std::max(fullest, cycles);
  }
  // The fullest pipe is exposed whole, the others by the share min(1, law::kOverlappingWarps ÷
  // warps).
  double overlapped(double warps) const {
    const double exposed = std::min(1.0, law::kOverlappingWarps / warps);
    return fullest + (sum - fullest) * exposed;
  }
};

Pipes pipes_of(const PhaseDemand& phase) {
  Pipes pipes;
  for (std::size_t s = 0; s < kPipes; ++s) {
    if (!is_hidden(phase, s)) pipes.add(phase.demand.at(s));
  }
  return pipes;
}

/// A time at throughput X, and its derivative with respect to X.
struct Cycles {
  double cycles = 0, slope = 0;

  friend Cycles operator+(const Cycles& a, const Cycles& b) {
    return {a.cycles + b.cycles, a.slope + b.slope};
  }
  friend Cycles operator*(double n, const Cycles& a) { return {n * a.cycles, n * a.slope}; }
};

/// The wait of a step at a station at throughput X: slope · X ÷ (1 − limit · X).
struct Wait {
  double slope, limit;

  Cycles at(double x) const {
    const double idle = 1 / (1 - limit * x);
    return {slope * x * idle, slope * idle * idle};
  }
};

/// Waits of a step at several stations.
class StationWaits {
 public:
  void add(const Wait& wait) {
    if (wait.slope > 0) waits_[count_++] = wait;  // else there is no wait
  }
  Cycles total(double x) const {
    Cycles sum;
    for (std::size_t i = 0; i < count_; ++i) sum = sum + waits_[i].at(x);
    return sum;
  }
  Cycles longest(double x) const {
    Cycles most;
    for (std::size_t i = 0; i < count_; ++i) {
      const Cycles one = waits_[i].at(x);
      if (one.cycles > most.cycles) most = one;
    }
    return most;
  }

 private:
  std::array<Wait, kPipes + 1> waits_;
  std::size_t count_ = 0;
};

/// Quantities of a phase that are independent of the throughput.
struct Prepared {
  double shared = 0;           ///< cycles at the pipes of an SM as one station; 0 if grouped
  double loads = 0, rest = 0;  ///< cycles of a step without waiting
  double repeats = 1, ahead = 0;
  double drain = 0;    ///< cycles of products in flight after the last step, once per loop
  double last = 0;     ///< share of a step's waits at the pipes that the drain adds
  bool fills = false;  ///< nothing hides the loads of the first step
  StationWaits pipes, memory;

  // A step takes load + rest; with loads ahead max(rest, min(load + rest, load ÷ ahead)), since a
  // load has `ahead` steps to arrive. The requests of a step wait at all levels of memory
  // concurrently: the longest wait counts.
  Cycles at(double x) const {
    const Cycles other = pipes.total(x);
    const Cycles alone = Cycles{rest} + other;
    const Cycles load = Cycles{loads} + memory.longest(x);
    Cycles step = load + alone;
    if (load.cycles < step.cycles * ahead) step = {load.cycles / ahead, load.slope / ahead};
    if (ahead > 0 && step.cycles < alone.cycles) step = alone;
    const Cycles first = fills ? load + alone : step;
    return first + (repeats - 1) * step + Cycles{drain} + last * other;
  }
};

/// Cycles of one block at each station; the last entry is the pipes of an SM as one station.
using AllStations = std::array<double, kStations + 1>;

class Network {
 public:
  Network(std::span<const PhaseDemand> phases, double resident, Ends ends)
      : resident_(resident), prepared_(phases.size()) {
    AllStations all{};
    double code = 0;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      const PhaseDemand& phase = phases[i];
      double& shared = prepared_[i].shared;
      if (!phase.grouped) shared = pipes_of(phase).overlapped(phase.warps * resident);
      for (std::size_t s = 0; s < kStations; ++s) all[s] += phase.repeats * phase.demand.at(s);
      all[kStations] += phase.repeats * shared;
      code += phase.repeats * phase.code;
    }
    // Instructions come ahead of their use: blocks wait for code only where its caches are full.
    fullest_ = std::max(code, *std::max_element(all.begin(), all.end()));
    for (std::size_t i = 0; i < phases.size(); ++i) {
      prepare(phases[i], all, prepared_[i]);
      // Consecutive pipelined loops fill and drain once.
      const bool begins = i == 0 || phases[i - 1].ahead <= 0;
      if (begins && ends != Ends::none) add_ends(phases[i], ends == Ends::both, prepared_[i]);
    }
  }

  double fullest() const { return fullest_; }
  Cycles life(double x) const {
    Cycles sum;
    for (const Prepared& phase : prepared_) sum = sum + phase.at(x);
    return sum;
  }

 private:
  // ν·d·f·u ÷ (1 − f·u) at a station of demand d and utilization u = X·all. f = others ÷ (others +
  // ν), where `others` counts the customers that may be ahead.
  static Wait wait_at(double demand, double all, double others, double variability) {
    const double f = others > 0 ? others / (others + variability) : 0;
    return {variability * demand * f * all, f * all};
  }

  // Fill and drain of a loop: the first loads, and products in flight after the last step.
  static void add_ends(const PhaseDemand& phase, bool loads, Prepared& result) {
    result.last = 1 - phase.waited_products;
    result.drain = result.last * phase.demand[Station::tensor] / phase.parts;
    result.fills = loads && phase.ahead > 0;
  }

  void prepare(const PhaseDemand& phase, const AllStations& all, Prepared& result) const {
    const double pipes = result.shared;
    result.loads = phase.load_latency + (phase.ahead > 0 ? phase.demand[Station::port] : 0);
    result.rest = phase.latency + own_pipes(phase);
    result.repeats = phase.repeats + phase.ramp_steps;
    result.ahead = phase.ahead;
    for (std::size_t s = 0; s < kStations; ++s) {
      const bool hidden = is_hidden(phase, s);
      if (phase.demand.at(s) <= 0 || (pipes > 0 && s < kPipes && !hidden)) continue;
      if (is_memory(s) || hidden) {
        // The customers are bytes in flight.
        const double parts = hidden ? 1 : phase.parts;
        const double bytes = std::max(1.0, phase.bytes / parts);
        result.memory.add(wait_at(phase.demand.at(s) / parts, all[s],
                                  resident_ * parts * (hidden ? phase.ahead + 1 : 1),
                                  law::kMemoryQueueBytes / bytes));
        continue;
      }
      const double spread = s == kPipes ? 1 : phase.parts / servers(phase, s);
      result.pipes.add(wait_at(phase.demand.at(s) / spread, all[s], resident_ * spread - 1,
                               law::kSmVariability));
    }
    if (pipes > 0) {
      const double spread = phase.parts / std::min(kSubPartitions, phase.parts);
      result.pipes.add(
          wait_at(pipes / spread, all[kStations], resident_ * spread - 1, law::kSmVariability));
    }
  }

  double resident_;
  double fullest_ = 0;
  std::vector<Prepared> prepared_;
};

// One part passes the pipes alone; the others follow at the pace of the fullest station.
double flow_cycles(PhaseDemand phase, double resident) {
  phase.ahead = 0;  // blocks start together: no load is hidden
  const double own = own_pipes(phase);
  double others = resident * pipes_of(phase).overlapped(phase.warps * resident) - own;
  for (std::size_t s = 0; s <= kPipes; ++s) {
    const double parts = s < kPipes ? phase.parts / servers(phase, s) : 1;
    const double customers = std::max(1.0, resident * parts);
    others = std::max(others, resident * phase.demand.at(s) * (1 - 1 / customers));
  }
  double cycles = own + others;
  for (std::size_t s = kPipes + 1; s < kStations; ++s) {
    cycles = std::max(cycles, resident * phase.demand.at(s));
  }
  return cycles;
}

}  // namespace

double own_pipes(const PhaseDemand& phase) {
  Pipes pipes;
  for (std::size_t s = 0; s < kPipes; ++s) {
    if (is_hidden(phase, s)) continue;
    double cycles = phase.demand.at(s) * (servers(phase, s) / phase.parts);
    if (s == static_cast<std::size_t>(Station::tensor)) cycles *= phase.waited_products;
    pipes.add(cycles);
  }
  // A part of a block uses one pipe at a time; warps that meet at a barrier overlap the pipes.
  return phase.demand[Station::block_start] +
         (phase.parts > 1 ? pipes.sum : pipes.overlapped(phase.warps));
}

// Newton's method for X − n ÷ T(X) = 0. The left side grows with X and is nearly linear: T is flat
// where stations are idle, and 1 ÷ T is linear where one is full. Bisection replaces a step that
// leaves the bracket.
double steady_cycle(std::span<const PhaseDemand> phases, double resident, Ends ends,
                    double at_least) {
  constexpr double kClose = 1e-6;  // relative step; the error is about its square
  constexpr int kMost = 60;
  const Network network(phases, resident, ends);
  const double idle = network.life(0).cycles;
  if (network.fullest() <= 0) return std::max(idle, at_least);
  // Upper bound of the throughput: the fullest station never idles, or no block waits.
  double low = 0, high = std::min(1 / network.fullest(), resident / std::max(idle, at_least));
  double x = high;
  for (int i = 0; i < kMost; ++i) {
    const Cycles life = network.life(x);
    const double excess = x - resident / life.cycles;
    if (excess <= 0 && i == 0) return resident / x;
    (excess > 0 ? high : low) = x;
    const double step = excess / (1 + resident * life.slope / (life.cycles * life.cycles));
    if (std::abs(step) <= kClose * x) return resident / (x - step);
    x -= step;
    if (x <= low || x >= high) x = (low + high) / 2;
  }
  return resident / x;
}

double lockstep_cycles(const PhaseDemand& phase, double resident) {
  PhaseDemand step = phase;
  step.repeats = 1;
  step.ramp_steps = 0;
  const double later = phase.repeats > 1 ? steady_cycle({&step, 1}, resident, Ends::none) : 0;
  if (phase.repeats > 1 && phase.ahead > 0) {
    return (phase.repeats + phase.ramp_steps) * later + phase.load_latency;
  }
  return (phase.repeats - 1) * later + phase.load_latency + phase.latency +
         flow_cycles(phase, resident);
}

}  // namespace roofcast
