#include "model/laws/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/counting/dram_access.hpp"
#include "model/laws/chain_reuse.hpp"
#include "model/laws/dram_time.hpp"
#include "model/laws/feasibility.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/launching.hpp"
#include "model/laws/loaded_latency.hpp"
#include "model/laws/overlap.hpp"
#include "model/laws/sm_time.hpp"
#include "model/laws/tile_classes.hpp"
#include "model/laws/tile_time.hpp"

namespace roofcast {
namespace {

constexpr std::size_t index(Resource resource) {
  return static_cast<std::size_t>(resource);
}

// L2 moves every sector, and merges what is written in part, a line's sectors at a time. A sector
// driven out early is merged with what DRAM holds as with another part.
double l2_time_s(const Plan& plan, const LaunchMemory& memory, const Gpu& gpu) {
  const auto bandwidth = gpu.sustained.l2_bandwidth_bytes_per_s;
  if (!bandwidth) return 0;
  double merged = memory.early_bytes / static_cast<double>(kSectorBytes);
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    const ArrayUse& use = plan.arrays[i];
    merged += use.pattern.partial_writes;
    if (!use.split) continue;
    const double lines = use.split->sectors / (static_cast<double>(kLineBytes) / kSectorBytes);
    merged += lines * use.split->parts * memory.misses.arrays[i].parts_apart;
  }
  const double merged_per_s = gpu.sustained.l2_partial_writes_per_s.value_or(
      *bandwidth / static_cast<double>(kSectorBytes));
  return memory.l2.total_bytes() / *bandwidth + merged / merged_per_s;
}

// What of the launch's accesses is spread thin over DRAM, whole rows left out. A sector driven out
// early is an access to read and one to write. Runs that are written one by one begin with an access
// of their own; those of blocks that run together join.
std::vector<SparseAccesses> sparse_accesses(const Plan& plan, const Occupancy& occupancy,
                                            const LaunchMemory& memory, const Gpu& gpu) {
  const auto access = static_cast<double>(dram_access_bytes(gpu));
  std::vector<SparseAccesses> sparse;
  double written = memory.early_bytes;
  for (const ArrayUse& use : plan.arrays) written += use.footprint.write_bytes;
  // A single launch leaves some of its writes in L2.
  const double arrive = written > 0 ? std::min(1.0, memory.dram.write_bytes / written) : 0;
  if (memory.early_bytes > 0) {
    const double padding = memory.early_bytes * (access / static_cast<double>(kSectorBytes) - 1);
    sparse.push_back({memory.early_bytes, 0, false, padding});
    sparse.push_back({memory.early_bytes * arrive, 0, true, padding});
  }
  const auto resident = static_cast<double>(gpu.slots(occupancy.blocks_per_sm));
  double in_order = 0;
  for (const ArrayUse& use : plan.arrays) {
    in_order += use.footprint.read_bytes;
    if (use.pattern.read_density < 1) {
      sparse.push_back({use.footprint.read_bytes, use.pattern.read_density, false, 0});
    }
    if (use.pattern.write_run_bytes > 0) {
      const double joined = std::max(1.0, resident / use.pattern.blocks_to_next_run);
      const double run = std::max(access, use.pattern.write_run_bytes * joined);
      const double shared_ends = use.pattern.shared_run_ends / joined;
      const double starts = std::max(0.0, use.footprint.write_bytes / run - shared_ends / 2);
      sparse.push_back({starts * arrive * access, 0, true, shared_ends * arrive * access});
    }
  }
  const bool random = std::any_of(plan.arrays.begin(), plan.arrays.end(),
                                  [](const ArrayUse& use) { return use.random.has_value(); });
  if (random) sparse.push_back({std::max(0.0, memory.dram.read_bytes - in_order), 0, false, 0});
  return sparse;
}

// Waiting for L1 misses together keeps blocks in step unless it is a small part of their time:
// between 5% and 30% by the naive and the coalesced gemm of the run of 2026-11-21.
constexpr double kTooLittleWaiting = 0.1;
// Waiting for whole tiles keeps blocks in step if it is most of it: coarsened_1d, not tiled.
constexpr double kMostlyWaiting = 0.5;

// The data pipe of an SM serves the oldest block first, the schedulers serve all in turn.
Lockstep march_of(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu) {
  // Copies ahead wait for memory.
  if (!plan.raster || plan.tile_loop || plan.pipelined) return Lockstep::in_step;
  const SmTime sm = sm_time(plan, occupancy, {}, gpu);
  const bool apart = (sm.fullest == Resource::shared && sm.waiting_share < kMostlyWaiting) ||
                     (sm.fullest == Resource::l1 && sm.waiting_share < kTooLittleWaiting);
  return apart ? Lockstep::apart : Lockstep::in_step;
}

// A block waits for random reads unless L1 has those of all lanes of a warp; nothing is there when
// the first wave starts.
double random_waits(const Plan& plan, const L1Misses& misses, double first_wave) {
  double waits = 0;
  const double warps =
      static_cast<double>(plan.launch.blocks() * ((plan.launch.threads() + 31) / 32));
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    const ArrayUse& use = plan.arrays[i];
    if (!use.random) continue;
    const double missed = misses.arrays[i].random_sectors / use.random->sectors;
    waits += 1 - (1 - first_wave) * std::pow(1 - missed, use.random->sectors / warps);
  }
  return waits;
}

// Blocks of the first wave that share data wait for the same miss; later ones find the data in a
// cache. Repeats of a block's own are waits of their own, wherever the data are.
WaitShares wait_shares(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       const Gpu& gpu) {
  const std::int64_t slots = gpu.slots(occupancy.blocks_per_sm);
  const double first_wave =
      1 / std::ceil(static_cast<double>(plan.launch.blocks()) / static_cast<double>(slots));
  double waited_for = memory.l2.read_bytes;
  double from_dram = memory.small_share * memory.dram.read_bytes;
  double in_l1 = 0;
  for (std::size_t i = 0; i < plan.reuse.size(); ++i) {
    const Reuse& reuse = plan.reuse[i];
    const double hits = reuse.bytes - memory.misses.reuse_bytes[i];
    waited_for += hits;
    if (reuse.scope == Scope::block) {
      in_l1 += hits;
    } else {
      in_l1 += hits * (1 - first_wave);
      from_dram += std::max(0.0, reuse.bytes * first_wave - reuse.distinct_bytes);
    }
  }
  double in_order = 0, first_bytes = 0;
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    in_order += plan.arrays[i].footprint.read_bytes;
    first_bytes +=
        first_wave * memory.misses.arrays[i].random_sectors * static_cast<double>(kSectorBytes);
  }
  if (first_bytes > 0) {
    from_dram = std::max(from_dram, memory.lost_share * (first_bytes + in_order));
  }
  if (plan.raster) waited_for = std::min(waited_for, distinct_wave_bytes(*plan.raster, slots));
  if (waited_for <= 0) return {};
  const double l1_share = in_l1 / waited_for;
  return {l1_share, std::min(1 - l1_share, from_dram / waited_for),
          random_waits(plan, memory.misses, first_wave)};
}

// The part of an SM's time that a pipe takes.
constexpr Part part_of(Resource resource) {
  constexpr std::array<Part, kResources> parts = {
      Part::tensor, Part::vector, Part::special, Part::conversion, Part::issue,      Part::shared,
      Part::l1,     Part::l2,     Part::dram,    Part::latency,    Part::block_start};
  return parts[index(resource)];
}

Waterfall parts_of(const SmTime& sm, double sm_s, double l2_s, double dram_s, double fill_s,
                   double together_s) {
  Waterfall parts;
  const double memory_s = std::max(l2_s, dram_s);
  const double largest = std::max(sm_s, memory_s > 0 ? fill_s + memory_s : 0);
  if (largest > sm_s) {
    parts[dram_s >= l2_s ? Part::dram : Part::l2] = memory_s;
    parts[Part::latency] = fill_s;
  } else {
    const double seconds_per_cycle = sm_s / sm.cycles;
    for (std::size_t i = 0; i < kResources; ++i) {
      parts[part_of(static_cast<Resource>(i))] += sm.spent_cycles[i] * seconds_per_cycle;
    }
    parts[Part::tail] = sm.idle_cycles * seconds_per_cycle;
  }
  parts[Part::overlap] = together_s - largest;
  return parts;
}

// Parts of an SM's work that do not wait for one another: blocks, each with as many steps as it has
// buffers for, or where nothing makes the warps of a block wait for each other warps. Warps in a
// loop drift apart by up to its length. A part waits for its own data: with one of them nothing is
// done meanwhile.
double units_of_sm(const Plan& plan, const Occupancy& occupancy) {
  const auto resident = static_cast<double>(occupancy.blocks_per_sm);
  const double warps = static_cast<double>((plan.launch.threads() + 31) / 32);
  bool together = false;
  double most_bytes = 0, steps = 1, stages = 1;
  for (const BlockClass& some : plan.blocks) {
    for (const Phase& phase : some.phases) {
      const Waits& waits = phase.step.waits;
      together |= waits.barriers + waits.cluster_exchanges > 0;
      const double bytes = phase.repeats * phase.step.issued.l2.read_bytes;
      if (bytes <= most_bytes) continue;
      most_bytes = bytes;
      stages = phase.stages;
      steps = phase.repeats;
    }
  }
  return resident * stages * (together ? std::clamp(steps, 1.0, warps) : warps);
}

// What blocks do before and after the loop that moves their data, while their SM moves nothing: of one
// round, as further blocks on the SM hide what the next ones do, or of all where there are none.
double cycles_of_ends(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu) {
  Plan ends;
  ends.launch = plan.launch;
  ends.compute = plan.compute;
  ends.arrays = plan.arrays;
  std::int64_t places = occupancy.blocks_per_sm > 1 ? gpu.slots(occupancy.blocks_per_sm)
                                                    : std::numeric_limits<std::int64_t>::max();
  for (const BlockClass& each : plan.blocks) {
    BlockClass some = each;
    some.count = std::min(places, each.count);
    places -= some.count;
    std::erase_if(some.phases, [](const Phase& phase) { return phase.stages > 1; });
    if (some.count > 0) ends.blocks.push_back(std::move(some));
  }
  return sm_time(ends, occupancy, {}, gpu).cycles;
}

// With one part what memory takes is added whole. Of n parts a share of 1/n is, where their turns are
// random, and none, where they are regular. Between the two by the kernels over rows of two blocks
// an SM in the runs random1 of 2026-11-22 and default of 2026-11-21 (132 SMs, 3.35 and 4.8 TB/s).
constexpr double kTurnsOverlap = 1.25;

// The most that an access takes where loads queue, in SM clocks: the 104 of l2_queue_cycles, fitted to
// the runs calibration of 2026-11-21 and random1 of 2026-11-22 (132 SMs, 4.8 TB/s), where few loads
// wait for others, and a quarter more for the clocks of other devices.
constexpr double kServiceCycles = 130;

// The time of at least `least_s` where loads queue. A longer l2_queue_cycles is of a device that was
// only seen busy, and stands for that much of the queue. Blocks that share panels ask for the same
// lines at the same time, and are answered at once.
double loaded_s(const Plan& plan, const Occupancy& occupancy, const WaitShares& shares,
                double dram_s, double l2_s, double least_s, double clock_hz, const Gpu& gpu) {
  const double below_l1 = 1 - shares.l1;
  const double known_cycles = gpu.sustained.l2_queue_cycles.value_or(0);
  if (known_cycles <= 0 || below_l1 <= 0 || plan.raster) return least_s;
  const double service_cycles = std::min(known_cycles, kServiceCycles);
  const auto sms_s = [&](double waits) {
    WaitShares loaded = shares;
    loaded.queue_cycles = std::max(0.0, (1 + waits) * service_cycles - known_cycles);
    return sm_time(plan, occupancy, loaded, gpu).cycles / clock_hz;
  };
  return loaded_time_s(
      sms_s, std::array{LoadedLevel{dram_s, shares.dram / below_l1}, LoadedLevel{l2_s, 1}},
      least_s);
}

// Products by registers go through many rows of their operand side by side, as tiles do: DRAM keeps up no
// more for them.
double dram_of_rows_s(const Plan& plan, const LaunchMemory& memory, const Gpu& gpu) {
  const auto& rate = gpu.sustained.tile_dram_bytes_per_s;
  return rate && plan.useful.tensor_flops[plan.compute] > 0 ? memory.dram.total_bytes() / *rate : 0;
}

LaunchTime time_of_blocks(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                          double clock_hz, const Gpu& gpu) {
  const WaitShares shares = wait_shares(plan, occupancy, memory, gpu);
  const SmTime sm = sm_time(plan, occupancy, shares, gpu);
  LaunchTime result;
  for (std::size_t i = 0; i < kResources; ++i) result.terms_s[i] = sm.busy_cycles[i] / clock_hz;

  const double dram_s =
      std::max(dram_time_s(memory.dram, sparse_accesses(plan, occupancy, memory, gpu), gpu),
               dram_of_rows_s(plan, memory, gpu));
  const double l2_s = l2_time_s(plan, memory, gpu);
  const double sm_s = sm.cycles / clock_hz;
  result.terms_s[index(Resource::dram)] = dram_s;
  result.terms_s[index(Resource::l2)] = std::max(result.terms_s[index(Resource::l2)], l2_s);
  // Memory has nothing to do before the first loads are under way, and an SM nothing before they are
  // back.
  const double fill_s = sm.fill_cycles / clock_hz;
  const auto filled = [fill_s](double time_s) { return time_s > 0 ? fill_s + time_s : 0; };
  const double ends_s =
      plan.ends_apart ? std::min(sm_s, cycles_of_ends(plan, occupancy, gpu) / clock_hz) : 0;
  const double together_s = ends_s + Overlap(gpu.sustained.memory_overlap_exponent)(
                                         std::array{sm_s - ends_s, filled(dram_s), filled(l2_s)});
  // A part of the SM's work moves its data and then works on them.
  const double in_turn_s =
      sm_s + std::max(dram_s, l2_s) / std::pow(units_of_sm(plan, occupancy), kTurnsOverlap);
  result.time_s = loaded_s(plan, occupancy, shares, dram_s, l2_s, std::max(together_s, in_turn_s),
                           clock_hz, gpu);
  result.parts = parts_of(sm, sm_s, l2_s, dram_s, fill_s, result.time_s);
  return result;
}

// `pipes_s`: what each pipe alone would take; `math` is the fullest.
LaunchTime time_of_tiles(const TileTime& tiles, std::array<double, kResources> pipes_s,
                         Resource math) {
  LaunchTime result;
  result.time_s = tiles.time_s;
  result.slower_s = tiles.slowdown_s;
  result.terms_s = pipes_s;
  result.terms_s[index(math)] += tiles.slowdown_s;
  result.terms_s[index(Resource::l2)] = tiles.l2_s;
  result.terms_s[index(Resource::dram)] = tiles.dram_s;
  result.terms_s[index(Resource::latency)] = tiles.step_s + tiles.fill_s + tiles.epilogue_s;
  // The loop is waited for by its fullest resource; what the others add is overlap that fails.
  const std::array<std::pair<Part, double>, 4> of_loop = {{{part_of(math), tiles.math_s},
                                                           {Part::l2, tiles.l2_s},
                                                           {Part::dram, tiles.dram_s},
                                                           {Part::latency, tiles.step_s}}};
  const auto [part, full_s] =
      *std::max_element(of_loop.begin(), of_loop.end(),
                        [](const auto& a, const auto& b) { return a.second < b.second; });
  const double waited_s = std::min(full_s, tiles.loop_s);
  result.parts[part] += waited_s;
  result.parts[Part::overlap] += tiles.loop_s - waited_s;
  result.parts[Part::latency] += tiles.fill_s + tiles.epilogue_s;
  result.parts[Part::dram] += tiles.write_s;
  result.parts[Part::tail] += tiles.tail_s;
  result.parts[part_of(math)] += tiles.slowdown_s;
  return result;
}

LaunchTime time_of_equal_tiles(const Plan& plan, const LaunchMemory& memory, const SmClock& clock,
                               const Gpu& gpu) {
  const TileTime tiles = tile_time(*plan.tile_loop, memory.dram, clock, gpu);
  const Resource math = plan.tile_loop->on_tensor_cores ? Resource::tensor : Resource::vector;
  std::array<double, kResources> pipes_s{};
  pipes_s[index(math)] = tiles.math_s;
  return time_of_tiles(tiles, pipes_s, math);
}

LaunchTime time_of_classes(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                           const SmClock& clock, const Gpu& gpu) {
  const auto [tiles, pipes_s] = tile_classes_time(plan, occupancy, memory.dram, clock, gpu);
  const auto fullest = std::max_element(pipes_s.begin(), pipes_s.end()) - pipes_s.begin();
  return time_of_tiles(tiles, pipes_s, static_cast<Resource>(fullest));
}

// Without a calibration an expected time is no better than this.
constexpr double kUncalibratedSpread = 0.5;

}  // namespace

LaunchMemory launch_memory(const LaunchSequence& program, std::size_t position,
                           const Occupancy& occupancy, CacheState cache, const Gpu& gpu) {
  const Plan& plan = program[position].plan;
  const std::vector<ChainReuse> chain = chain_reuse(program, position, cache);
  const bool reads_new_data =
      std::any_of(plan.arrays.begin(), plan.arrays.end(), [&](const ArrayUse& use) {
        return use.compulsory.read_bytes > 0 && !used_before(program, position, use.array);
      });
  double warm_bytes = 0;
  for (const ChainReuse& reuse : chain) {
    if (!reuse.from_before) continue;
    warm_bytes +=
        reuse.bytes.read_bytes * (1 - returning_miss_share(plan, reuse.distance_bytes, gpu));
  }
  LaunchMemory memory;
  if (cache == CacheState::steady) memory.small_share = lost_of_small(memory_bytes(program), gpu);
  memory.new_share = reads_new_data ? memory.small_share : 0;
  memory.back_to_back = cache == CacheState::steady;
  memory.warm_bytes = warm_bytes;
  memory.early_bytes = written_back_early_bytes(plan, occupancy, gpu);
  memory.misses = l1_misses(plan, occupancy, gpu);
  memory.l2 = l2_traffic(plan, memory.misses);
  memory.dram = dram_traffic({plan, occupancy, chain, memory.misses, memory.early_bytes},
                             march_of(plan, occupancy, gpu), gpu);
  if (cache == CacheState::steady && memory.dram.read_bytes > 0) {
    double compulsory = 0;
    for (const ArrayUse& use : plan.arrays) compulsory += use.compulsory.read_bytes;
    const double all = memory.dram.read_bytes;
    memory.dram.read_bytes =
        std::min(all, std::max(compulsory, lost_between_rounds(plan, memory.dram, gpu) * all));
    memory.lost_share = memory.dram.read_bytes / all;
  }
  return memory;
}

LaunchTime launch_time(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       const SmClock& clock, const Gpu& gpu) {
  LaunchTime result = plan.tile_loop   ? time_of_equal_tiles(plan, memory, clock, gpu)
                      : plan.pipelined ? time_of_classes(plan, occupancy, memory, clock, gpu)
                                       : time_of_blocks(plan, occupancy, memory, clock.hz, gpu);
  const bool writes = std::any_of(plan.arrays.begin(), plan.arrays.end(), [](const ArrayUse& use) {
    return use.compulsory.write_bytes > 0;
  });
  if (writes) result.parts[Part::completion] = gpu.sustained.completion_latency_s.value_or(0);
  const double new_data_s = memory.new_share * gpu.sustained.first_access_s.value_or(0);
  const double first_s =
      std::max(new_data_s, code_fetch_s(plan.fetches_code, memory.back_to_back, clock.hz, gpu));
  if (first_s > 0) result.parts[Part::first_access] = first_s;
  result.time_s += result.parts[Part::completion] + result.parts[Part::first_access];
  return result;
}
double relative_spread(double expected_s, const Terms& terms, const Gpu& gpu) {
  const Sustained& known = gpu.sustained;
  const std::array by_regime = {known.spread_launch_bound, known.spread_memory,
                                known.spread_compute};
  return by_regime[static_cast<std::size_t>(regime_of(expected_s, terms))].value_or(
      kUncalibratedSpread);
}

}  // namespace roofcast
