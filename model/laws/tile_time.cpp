#include "model/laws/tile_time.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "model/laws/clock.hpp"
#include "model/laws/tile_rates.hpp"

namespace roofcast {
namespace {

// For x from 1 to 4. The line that Newton's steps begin from is at most 5% off; four steps reach all digits.
double cube_root(double x) {
  double y = 0.8 + 0.2 * x;
  for (int i = 0; i < 4; ++i) y = (2 * y + x / (y * y)) / 3;
  return y;
}

// Overlap at p = 4, or 3 (overlap.hpp), by products and roots: it runs for each of many candidates,
// and powers would take most of its time.
double norm(bool less, double a, double b, double c, double d) {
  const double largest = std::max({a, b, c, d});
  if (largest <= 0) return 0;
  const auto cube = [largest](double x) { return x / largest * (x / largest) * (x / largest); };
  if (less) return largest * cube_root(cube(a) + cube(b) + cube(c) + cube(d));
  const auto fourth = [](double x) { return x * x * x * x; };
  const double sum =
      fourth(a / largest) + fourth(b / largest) + fourth(c / largest) + fourth(d / largest);
  return largest * std::sqrt(std::sqrt(sum));
}

// A store by elements of 2 bytes that lie apart passes L1 by sectors: by products of mma.sync with
// unaligned C and one block an SM, 1.5 and 1.6 (products2 of 2026-11-22: 11037x13508x987,
// 28213x24990x2060).
constexpr double kCyclesPerScatteredSector = 1.55;

// Blocks of the first round start together: all ask for their tiles at the same time, then all multiply.
// Later ones have drifted apart. Share of the first round's steps, by gemm.mma_sync in one round and in
// twenty and more (products2, products3 and tensor of 2026-11-22).
constexpr double kInStep = 0.07;

/// What the rounds that are full leave.
struct LastRound {
  LastRound(const TileLoop& loop, std::int64_t slots)
      : split(loop.rest_splits > 1 && loop.blocks() % slots > 0),
        blocks(loop.blocks() % slots * (split ? loop.rest_splits : 1)),
        steps(split ? std::ceil(loop.steps / static_cast<double>(loop.rest_splits)) : loop.steps) {}
  bool split;
  std::int64_t blocks;  ///< of parts, where tiles are split
  double steps;         ///< of each
};

/// How the parts of the tiles of the last round end. All end their loops at about the same time, and all but
/// the last leave their sums. The block of the last waits until these are left, written and seen, two trips,
/// then adds part after part and stores the tile. Threads move the sums.
struct PartEnds {
  PartEnds(const TileLoop& loop, const LastRound& last, double epilogue_s, const TileRates& rates,
           double sms) {
    const double tiles = static_cast<double>(last.blocks) / static_cast<double>(loop.rest_splits);
    const auto moved_s = [&](double blocks) {
      return std::max(over(std::min(blocks, sms) * loop.joined_bytes, rates.l2_of_threads),
                      over(loop.joined_bytes, rates.l2_of_sm));
    };
    const double joining_s = std::max(moved_s(tiles), loop.joined_trips * rates.l2_latency_s);
    leaving_s = std::max(over(loop.part_outputs, rates.outputs_per_s),
                         moved_s(static_cast<double>(last.blocks) - tiles));
    joined_s = leaving_s + 2 * rates.trip_s +
               static_cast<double>(loop.rest_splits - 1) * joining_s + epilogue_s;
  }
  double leaving_s, joined_s;
};

// Between rounds of blocks that have their SM alone and come and go: on the SIMT pipes the time to start
// a block and a trip for its first copies, on tensor cores a trip for these and one until the last stores
// are taken.
double refill_s(const TileLoop& loop, double rounds, const TileRates& rates, double clock_hz,
                const Gpu& gpu) {
  if (!loop.blocks_in_turn || loop.blocks_per_sm > 1 || rounds <= 1) return 0;
  const double start_s = gpu.sustained.block_launch_cycles.value_or(0) / clock_hz;
  return (rounds - 1) * (rates.trip_s + (loop.on_tensor_cores ? rates.trip_s : start_s));
}

/// What a launch's fill depends on, beside its tiles.
struct AllRounds {
  double count;
  double first_loop_s;
  double epilogue_s;
};

double fill_s(const TileLoop& loop, const AllRounds& rounds, const TileRates& rates,
              double clock_hz, const Gpu& gpu) {
  const bool splits = loop.splits > 1 && !loop.split_is_counted;
  const double split_cycles = splits ? gpu.sustained.tile_split_cycles.value_or(0) : 0;
  const double cycles =
      gpu.sustained.tile_fill_cycles.value_or(0) + loop.start_cycles + split_cycles;
  double fill = cycles / clock_hz + loop.end_trips * rates.trip_s +
                refill_s(loop, rounds.count, rates, clock_hz, gpu);
  if (loop.blocks_in_turn && loop.on_tensor_cores) fill += kInStep * rounds.first_loop_s;
  if (loop.sums_apart) fill += rounds.epilogue_s;
  return fill;
}

/// The end of a tile: its stores, and those of them that threads do sector by sector.
struct TileEnd {
  double epilogue_s, scattered_s;
};

// What a round shows of `store_s` behind its loop. Two groups of warps take turns: each multiplies a tile and
// stores it, at half the SM's rate, so a tile comes out every (loop + 2 store) / 2, or every loop if that is
// longer. Nothing hides the last tile's, which takes its own stores once more, nor scattered stores: the
// odd products of gemm.wgmma in such tiles took 7% longer than if the next tile hid them (products17 and 18
// of 2026-11-23).
double shown_s(const TileLoop& loop, const TileEnd& end, double store_s, double loop_s, bool last) {
  constexpr double kOfLoop = 0.5;
  if (!loop.stores_meanwhile) return std::max(0.0, store_s - (loop.sums_apart ? loop_s : 0));
  return last ? store_s + end.epilogue_s : std::max(end.scattered_s, store_s - kOfLoop * loop_s);
}

/// Rounds of so many blocks at once, of so many steps each.
struct Rounds {
  std::int64_t blocks;
  double steps, ending_s;
  std::int64_t times;
  bool last;  ///< nothing follows
};

// In order, those that there are none of among them.
std::array<Rounds, 5> rounds_of(const TileLoop& loop, const LastRound& last, const PartEnds& ends,
                                double epilogue_s, std::int64_t slots) {
  const std::int64_t full = loop.blocks() / slots;
  const std::int64_t parts = last.blocks / slots, rest = last.blocks % slots;
  const std::int64_t last_full = parts == 0 && rest == 0 ? 1 : 0;
  // Of rounds of parts the last has those that join the others.
  const std::int64_t joining = last.split && rest == 0 && parts > 0 ? 1 : 0;
  return {{{slots, loop.steps, epilogue_s, full - last_full, false},
           {slots, loop.steps, epilogue_s, last_full, true},
           {slots, last.steps, ends.leaving_s, parts - joining, false},
           {slots, last.steps, ends.joined_s, joining, true},
           {rest, last.steps, last.split ? ends.joined_s : epilogue_s, rest > 0 ? 1 : 0, true}}};
}

// What of a tile's epilogue does not show where the next tile takes `next_s` with it.
double hidden_s(double loop_s, double epilogue_s, double next_s) {
  return std::clamp(loop_s + epilogue_s - next_s, 0.0, epilogue_s);
}

}  // namespace

double power_slowdown(double busy_share, double time_s, const SmClock& clock, const Gpu& gpu) {
  const auto& free = gpu.sustained.power_free_share;
  const auto& slowdown = gpu.sustained.power_slowdown;
  if (!free || !slowdown || *free >= 1 || busy_share <= *free) return 0;
  constexpr double kNoLonger_s = 1e-6, kTrain = 40;
  const double heating_s = clock.back_to_back ? kTrain * time_s : time_s;
  const double decades = std::max(0.0, std::log10(heating_s / kNoLonger_s));
  // Beyond that a kernel would end sooner if its tensor cores were less busy.
  const double most = (1 - *free) / *free;
  return std::min(*slowdown * decades, most) * std::min((busy_share - *free) / (1 - *free), 1.0);
}

namespace {

// The clock that tensor cores leave where no other was given.
void slow_down(TileTime& result, const TileLoop& loop, const SmClock& clock, const Gpu& gpu) {
  if (clock.given || !loop.on_tensor_cores) return;
  const auto sms = static_cast<double>(gpu.sm_count.value_or(1));
  const double busy = loop.useful_cycles / (sms * clock.hz * result.time_s);
  result.slowdown_s = result.time_s * power_slowdown(busy, result.time_s, clock, gpu);
  result.time_s += result.slowdown_s;
}

}  // namespace

TileTime tile_time(const TileLoop& loop, const Traffic& dram, const SmClock& clock,
                   const Gpu& gpu) {
  const double clock_hz = clock.hz;
  const TileRates rates(loop.on_tensor_cores, clock_hz, gpu, loop.streams);
  const auto sms = static_cast<double>(gpu.sm_count.value_or(1));
  const std::int64_t slots = gpu.slots(loop.blocks_per_sm);
  const auto blocks = static_cast<double>(loop.blocks());
  const auto math_s = [&](double sharing) {
    return std::max(sharing * loop.math_cycles, loop.alone_cycles) / rates.math_efficiency /
           clock_hz;
  };
  const std::int64_t full = loop.blocks() / slots;
  const LastRound last(loop, slots);
  const double all_steps = last.split ? static_cast<double>(full * slots) * loop.steps +
                                            static_cast<double>(last.blocks) * last.steps
                                      : blocks * loop.steps;
  const double stores = last.split ? static_cast<double>(full * slots + last.blocks) : blocks;
  const double read_bytes = dram.read_bytes / all_steps;
  const double write_s = over(dram.write_bytes, rates.dram) / stores;
  const double scattered_s = loop.scattered_sectors * kCyclesPerScatteredSector / clock_hz;
  const double epilogue_s = over(loop.outputs, rates.outputs_per_s) + scattered_s;

  TileTime result;
  double first_loop_s = 0;
  bool first = true;  // nothing was stored before the first tiles
  const auto add = [&](const Rounds& round) {
    const auto some = static_cast<double>(round.blocks), times = static_cast<double>(round.times);
    const double steps = round.steps;
    const double sharing = std::ceil(some / sms);
    const double copies = sharing * loop.copy_cycles / clock_hz;
    const double multiplying = math_s(sharing), math = std::max(multiplying, copies);
    const double l2 = over(some * loop.l2_read_bytes, rates.l2) +
                      over(some * loop.merged_writes / steps, rates.merged_per_s);
    const double from_dram =
        over(some * read_bytes, rates.dram_of(std::min(some, sms), sharing * loop.in_flight_bytes,
                                              sharing * loop.in_flight_cycles / clock_hz));
    const double loop_s = steps * norm(loop.overlaps_less, math, l2, from_dram, rates.step_s);
    // The SIMT pipes work long enough to hide what other blocks of the SM store; tensor cores do not.
    const bool hides_others = loop.blocks_in_turn && !loop.on_tensor_cores;
    const bool alone = hides_others && loop.blocks_per_sm == 1;
    const double own_s = hides_others ? round.ending_s : sharing * round.ending_s;
    // Blocks that multiply nothing meanwhile store all at once.
    const double store_s = alone ? std::max(own_s, some * write_s) : own_s;
    const double epilogue = shown_s(loop, {epilogue_s, scattered_s}, store_s, loop_s, round.last);
    // DRAM moves the results besides what it moves for the loop.
    const double moved = std::min(loop_s, steps * from_dram) + some * write_s;
    const double write = std::max(0.0, moved - loop_s - epilogue);
    // The first copies of the next tile are on their way while one is stored.
    const double memory_s = norm(loop.overlaps_less, copies, l2, from_dram, 0);
    const double ahead_s = std::min(steps, loop.steps_ahead) * memory_s;
    const double next_s =
        norm(loop.overlaps_less, steps * multiplying + epilogue,
             steps * memory_s + std::max(0.0, epilogue - ahead_s), steps * rates.step_s, 0);
    const double hidden = ahead_s > 0 ? hidden_s(loop_s, epilogue, std::max(next_s, moved)) : 0;
    const double after_others = first ? times - 1 : times;
    first_loop_s = first ? loop_s : first_loop_s;
    first = false;
    result.math_s += times * steps * math;
    result.l2_s += times * steps * l2;
    result.dram_s += times * (steps * from_dram + some * write_s);
    result.step_s += times * steps * rates.step_s;
    result.loop_s += times * loop_s;
    result.epilogue_s += times * epilogue - after_others * hidden;
    result.write_s += times * write;
    return loop_s + epilogue + write - hidden;
  };
  const PartEnds ends(loop, last, epilogue_s, rates, sms);
  std::int64_t rounds = 0;
  double last_s = 0;
  for (const Rounds& round : rounds_of(loop, last, ends, epilogue_s, slots)) {
    rounds += round.times;
    if (round.times > 0) last_s = add(round);
  }
  const std::int64_t rest = last.blocks % slots;
  if (rounds > 1 && rest > 0) {
    const double idle = last_s * (1 - static_cast<double>(rest) / static_cast<double>(slots));
    const double shown = 1 - idle / (result.loop_s + result.epilogue_s + result.write_s);
    for (double* part : {&result.loop_s, &result.epilogue_s, &result.write_s}) *part *= shown;
    result.tail_s = idle;
  }
  result.fill_s =
      fill_s(loop, {static_cast<double>(rounds), first_loop_s, epilogue_s}, rates, clock_hz, gpu);
  result.time_s =
      result.loop_s + result.epilogue_s + result.write_s + result.tail_s + result.fill_s;
  slow_down(result, loop, clock, gpu);
  return result;
}

}  // namespace roofcast
