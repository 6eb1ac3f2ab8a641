#include "reports/gpu_charts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "model/types/problem.hpp"
#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

using Spec = nlohmann::json;

TEST(MemoryHierarchy, HasSizeBandwidthAndLatencyOfWhatIsKnown) {
  Gpu gpu = sample_gpu();
  gpu.memory.l2_bytes = 50e6;
  gpu.memory.l1_shared_bytes = 256 * 1024;
  gpu.latency.dram_cycles = 990;
  const Spec spec = Spec::parse(memory_hierarchy_chart(gpu));
  const Spec& sizes = spec["datasets"]["Size"];
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0]["name"], "L1 + shared");
  EXPECT_EQ(sizes[0]["value"], 132 * 256 * 1024);
  EXPECT_EQ(spec["datasets"]["Bandwidth"].size(), 3U);
  EXPECT_DOUBLE_EQ(spec["datasets"]["Latency"][0]["value"].get<double>(), 990 / 1.98e9);
}

TEST(Generations, AreTheStrongestOfEachArchitectureByYear) {
  const Spec spec = Spec::parse(generations_chart(sample_generations()));
  const Spec& growth = spec["datasets"]["growth"];
  ASSERT_EQ(growth.size(), 8U);
  EXPECT_EQ(growth[0]["name"], "old 2016");
  EXPECT_EQ(growth[4]["name"], "new-large 2022");
  EXPECT_DOUBLE_EQ(growth[0]["value"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(growth[4]["value"].get<double>(), 27);
  // Compute times 27, bandwidth times √27: so grows the ridge.
  const Spec& ridges = spec["datasets"]["ridges"];
  EXPECT_NEAR(ridges[2]["value"].get<double>() / ridges[0]["value"].get<double>(), std::sqrt(27),
              1e-9);
}

TEST(Generations, NeedTwo) {
  EXPECT_THROW(generations_chart({sample_gpu()}), InputError);
}

}  // namespace
}  // namespace roofcast::reports
