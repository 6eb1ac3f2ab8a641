#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace roofcast {

/// Equal jobs in a row.
struct Jobs {
  std::int64_t count = 0;
  double duration = 0;
};

/// When the last job ends, in the durations' unit. Jobs begin in order in `slots` places, each as
/// soon as one is free (list scheduling; Graham 1969). Blocks that stay take jobs so too.
double makespan(std::span<const Jobs> jobs, std::int64_t slots);

/// When the last job ends, where processor j has the jobs j, j + processors, … at once and each
/// runs the slower the more run beside it: lives[class][n] is the duration of a job of the class
/// beside n others. counts: the jobs of each class, in order.
double shared_makespan(std::span<const std::int64_t> counts,
                       std::span<const std::vector<double>> lives, std::int64_t processors);

}  // namespace roofcast
