// Large grids of blocks that do nothing: what starting a block and its warps costs an SM.
#include <string>

#include "validation/calibration/microbench/lab.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

__global__ void do_nothing() {}

constexpr unsigned kFewBlocks = 256;  // of an SM
constexpr unsigned kManyBlocks = 2048;

double cycles_of_grid(Lab& lab, unsigned blocks_per_sm, unsigned threads) {
  const TimedLaunch time = lab.timed([&] {
    do_nothing<<<lab.sms() * blocks_per_sm, threads, 0, lab.stream()>>>();
    check(cudaGetLastError());
  });
  return time.seconds * time.clock_hz;
}

}  // namespace

Curves block_start(Lab& lab) {
  validation::Curve curve{"block_start", "block", "warps_per_block", "clk", {}};
  for (const unsigned warps : {1u, 2u, 4u, 8u, 16u, 32u}) {
    const double cycles =
        cycles_of_grid(lab, kManyBlocks, 32 * warps) - cycles_of_grid(lab, kFewBlocks, 32 * warps);
    curve.points.push_back({static_cast<double>(warps), cycles / (kManyBlocks - kFewBlocks)});
  }
  return {std::move(curve)};
}

}  // namespace roofcast::microbench
