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
/// soon as one is free (list scheduling; Graham 1969). The tiles of persistent blocks are jobs too.
double makespan(std::span<const Jobs> jobs, std::int64_t slots);

/// When the last job ends if processor j runs the jobs j, j + processors, … all at once and they
/// slow each other down: lives[class][n] is the duration of a job of the class beside n others.
/// counts: the jobs of each class, in order.
double shared_makespan(std::span<const std::int64_t> counts,
                       std::span<const std::vector<double>> lives, std::int64_t processors);

}  // namespace roofcast
