#pragma once
// Studies of L2 and DRAM beyond what `roofcast calibrate` runs: each varies one thing and keeps
// every point. Times and hardware counters come from the same scenes.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "validation/calibration/curve.hpp"
#include "validation/calibration/microbench/lab.hpp"
#include "validation/counters/range_counter.hpp"

namespace roofcast::microbench {

using Curves = std::vector<validation::Curve>;

/// One launch over something that is varied. `before` brings L2 into the state that is meant.
struct Scene {
  std::string study;
  std::string series;
  std::string x_name;
  std::vector<double> xs;
  std::function<void(double)> before;
  std::function<void(double)> launch;
};

/// SMs by the half of L2 that is nearer to them.
struct Halves {
  std::vector<int> half_of_sm;  ///< 0 or 1
  int count(int half) const;
};

/// Which SM does which part of a walk, for every SM: its rank, or -1 where it stays idle.
struct Roles {
  std::vector<int> rank_of_sm;
  int ranks = 0;
};
Roles everyone(const Lab& lab);
/// Every SM in the place of one of the other half; unpaired ones keep theirs.
Roles swapped(const Halves& halves);
Roles one_half(const Halves& halves, int half);
/// Either half walks through all of it, its SMs sharing the work.
Roles both_halves(const Halves& halves);
/// Every SM walks through all of it.
Roles all_read_all(const Lab& lab);

enum class Access : unsigned char { read, write, copy };
enum class Order : unsigned char { forward, backward };

/// Walks once through `bytes` of the buffer at `offset`, 16 KiB at a time; one block an SM. A copy
/// reads there and writes `bytes` further on.
void enqueue_walk(Lab& lab, const Roles& roles, Access access, std::size_t offset,
                  std::size_t bytes, Order order = Order::forward);

/// Fills the cache with clean lines of elsewhere.
inline void clean_cache(Lab& lab) {
  lab.flush_l2();
}
/// Fills the cache with dirty lines of elsewhere.
void dirty_cache(Lab& lab);

Curves halves_of_l2(Lab& lab, Halves& found);
Curves l2_bandwidth(Lab& lab);
Curves dram_mix(Lab& lab);
Curves sparse_access(Lab& lab);
Curves loaded_latency(Lab& lab);

std::vector<Scene> capacity_scenes(Lab& lab, const Halves& halves);
std::vector<Scene> write_scenes(Lab& lab);

/// Median seconds of each point.
Curves timed(Lab& lab, const std::vector<Scene>& scenes);
/// Every metric of each point; the counter's metrics name the series.
Curves counted(Lab& lab, harness::RangeCounter& counter, const std::vector<Scene>& scenes);

}  // namespace roofcast::microbench
