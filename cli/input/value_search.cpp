#include "cli/input/value_search.hpp"

#include <utility>

namespace roofcast::cli {
namespace {

/// Bisects to two neighbouring positions between which the answer changes.
std::pair<Point, Point> change_between(Point left, Point right, const Ask& ask) {
  while (right.position - left.position > 1) {
    Point middle = ask(left.position + (right.position - left.position) / 2);
    (middle.holds == left.holds ? left : right) = std::move(middle);
  }
  return {std::move(left), std::move(right)};
}

std::vector<Span> spans_of(const std::vector<Point>& points, const Ask& ask) {
  std::vector<Span> spans;
  if (points.front().holds) spans.push_back({points.front(), points.front()});
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].holds == points[i - 1].holds) continue;
    auto [left, right] = change_between(points[i - 1], points[i], ask);
    if (right.holds) {
      spans.push_back({right, std::move(right)});
    } else {
      spans.back().last = std::move(left);
    }
  }
  if (points.back().holds) spans.back().last = points.back();
  return spans;
}

}  // namespace

Solution find_values(const Unknown& unknown, std::int64_t most, const Ask& ask) {
  Solution solution;
  const Ask counted = [&](std::int64_t position) {
    ++solution.forecasts;
    Point point = ask(position);
    if (!point.prediction) ++solution.refused;
    return point;
  };
  const std::vector<std::int64_t> positions = unknown.samples(most);
  std::vector<Point> points;
  points.reserve(positions.size());
  for (const std::int64_t position : positions) points.push_back(counted(position));
  if (solution.refused == points.size()) throw InputError(points.front().refusal);
  solution.every_value = unknown.whole() && std::ssize(positions) == unknown.last() + 1;
  solution.spans = spans_of(points, counted);
  solution.lowest = points.front();
  solution.highest = points.back();
  return solution;
}

}  // namespace roofcast::cli
