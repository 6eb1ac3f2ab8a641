#include "model/types/prediction.hpp"

#include <gtest/gtest.h>

#include "model/laws/forecast.hpp"

namespace roofcast {
namespace {

ByResource terms_of(std::initializer_list<std::pair<Resource, double>> items) {
  ByResource terms;
  for (const auto& [resource, time_s] : items) terms[resource] = time_s;
  return terms;
}

const ByResource kMemory = terms_of({{Resource::vector, 1e-4}, {Resource::dram, 2e-4}});
const ByResource kCompute = terms_of({{Resource::shared, 3e-4}, {Resource::l2, 2e-4}});
const ByResource kWaitsForMemory = terms_of({{Resource::latency, 9e-4}, {Resource::l2, 2e-4}});
const ByResource kLaunches = terms_of({{Resource::launch, 9e-4}, {Resource::dram, 2e-4}});

TEST(Regime, ShortKernelsAreBoundByTheirLaunch) {
  EXPECT_EQ(regime_of(19.9e-6, kMemory), Regime::launch_bound);
  EXPECT_EQ(regime_of(20e-6, kMemory), Regime::memory);
  EXPECT_EQ(regime_of(1e-3, kLaunches), Regime::launch_bound);
}

TEST(Regime, WaitingBelongsToWhatIsWaitedFor) {
  EXPECT_EQ(regime_of(1e-3, kCompute), Regime::compute);
  EXPECT_EQ(regime_of(1e-3, kWaitsForMemory), Regime::memory);
}

// The width of the interval is the one fitted to the regime that a comparison counts the case in.
TEST(Regime, TheIntervalTakesTheSpreadOfTheRegime) {
  Gpu gpu;
  gpu.sustained.spread_launch_bound = 0.3;
  gpu.sustained.spread_memory = 0.1;
  gpu.sustained.spread_compute = 0.2;
  EXPECT_EQ(relative_spread(1e-6, kMemory, gpu), 0.3);
  EXPECT_EQ(relative_spread(1e-3, kLaunches, gpu), 0.3);
  EXPECT_EQ(relative_spread(1e-3, kMemory, gpu), 0.1);
  EXPECT_EQ(relative_spread(1e-3, kWaitsForMemory, gpu), 0.1);
  EXPECT_EQ(relative_spread(1e-3, kCompute, gpu), 0.2);
  EXPECT_EQ(relative_spread(1e-3, kCompute, Gpu{}), 0.5);
}

}  // namespace
}  // namespace roofcast
