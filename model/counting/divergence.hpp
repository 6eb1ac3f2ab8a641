#pragma once
#include <algorithm>
#include <cmath>

namespace roofcast {

/// How many different paths the lanes of a warp take at a branch. Lanes on one path run together;
/// the paths of a warp run one after the other, so it issues the instructions of each: Σ over the
/// paths taken. (CUDA C++ Programming Guide, "SIMT Architecture".)

/// All lanes agree.
constexpr double paths_uniform() {
  return 1;
}

/// Lane l takes path l mod `paths`: as many as there are paths, at most one a lane.
constexpr double paths_by_lane(double paths, double lanes) {
  return std::min(paths, lanes);
}

/// Each lane draws one of `paths` at random. A path is missed by all lanes with probability
/// (1 - 1/k)^lanes, so k·(1 - (1 - 1/k)^lanes) are taken on average: of 32 lanes and 2, 8, 32 paths
/// 2.00, 7.89 and 20.4.
inline double paths_at_random(double paths, double lanes) {
  return paths * (1 - std::pow(1 - 1 / paths, lanes));
}

}  // namespace roofcast
