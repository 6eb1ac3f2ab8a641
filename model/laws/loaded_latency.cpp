#include "model/laws/loaded_latency.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast {
namespace {

// Longer queues than this are not told apart: memory is busy.
constexpr double kLongest = 1e4;

double queue(std::span<const LoadedLevel> levels, double time_s) {
  double sum = 0;
  for (const LoadedLevel& level : levels) {
    if (level.share <= 0 || level.busy_s <= 0) continue;
    if (time_s <= level.busy_s) return kLongest;
    sum += level.share * level.busy_s / (time_s - level.busy_s);
  }
  return std::min(kLongest, sum);
}

/// A time, the queue it makes, and what the SMs take with that.
struct Point {
  double time_s, queue, sms_s;
};

// Where T = sms_s(q(T)) lies if sms_s is linear between two points.
double crossing_s(const Point& below, const Point& above, std::span<const LoadedLevel> levels) {
  const double slope =
      below.queue > above.queue ? (below.sms_s - above.sms_s) / (below.queue - above.queue) : 0;
  double low_s = below.time_s, high_s = above.time_s;
  constexpr int kHalvings = 50;
  for (int i = 0; i < kHalvings; ++i) {
    const double time_s = (low_s + high_s) / 2;
    const double sms_s = above.sms_s + slope * (queue(levels, time_s) - above.queue);
    (sms_s > time_s ? low_s : high_s) = time_s;
  }
  return high_s;
}

}  // namespace

double loaded_time_s(const std::function<double(double)>& sms_s,
                     std::span<const LoadedLevel> levels, double least_s) {
  const auto at = [&](double time_s) {
    const double waiting = queue(levels, time_s);
    return Point{time_s, waiting, sms_s(waiting)};
  };
  Point below = at(least_s);
  if (below.sms_s <= below.time_s) return least_s;
  Point above = at(below.sms_s);
  constexpr int kSteps = 60;
  constexpr double kExact = 1e-11;
  for (int i = 0; i < kSteps && above.time_s > (1 + kExact) * below.time_s; ++i) {
    const Point next = at(crossing_s(below, above, levels));
    if (std::abs(next.sms_s - next.time_s) <= kExact * next.time_s) return next.time_s;
    (next.sms_s > next.time_s ? below : above) = next;
  }
  return above.time_s;
}

}  // namespace roofcast
