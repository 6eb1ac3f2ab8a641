#include "model/laws/makespan.hpp"

#include <algorithm>
#include <map>

namespace roofcast {
namespace {

double list_schedule(std::span<const Jobs> jobs, std::int64_t slots) {
  std::map<double, std::int64_t> free_at = {{0.0, slots}};  // time: places that are free from then
  for (const auto& [count, duration] : jobs) {
    if (duration <= 0) continue;
    for (std::int64_t left = count; left > 0;) {
      // While no place is free a job later than another, each takes one before any takes a second.
      const std::int64_t rounds = left / slots - 1;
      if (rounds > 0 && free_at.rbegin()->first - free_at.begin()->first <= duration) {
        std::map<double, std::int64_t> later;
        for (const auto& [time, places] : free_at) {
          later[time + static_cast<double>(rounds) * duration] += places;
        }
        free_at = std::move(later);
        left -= rounds * slots;
        continue;
      }
      const auto [time, places] = *free_at.begin();
      const std::int64_t taken = std::min(left, places);
      free_at.erase(free_at.begin());
      if (taken < places) free_at[time] = places - taken;
      free_at[time + duration] += taken;
      left -= taken;
    }
  }
  return free_at.rbegin()->first;
}

// Jobs of [from, from + count) that fall on one place.
std::int64_t on_place(std::int64_t place, std::int64_t from, std::int64_t count,
                      std::int64_t slots) {
  const auto before = [&](std::int64_t end) { return (end - place + slots - 1) / slots; };
  return std::max<std::int64_t>(0, before(from + count)) - std::max<std::int64_t>(0, before(from));
}

double fixed_schedule(std::span<const Jobs> jobs, std::int64_t slots) {
  const auto load = [&](std::int64_t place) {
    double sum = 0;
    std::int64_t from = 0;
    for (const Jobs& some : jobs) {
      sum += static_cast<double>(on_place(place, from, some.count, slots)) * some.duration;
      from += some.count;
    }
    return sum;
  };
  // A place's load changes only where a class begins or ends.
  double latest = load(0);
  std::int64_t from = 0;
  for (const Jobs& some : jobs) {
    latest = std::max({latest, load(from % slots), load((from + some.count - 1) % slots)});
    from += some.count;
  }
  return latest;
}

}  // namespace

double makespan(std::span<const Jobs> jobs, std::int64_t slots, Assignment assignment) {
  return assignment == Assignment::persistent ? fixed_schedule(jobs, slots)
                                              : list_schedule(jobs, slots);
}

}  // namespace roofcast
