#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "model/types/plan.hpp"

namespace roofcast {

/// Equal jobs in a row.
struct Jobs {
  std::int64_t count = 0;
  double duration = 0;
};

/// When the last job ends, in the durations' unit, with the jobs begun in order in `slots` places.
/// Hardware and queue: a job begins as soon as a place is free (list scheduling; Graham 1969).
/// Persistent: place i takes jobs i, i + slots, i + 2·slots …
double makespan(std::span<const Jobs> jobs, std::int64_t slots, TileScheduler scheduler);

/// When the last job ends, where processor j has the jobs j, j + processors, … at once and each
/// runs the slower the more run beside it: lives[class][n] is the duration of a job of the class
/// beside n others. counts: the jobs of each class, in order.
double shared_makespan(std::span<const std::int64_t> counts,
                       std::span<const std::vector<double>> lives, std::int64_t processors);

}  // namespace roofcast
