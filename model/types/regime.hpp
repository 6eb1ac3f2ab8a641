#pragma once
// What decides the time of a kernel: errors are reported and interval widths fitted per regime.
#include <algorithm>
#include <string_view>

#include "model/types/prediction.hpp"

namespace roofcast {

enum class Regime : unsigned char { launch_bound, memory, compute };

constexpr std::string_view name(Regime regime) {
  return word_of(regime, {"launch-bound", "memory", "compute"});
}

/// A shorter kernel is bound by its launch, whatever its terms say.
inline constexpr double kLaunchBoundBelow_s = 20e-6;

/// The regime of a kernel that takes `time_s`, measured or expected, with the terms of its
/// forecast. Latency is waiting for memory or compute: a kernel bound by it has the larger's.
inline Regime regime_of(double time_s, const ByResource& terms) {
  const double starts_s = terms[Resource::launch] + terms[Resource::block_start];
  const double memory_s = std::max(terms[Resource::dram], terms[Resource::l2]);
  const double compute_s =
      std::max({terms[Resource::tensor], terms[Resource::vector], terms[Resource::special],
                terms[Resource::conversion], terms[Resource::issue], terms[Resource::shared],
                terms[Resource::l1]});
  const bool starts_bind = starts_s > std::max({terms[Resource::latency], memory_s, compute_s});
  if (time_s < kLaunchBoundBelow_s || starts_bind) return Regime::launch_bound;
  return memory_s > compute_s ? Regime::memory : Regime::compute;
}

}  // namespace roofcast
