#include "model/laws/makespan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/counting/integers.hpp"

namespace roofcast {
namespace {

/// A job on a processor; `left` is its unfinished share.
struct Running {
  std::span<const double> lives;
  double left = 1;

  double until_end(std::size_t beside) const { return left * lives[beside]; }
};

// When the jobs of one processor have all ended.
double end_of(std::vector<Running> running) {
  double time = 0;
  while (!running.empty()) {
    const std::size_t beside = running.size() - 1;
    const auto next =
        std::min_element(running.begin(), running.end(), [&](const Running& a, const Running& b) {
          return a.until_end(beside) < b.until_end(beside);
        });
    const double step = next->until_end(beside);
    time += step;
    running.erase(next);
    for (Running& job : running) job.left -= step / job.lives[beside];
  }
  return time;
}

}  // namespace

double makespan(std::span<const Jobs> jobs, std::int64_t slots) {
  // Places by the time from which they are free, in ascending order.
  std::vector<std::pair<double, std::int64_t>> free = {{0, slots}};
  for (const auto& [count, duration] : jobs) {
    if (duration <= 0) continue;
    for (std::int64_t left = count; left > 0;) {
      // If all places become free within one job's duration, each place takes one job a round:
      // whole rounds are skipped at once.
      const std::int64_t rounds = left / slots - 1;
      if (rounds > 0 && free.back().first - free.front().first <= duration) {
        for (auto& [from, places] : free) from += as_double(rounds) * duration;
        left -= rounds * slots;
        continue;
      }
      const auto [from, places] = free.front();
      const std::int64_t taken = std::min(left, places);
      free.front().second -= taken;
      if (taken == places) free.erase(free.begin());
      const double end = from + duration;
      const auto at = std::lower_bound(free.begin(), free.end(), std::pair(end, std::int64_t{0}));
      if (at != free.end() && at->first == end) {
        at->second += taken;
      } else {
        free.emplace(at, end, taken);
      }
      left -= taken;
    }
  }
  return free.back().first;
}

double shared_makespan(std::span<const std::int64_t> counts,
                       std::span<const std::vector<double>> lives, std::int64_t processors) {
  std::vector<std::int64_t> ends;
  for (const std::int64_t count : counts) ends.push_back(count + (ends.empty() ? 0 : ends.back()));
  // One processor per mix of jobs: the mix changes only where a class begins.
  std::vector<std::int64_t> first = {0};
  for (const std::int64_t end : ends) {
    if (end < ends.back()) first.push_back(end % processors);
  }
  double latest = 0;
  for (const std::int64_t processor : first) {
    std::vector<Running> running;
    for (std::int64_t job = processor; job < ends.back(); job += processors) {
      running.push_back({lives[static_cast<std::size_t>(
          std::upper_bound(ends.begin(), ends.end(), job) - ends.begin())]});
    }
    latest = std::max(latest, end_of(std::move(running)));
  }
  return latest;
}

}  // namespace roofcast
