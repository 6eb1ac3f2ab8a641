#include "model/laws/makespan.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace roofcast {
namespace {

/// Places that are free from some time on.
struct Free {
  double from;
  std::int64_t places;
};

// Times stay sorted and differ.
void free_later(std::vector<Free>& places, const Free& more) {
  const auto at = std::lower_bound(places.begin(), places.end(), more.from,
                                   [](const Free& some, double time) { return some.from < time; });
  if (at != places.end() && at->from == more.from) {
    at->places += more.places;
  } else {
    places.insert(at, more);
  }
}

}  // namespace

double makespan(std::span<const Jobs> jobs, std::int64_t slots) {
  std::vector<Free> free = {{0, slots}};
  for (const auto& [count, duration] : jobs) {
    if (duration <= 0) continue;
    for (std::int64_t left = count; left > 0;) {
      // While no place is free a job later than another, each takes one before any takes a second.
      const std::int64_t rounds = left / slots - 1;
      if (rounds > 0 && free.back().from - free.front().from <= duration) {
        std::vector<Free> later;
        for (const Free& some : free) {
          free_later(later, {some.from + static_cast<double>(rounds) * duration, some.places});
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

}  // namespace roofcast
