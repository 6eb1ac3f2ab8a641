#include "kernels/support/occupancy_probe.hpp"

#include <set>

#include "tests/kernels/device.hpp"

namespace roofcast::cuda {
namespace {

using OccupancyProbeTest = GpuTest;

TEST_F(OccupancyProbeTest, CoversRegistersSharedMemoryAndRefusals) {
  const std::vector<OccupancyCase> cases = probe_occupancy(1000, 1);
  ASSERT_EQ(cases.size(), 1000U);
  std::set<int> registers, blocks;
  for (const OccupancyCase& one : cases) {
    registers.insert(one.registers);
    blocks.insert(one.blocks_per_sm);
    // Nothing may hold more than a multiprocessor has, on any GPU so far.
    EXPECT_LE(one.blocks_per_sm * one.threads, 2048);
    EXPECT_LE(one.blocks_per_sm * one.threads * one.registers, 65536);
  }
  EXPECT_GE(registers.size(), 20U);
  EXPECT_GE(*registers.rbegin(), 200);
  EXPECT_TRUE(blocks.contains(0));
  EXPECT_GE(*blocks.rbegin(), 16);
}

TEST_F(OccupancyProbeTest, TheSeedDecides) {
  const auto a = probe_occupancy(20, 5), b = probe_occupancy(20, 5);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].blocks_per_sm, b[i].blocks_per_sm);
}

}  // namespace
}  // namespace roofcast::cuda
