#include <gtest/gtest.h>

#include "model/laws/forecast.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

ByResource terms(std::initializer_list<std::pair<Resource, double>> all) {
  ByResource found;
  for (const auto& [resource, time_s] : all) found[resource] = time_s;
  return found;
}

TEST(RelativeSpread, ByWhatDecidesTheTime) {
  Gpu gpu = testing::hopper_like();
  const ByResource dram = terms({{Resource::dram, 3}, {Resource::vector, 2}});
  EXPECT_EQ(relative_spread(1e-3, dram, gpu), 0.5);  // no calibration
  gpu.sustained.spread_launch_bound = 0.3;
  gpu.sustained.spread_memory = 0.2;
  gpu.sustained.spread_compute = 0.1;
  EXPECT_EQ(relative_spread(1e-3, dram, gpu), 0.2);
  EXPECT_EQ(relative_spread(1e-3, terms({{Resource::l2, 3}, {Resource::vector, 2}}), gpu), 0.2);
  EXPECT_EQ(relative_spread(1e-3, terms({{Resource::dram, 2}, {Resource::vector, 3}}), gpu), 0.1);
  // Latency takes the spread of what is waited for.
  EXPECT_EQ(relative_spread(1e-3, terms({{Resource::latency, 9}, {Resource::dram, 2}}), gpu), 0.2);
  EXPECT_EQ(relative_spread(1e-3, terms({{Resource::launch, 9}, {Resource::dram, 2}}), gpu), 0.3);
  // Under 20 µs the launch decides.
  EXPECT_EQ(relative_spread(19.9e-6, dram, gpu), 0.3);
  EXPECT_EQ(relative_spread(20e-6, dram, gpu), 0.2);
}

}  // namespace
}  // namespace roofcast
