#include "model/laws/outline_time.hpp"

#include <algorithm>

#include "model/laws/feasibility.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/laws/launching.hpp"
#include "model/laws/tile_time.hpp"

namespace roofcast {

OutlineTimer::OutlineTimer(const LaunchSequence& program, const Outline& its_outline,
                           CacheState cache, const SmClock& clock, const Gpu& gpu)
    : gpu_(gpu), clock_(clock), leaves_dirty_(cache != CacheState::steady) {
  const auto tiles = std::find_if(program.begin(), program.end(), [](const Launched& node) {
    return node.plan.tile_loop.has_value();
  });
  if (tiles == program.end()) return;
  const Occupancy fit = checked_occupancy(tiles->plan, gpu);
  common_ =
      launch_memory(program, static_cast<std::size_t>(tiles - program.begin()), fit, cache, gpu)
          .dram;
  common_.read_bytes -= reread(its_outline);
  if (its_outline.partial_bytes > 0) common_.write_bytes = its_outline.result_bytes;
  // The launch that adds parts: its gap, a round trip to its data and one until its results show.
  const double trip_s =
      gpu.sustained.dram_latency_cycles.value_or(gpu.latency.dram_cycles.value_or(0)) / clock.hz;
  next_launch_s_ = launch_costs(gpu, cache).next_s + trip_s +
                   gpu.sustained.completion_latency_s.value_or(trip_s);
}

double OutlineTimer::reread(const Outline& candidate) const {
  if (!candidate.raster) return 0;
  const std::int64_t slots = gpu_.slots(candidate.loop.blocks_per_sm);
  return reread_bytes(*candidate.raster, std::min(candidate.loop.blocks(), slots),
                      Lockstep::in_step, gpu_);
}

double OutlineTimer::operator()(const Outline& candidate) const {
  Traffic dram = common_;
  dram.read_bytes += reread(candidate);
  if (candidate.partial_bytes > 0) dram.write_bytes = candidate.partial_bytes;
  // As in a forecast, a single launch need not wait for what stays dirty in L2.
  if (leaves_dirty_ && candidate.partial_bytes <= 0) {
    dram.write_bytes -= left_dirty_bytes(dram, gpu_);
  }
  const double tiles_s = tile_time(candidate.loop, dram, clock_, gpu_).time_s;
  if (candidate.partial_bytes <= 0) return tiles_s;
  const double l2 = gpu_.sustained.l2_bandwidth_bytes_per_s.value_or(0);
  return tiles_s + next_launch_s_ + (l2 > 0 ? candidate.partial_bytes / l2 : 0);
}

}  // namespace roofcast
