#include "model/counting/divergence.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast {

double paths_by_lane(double paths, double lanes) {
  return std::min(paths, lanes);
}

double paths_at_random(double paths, double lanes) {
  return paths * (1 - std::pow(1 - 1 / paths, lanes));
}

}  // namespace roofcast
