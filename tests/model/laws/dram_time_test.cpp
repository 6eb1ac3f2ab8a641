#include "model/laws/memory_cost.hpp"

#include <gtest/gtest.h>

#include <array>

#include "model/constants/laws.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

Gpu measured() {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.dram_read_bytes_per_s = 4e12;
  gpu.sustained.dram_write_bytes_per_s = 2e12;
  gpu.sustained.dram_scattered_bytes_per_s = 1e12;
  return gpu;
}

TEST(DramTime, ReadsAndWritesEachAtTheirRate) {
  EXPECT_DOUBLE_EQ(dram_time({4e12, 0}, {}, measured()).total_s(), 1);
  EXPECT_DOUBLE_EQ(dram_time({0, 2e12}, {}, measured()).total_s(), 1);
  // The bus turns round between them.
  EXPECT_DOUBLE_EQ(dram_time({4e12, 2e12}, {}, measured()).total_s(), 2 + law::kDramTurnaround / 2);
}

TEST(DramTime, TheDatasheetsRateWhereNoneWasMeasured) {
  Gpu gpu = testing::hopper_like();
  EXPECT_DOUBLE_EQ(dram_time({2.4e12, 2.4e12}, {}, gpu).total_s(), 1 + law::kDramTurnaround / 2);
  gpu.memory.dram_bandwidth_bytes_per_s.reset();
  EXPECT_EQ(dram_time({1e12, 1e12}, {}, gpu).total_s(), 0);
}

// A rate is a rate, however low.
TEST(DramTime, AByteASecond) {
  Gpu gpu = testing::hopper_like();
  gpu.memory.dram_bandwidth_bytes_per_s = 1;
  EXPECT_DOUBLE_EQ(dram_time({2, 1}, {}, gpu).total_s(), 3 + law::kDramTurnaround);
}

// 4 TB in order take 1 s, scattered 4 s. Half of the memory touched: an eighth of the difference.
TEST(DramTime, ReadsWithGapsLieBetweenInOrderAndScattered) {
  const auto of_density = [](double density) {
    return dram_time({4e12, 0}, std::array{SparseAccesses{4e12, density}}, measured()).total_s();
  };
  EXPECT_DOUBLE_EQ(of_density(1), 1);
  EXPECT_DOUBLE_EQ(of_density(0), 4);
  EXPECT_DOUBLE_EQ(of_density(0.5), 1 + 3.0 / 8);
  EXPECT_DOUBLE_EQ(of_density(7), 1);
  EXPECT_DOUBLE_EQ(of_density(-1), 4);
  // A quarter of the reads with gaps.
  const std::array sparse = {SparseAccesses{0.5e12, 0}, SparseAccesses{0.5e12, 0}};
  EXPECT_DOUBLE_EQ(dram_time({4e12, 0}, sparse, measured()).total_s(), 0.75 + 1);
}

}  // namespace
}  // namespace roofcast
