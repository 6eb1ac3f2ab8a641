#include "validation/calibration/microbench/microbench.hpp"

#include <array>

namespace roofcast::microbench {
namespace {

constexpr std::array kMicrobenches = {
    Microbench{"clock", "SM clock under load", clock_under_load},
    Microbench{"latency", "dependent loads by footprint, shared memory, multiply-add", latency},
    Microbench{"bandwidth", "L2 and DRAM by footprint", bandwidth},
    Microbench{"in_flight", "DRAM reads by warps, loads and width", bytes_in_flight},
    Microbench{"scattered", "pieces at random places", scattered},
    Microbench{"on_chip", "L1 and shared memory, L1 lookups", on_chip},
    Microbench{"pipes", "results a clock by operation", pipes},
    Microbench{"issue", "warp instructions a clock", issue},
    Microbench{"barrier", "barriers by warps of a block", barrier},
    Microbench{"block_start", "starting blocks and warps", block_start},
    Microbench{"launch", "launching an empty kernel", launch},
    Microbench{"first_and_last", "first data and last writes of small kernels", first_and_last}};

}  // namespace

std::span<const Microbench> microbenches() {
  return kMicrobenches;
}

}  // namespace roofcast::microbench
