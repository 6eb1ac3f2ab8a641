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

/// End of the last job, in the durations' unit. Jobs start in order in `slots` places, each in the
/// first free one (list scheduling; Graham 1969). Tiles of persistent blocks are jobs too.
double makespan(std::span<const Jobs> jobs, std::int64_t slots);

/// End of the last job if processor j runs jobs j, j + processors, … concurrently: lives[class][n]
/// is the duration of a job of the class beside n others. counts: the jobs of each class, in order.
double shared_makespan(std::span<const std::int64_t> counts,
                       std::span<const std::vector<double>> lives, std::int64_t processors);

}  // namespace roofcast
