// Cycles an SM needs to start a block and its warps, from large grids of empty blocks.
#include "validation/calibration/microbench/loads.hpp"
#include "validation/calibration/microbench/microbench.hpp"

namespace roofcast::microbench {
namespace {

__global__ void do_nothing() {}

constexpr unsigned kFewBlocks = 256;  // per SM
constexpr unsigned kManyBlocks = 2048;

double grid_s(Lab& lab, unsigned blocks_per_sm, unsigned threads) {
  return lab.seconds([&] {
    do_nothing<<<lab.sms() * blocks_per_sm, threads, 0, lab.stream()>>>();
    check(cudaGetLastError());
  });
}

}  // namespace

Curves block_start(Lab& lab) {
  // The clock under a load of milliseconds: these grids are too short for the nanosecond timer.
  const double clock_hz = lab.timed([&] { enqueue_fma(lab, 5); }).clock_hz;
  validation::Curve curve{"block_start", "block", "warps_per_block", "clk", {}};
  for (const unsigned warps : {1u, 2u, 4u, 8u, 16u, 32u}) {
    const double seconds =
        grid_s(lab, kManyBlocks, 32 * warps) - grid_s(lab, kFewBlocks, 32 * warps);
    curve.points.push_back(
        {static_cast<double>(warps), seconds * clock_hz / (kManyBlocks - kFewBlocks)});
  }
  return {std::move(curve)};
}

}  // namespace roofcast::microbench
