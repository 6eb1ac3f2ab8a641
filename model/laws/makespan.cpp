#include "model/laws/makespan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/counting/integers.hpp"

namespace roofcast {
namespace {

/// Places that are free from some time on.
struct Free {
  double from;
  std::int64_t places;
};

// Adds places. `places` stays sorted by time, with one entry a time.
void free_later(std::vector<Free>& places, const Free& more) {
  const auto at = std::lower_bound(places.begin(), places.end(), more.from,
                                   [](const Free& some, double time) { return some.from < time; });
  if (at != places.end() && at->from == more.from) {
    at->places += more.places;
  } else {
    places.insert(at, more);
  }
}

/// A job on a processor; `left` is the share of it that is still to run.
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
  std::vector<Free> free = {{0, slots}};
  for (const auto& [count, duration] : jobs) {
    if (duration <= 0) continue;
    for (std::int64_t left = count; left > 0;) {
      // If all places become free within one job's duration, each takes one job a round: whole
      // rounds are skipped at once.
      const std::int64_t rounds = left / slots - 1;
      if (rounds > 0 && free.back().from - free.front().from <= duration) {
        std::vector<Free> later;
        for (const Free& some : free) {
          free_later(later, {some.from + as_double(rounds) * duration, some.places});
        }
        free = std::move(later);
        left -= rounds * slots;
        continue;
      }
      Free& first = free.front();
      const Free taken = {first.from + duration, std::min(left, first.places)};
      first.places -= taken.places;
      if (first.places == 0) free.erase(free.begin());
      free_later(free, taken);
      left -= taken.places;
    }
  }
  return free.back().from;
}

double shared_makespan(std::span<const std::int64_t> counts,
                       std::span<const std::vector<double>> lives, std::int64_t processors) {
  std::vector<std::int64_t> ends;
  for (const std::int64_t count : counts) ends.push_back(count + (ends.empty() ? 0 : ends.back()));
  // The mix of jobs changes along the processors only where a class begins: one of each mix is
  // enough.
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
