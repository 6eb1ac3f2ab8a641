#pragma once
// Studies of L2 and DRAM beyond those of `roofcast calibrate`: each varies one parameter and keeps
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

/// A launch at each value of a varied parameter; `before` prepares the state of L2.
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

/// Each SM's part of a walk: its rank among `ranks`, or -1 if it stays idle.
struct Roles {
  std::vector<int> rank_of_sm;
  int ranks = 0;
};
Roles everyone(const Lab& lab);
/// SMs of the two halves exchange their ranks in pairs; unpaired SMs keep theirs.
Roles swapped(const Halves& halves);
Roles one_half(const Halves& halves, int half);
/// The SMs of each half share a walk through all bytes; surplus SMs of the larger half are idle.
Roles both_halves(const Halves& halves);
/// Every SM walks through all bytes.
Roles all_read_all(const Lab& lab);

enum class Access : unsigned char { read, write, copy };
enum class Order : unsigned char { forward, backward };

/// Walks once through `bytes` (rounded down to 16 KiB) of the buffer at `offset`, with one block
/// per SM. A copy reads there and writes right behind the bytes read.
void enqueue_walk(Lab& lab, const Roles& roles, Access access, std::size_t offset,
                  std::size_t bytes, Order order = Order::forward);

/// Fills L2 with clean lines of other data.
inline void clean_cache(Lab& lab) {
  lab.flush_l2();
}
/// Fills L2 with dirty lines of other data.
void dirty_cache(Lab& lab);

Curves halves_of_l2(Lab& lab, Halves& found);
Curves l2_bandwidth(Lab& lab);
Curves dram_mix(Lab& lab);
Curves sparse_access(Lab& lab);

std::vector<Scene> capacity_scenes(Lab& lab, const Halves& halves);
std::vector<Scene> write_scenes(Lab& lab);

/// Median time (s) at each point.
Curves timed(Lab& lab, const std::vector<Scene>& scenes);
/// Every metric at each point; the metrics name the series.
Curves counted(Lab& lab, harness::RangeCounter& counter, const std::vector<Scene>& scenes);

}  // namespace roofcast::microbench
