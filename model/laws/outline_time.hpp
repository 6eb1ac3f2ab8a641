#pragma once
#include "model/laws/forecast.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast {

/// The time of candidates of one problem by their outlines, which is enough to drop most of them:
/// that of their tiles (tile_time.hpp) as the forecast has it, and an estimate of the launch that
/// adds their parts. Launch costs that all have are left out.
class OutlineTimer {
 public:
  /// `program` and `its_outline` are of any of the candidates: the bytes that all have in common
  /// are counted once, by its plan.
  OutlineTimer(const LaunchSequence& program, const Outline& its_outline, CacheState cache,
               const SmClock& clock, const Gpu& gpu);
  double operator()(const Outline& candidate) const;

 private:
  double reread(const Outline& candidate) const;

  const Gpu& gpu_;
  SmClock clock_;
  bool leaves_dirty_;
  Traffic common_;
  double next_launch_s_ = 0;
};

}  // namespace roofcast
