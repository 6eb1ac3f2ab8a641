#include "model/laws/tile_time.hpp"

#include <algorithm>
#include <cmath>

#include "model/laws/tile_rates.hpp"

namespace roofcast {
namespace {

// Overlap at p = 4 (overlap.hpp), by products and square roots: it runs for each of many candidates,
// and powers would take most of its time.
double norm(double a, double b, double c, double d) {
  const auto fourth = [](double x) { return x * x * x * x; };
  const double largest = std::max({a, b, c, d});
  if (largest <= 0) return 0;
  const double sum =
      fourth(a / largest) + fourth(b / largest) + fourth(c / largest) + fourth(d / largest);
  return largest * std::sqrt(std::sqrt(sum));
}

}  // namespace

double power_slowdown(double busy_share, double time_s, const Gpu& gpu) {
  const auto& free = gpu.sustained.power_free_share;
  const auto& slowdown = gpu.sustained.power_slowdown;
  if (!free || !slowdown || *free >= 1 || busy_share <= *free) return 0;
  constexpr double kNoLonger_s = 1e-6;
  const double decades = std::max(0.0, std::log10(time_s / kNoLonger_s));
  // Beyond that a kernel would end sooner if its tensor cores were less busy.
  const double most = (1 - *free) / *free;
  return std::min(*slowdown * decades, most) * std::min((busy_share - *free) / (1 - *free), 1.0);
}

TileTime tile_time(const TileLoop& loop, const Traffic& dram, double clock_hz, bool clock_given,
                   const Gpu& gpu) {
  const TileRates rates(loop.on_tensor_cores, clock_hz, gpu);
  const auto sms = static_cast<double>(gpu.sm_count.value_or(1));
  const std::int64_t slots = gpu.slots(loop.blocks_per_sm);
  const auto blocks = static_cast<double>(loop.blocks());
  const double math_s =
      std::max(loop.math_cycles / rates.math_efficiency, loop.copy_cycles) / clock_hz;
  const double read_bytes = dram.read_bytes / (blocks * loop.steps);
  const double write_s = over(dram.write_bytes, rates.dram) / blocks;
  const double epilogue_s = over(loop.outputs, rates.outputs_per_s);

  TileTime result;
  // `active` blocks that run at once, so many times.
  const auto add = [&](std::int64_t active, double times) {
    const auto some = static_cast<double>(active);
    const double sharing = std::ceil(some / sms);
    const double math = sharing * math_s;
    const double l2 = over(some * loop.l2_read_bytes, rates.l2);
    const double from_dram = over(some * read_bytes, rates.dram_of(std::min(some, sms)));
    const double loop_s = loop.steps * norm(math, l2, from_dram, rates.step_s);
    const double stores = sharing * epilogue_s;
    const double epilogue = loop.stores_meanwhile ? std::max(0.0, stores - loop_s) : stores;
    const double write = std::max(0.0, some * write_s - loop_s - epilogue);
    result.math_s += times * loop.steps * math;
    result.l2_s += times * loop.steps * l2;
    result.dram_s += times * (loop.steps * from_dram + some * write_s);
    result.step_s += times * loop.steps * rates.step_s;
    result.loop_s += times * loop_s;
    result.epilogue_s += times * epilogue;
    result.write_s += times * write;
    return loop_s + epilogue + write;
  };
  const std::int64_t full = loop.blocks() / slots;
  const std::int64_t rest = loop.blocks() % slots;
  if (full > 0) add(slots, static_cast<double>(full));
  const double last_s = rest > 0 ? add(rest, 1) : 0;
  if (full > 0 && rest > 0) {
    const double idle = last_s * (1 - static_cast<double>(rest) / static_cast<double>(slots));
    const double shown = 1 - idle / (result.loop_s + result.epilogue_s + result.write_s);
    for (double* part : {&result.loop_s, &result.epilogue_s, &result.write_s}) *part *= shown;
    result.tail_s = idle;
  }
  const double split_cycles = loop.splits > 1 ? gpu.sustained.tile_split_cycles.value_or(0) : 0;
  result.fill_s = (gpu.sustained.tile_fill_cycles.value_or(0) + split_cycles) / clock_hz;
  if (loop.stores_meanwhile) result.fill_s += epilogue_s;  // of the last tile
  result.time_s =
      result.loop_s + result.epilogue_s + result.write_s + result.tail_s + result.fill_s;
  if (!clock_given && loop.on_tensor_cores) {
    const double busy =
        loop.useful_cycles / (sms * clock_hz * result.time_s * rates.math_efficiency);
    result.slowdown_s = result.time_s * power_slowdown(busy, result.time_s, gpu);
    result.time_s += result.slowdown_s;
  }
  return result;
}

}  // namespace roofcast
