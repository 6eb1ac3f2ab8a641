// The cost of writes in pieces at L2 and DRAM.
#include "model/laws/memory_cost.hpp"

#include <gtest/gtest.h>

#include "model/constants/laws.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

// 4.8 TB a second in order, half as much scattered; DRAM accesses of one sector.
class WritesInPieces : public ::testing::Test {
 protected:
  WritesInPieces() : gpu(testing::hopper_like()) {
    gpu.sustained.dram_scattered_bytes_per_s = 2.4e12;
    gpu.sustained.l2_bandwidth_bytes_per_s = 9.6e12;
  }
  /// Seconds of DRAM and of L2 for 4.8 TB that one block writes.
  MemoryCost cost(const AccessPattern& pattern, double early_bytes) const {
    constexpr double kWritten = 4.8e12;
    Plan plan;
    plan.launch.grid[0] = 1;
    plan.launch.block[0] = 256;
    Step step;
    step.issued.l2 = {0, kWritten};
    plan.blocks = {{1, {{step}}}};
    plan.arrays = {{.array = 0, .compulsory = {}, .footprint = {0, kWritten}, .pattern = pattern}};
    LaunchMemory memory = {
        .l2 = {0, kWritten}, .dram = {0, kWritten + early_bytes}, .early_bytes = early_bytes};
    constexpr Occupancy kOneAnSm{1, 8, OccupancyLimiter::blocks};
    memory.misses = l1_misses(plan, kOneAnSm, gpu);
    constexpr double kClock_hz = 1;
    MemoryCost cost = memory_cost(plan, kOneAnSm, memory, kClock_hz, gpu);
    cost.dram_write *= kWritten;
    cost.l2_write *= kWritten;
    return cost;
  }
  double dram_s(const AccessPattern& pattern, double early_bytes) const {
    return cost(pattern, early_bytes).dram_write;
  }
  double l2_s(const AccessPattern& pattern, double early_bytes) const {
    return cost(pattern, early_bytes).l2_write;
  }
  Gpu gpu;
  /// L2 writes whole lines at a share of its reads.
  static constexpr double kWhole_s = 4.8e12 / (9.6e12 * law::kL2WriteShare);
};

// Each run of 64 B begins with a scattered access of 32 B, at half the rate. Where the next run is
// 33 blocks away, the 132 blocks that run together join four runs to one of 256 B.
TEST_F(WritesInPieces, EachRunBeginsApart) {
  EXPECT_NEAR(dram_s({}, 0), 1, 1e-12);
  EXPECT_NEAR(dram_s({.write_run_bytes = 64, .blocks_to_next_run = 264}, 0), 1.5, 1e-12);
  EXPECT_NEAR(dram_s({.write_run_bytes = 64, .blocks_to_next_run = 33}, 0), 1.125, 1e-12);
}

// A sector that two runs share is a scattered access (2.4 TB/s) in each: with two such ends a run
// 4.8 TB more. A run that begins with one has no other scattered access.
TEST_F(WritesInPieces, RunsThatShareSectorsWriteThemTwice) {
  const double runs = 4.8e12 / 64;
  const auto with_ends = [&](double ends, double blocks) {
    return dram_s({.write_run_bytes = 64, .blocks_to_next_run = blocks, .shared_run_ends = ends},
                  0);
  };
  EXPECT_NEAR(with_ends(2 * runs, 264), 1 + 2, 1e-12);
  EXPECT_NEAR(with_ends(runs, 264), 1 + 0.25 + 1, 1e-12);
  EXPECT_NEAR(with_ends(2 * runs, 33), 1 + 0.5, 1e-12);  // four runs are joined
}

// Sectors that L2 evicts early, 1.2 TB, are read and written by scattered accesses, each 0.25 s more
// than in order. They pass L2 three times more: out, in again, and merged.
TEST_F(WritesInPieces, SectorsDrivenOutEarlyAreReadMergedAndWritten) {
  EXPECT_NEAR(dram_s({}, 1.2e12), 1.25 + 0.5, 1e-12);
  EXPECT_NEAR(l2_s({}, 1.2e12), kWhole_s * (1 + 3 * 0.25), 1e-9);
}

// A line written in part takes a sector's time more.
TEST_F(WritesInPieces, LinesWrittenInPartAreMerged) {
  EXPECT_NEAR(l2_s({.partial_writes = 4.8e12 / 32}, 0), 2 * kWhole_s, 1e-9);
}

}  // namespace
}  // namespace roofcast
