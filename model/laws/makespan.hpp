#pragma once
#include <cstdint>
#include <span>

namespace roofcast {

/// Equal jobs in a row.
struct Jobs {
  std::int64_t count = 0;
  double duration = 0;
};

/// When the last job ends, in the durations' unit, with the jobs begun in order in `slots` places, each
/// as soon as one is free (list scheduling; Graham 1969). Blocks that stay take jobs so too.
double makespan(std::span<const Jobs> jobs, std::int64_t slots);

}  // namespace roofcast
