// The queueing network against cases that have an answer by hand, and properties of every one.
#include "model/laws/network.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>

#include "model/constants/laws.hpp"

namespace roofcast {
namespace {

// Of a block of four warps, one on each sub-partition.
PhaseDemand phase(Station station, double cycles, double latency) {
  PhaseDemand one;
  one.warps = kSubPartitions;
  one.demand[station] = cycles;
  one.latency = latency;
  return one;
}

double cycle_of(const PhaseDemand& one, double resident) {
  return steady_cycle({&one, 1}, resident, Ends::none);
}

TEST(Network, WithNothingToDoABlockLastsAsLongAsItsLatency) {
  EXPECT_DOUBLE_EQ(cycle_of(phase(Station::data, 0, 700), 4), 700);
}

TEST(Network, ALoneBlockWaitsForNobody) {
  EXPECT_NEAR(cycle_of(phase(Station::data, 100, 700), 1), 800, 1e-3);
}

// 16 blocks of 100 cycles and no latency keep a pipe busy: each starts 100 cycles after the last.
TEST(Network, AFullStationSetsThePace) {
  EXPECT_NEAR(cycle_of(phase(Station::data, 100, 0), 16), 1600, 1e-2);
}

// The example of docs/model.md: ν = 2 and two blocks give f = 1/3, and u = 3/4 solves 2 = X · T(X).
TEST(Network, TwoBlocksMeetNowAndThen) {
  ASSERT_EQ(law::kSmVariability.value, 2);
  EXPECT_NEAR(cycle_of(phase(Station::data, 100, 100), 2), 800.0 / 3, 1e-3);
}

// Loads of 1000 cycles take no longer than the steps that they are ahead by.
TEST(Network, LoadsAheadAreHidden) {
  PhaseDemand step = phase(Station::tensor, 100, 0);
  step.load_latency = 1000;
  step.repeats = 50;
  step.ahead = 0;
  EXPECT_NEAR(cycle_of(step, 1), 50 * 1100, 1);
  step.ahead = 0.5;  // no longer than without loads ahead
  EXPECT_NEAR(cycle_of(step, 1), 50 * 1100, 1);
  step.ahead = 4;
  EXPECT_NEAR(cycle_of(step, 1), 50 * 1000 / 4.0, 1);
  step.ahead = 20;
  EXPECT_NEAR(cycle_of(step, 1), 50 * 100, 1);
}

// Two warpgroups take turns at the tensor cores and the special-function unit, 100 cycles each of a
// block's step: alone one would take 200, together they end nearer to 100.
TEST(Network, GroupsOverlapTheirPipes) {
  PhaseDemand step = phase(Station::tensor, 100, 0);
  step.demand[Station::special] = 100;
  step.grouped = true;
  EXPECT_NEAR(cycle_of(step, 1), 200, 1e-2);
  step.parts = 2;
  step.warps = 2 * kSubPartitions;
  const double two = cycle_of(step, 1);
  step.parts = 4;
  step.warps = 4 * kSubPartitions;
  EXPECT_LT(cycle_of(step, 1), two);
  EXPECT_LT(two, 200);
  EXPECT_GE(cycle_of(step, 1), 100);
}

// A warp has a quarter of an SM's arithmetic: blocks of one warp fill it from four on.
TEST(Network, ABlockOfOneWarpUsesOneSubPartition) {
  PhaseDemand step = phase(Station::arithmetic, 100, 0);
  EXPECT_DOUBLE_EQ(own_pipes(step), 100);
  step.warps = 2;
  EXPECT_DOUBLE_EQ(own_pipes(step), 200);
  step.warps = 1;
  EXPECT_DOUBLE_EQ(own_pipes(step), 400);
  EXPECT_NEAR(cycle_of(step, 1), 400, 1e-2);
  EXPECT_GE(cycle_of(step, 16), 1600);
  EXPECT_LT(cycle_of(step, 16), 1.05 * 1600);
  step.demand = {};
  step.demand[Station::data] = 100;  // one pipe for the whole SM
  EXPECT_DOUBLE_EQ(own_pipes(step), 100);
}

TEST(Network, TheFirstRoundShowsItsLatencyOnce) {
  EXPECT_NEAR(lockstep_cycles(phase(Station::data, 100, 700), 4), 700 + 400, 1e-6);
}

PhaseDemand any_phase() {
  PhaseDemand one;
  for (std::size_t s = 0; s < kStations; ++s) {
    one.demand.at(s) = *rc::gen::inRange(0, 3) == 0 ? *rc::gen::inRange(1, 2000) : 0;
  }
  one.bytes = *rc::gen::inRange(1, 100000);
  one.load_latency = *rc::gen::inRange(0, 2000);
  one.latency = *rc::gen::inRange(0, 2000);
  one.repeats = *rc::gen::inRange(1, 50);
  one.ahead = *rc::gen::inRange(0, 7);
  one.warps = *rc::gen::inRange(1, 32);
  return one;
}

// No station serves more than it can, no block ends before its own service, and a longer latency or
// one more block never make a launch shorter.
RC_GTEST_PROP(NetworkProperty, CyclesAreBoundedAndMonotonic, ()) {
  const std::array phases = {any_phase(), any_phase()};
  const double resident = *rc::gen::inRange(1, 16);
  const double cycles = steady_cycle(phases, resident, Ends::none);
  constexpr double kExact = 1e-4;
  for (std::size_t s = 0; s < kStations; ++s) {
    double demand = 0;
    for (const PhaseDemand& one : phases) demand += one.repeats * one.demand.at(s);
    RC_ASSERT(cycles >= resident * demand * (1 - kExact));
  }
  auto slower = phases;
  slower[0].latency += *rc::gen::inRange(1, 1000);
  RC_ASSERT(steady_cycle(slower, resident, Ends::none) >= cycles * (1 - kExact));
  RC_ASSERT(steady_cycle(phases, resident + 1, Ends::none) >= cycles * (1 - kExact));
}

// A group that waits for half of its products: 50 of 100 cycles show in a step, and at the end of
// the loop the other half once.
TEST(Network, ProductsThatRunBehindShowAtTheEnd) {
  PhaseDemand loop = phase(Station::tensor, 100, 200);
  loop.repeats = 10;
  loop.ahead = 1;
  loop.grouped = true;
  loop.waited_products = 0.5;
  EXPECT_NEAR(steady_cycle({&loop, 1}, 1, Ends::none), 10 * 250, 1e-3);
  EXPECT_NEAR(steady_cycle({&loop, 1}, 1, Ends::last), 10 * 250 + 50, 1e-3);
  // Products that nobody waits for still keep the tensor cores busy.
  loop.latency = 0;
  EXPECT_NEAR(steady_cycle({&loop, 1}, 1, Ends::none), 10 * 100, 1e-3);
}

// Nothing hides the loads of the first step: one step ahead or none, they take as long, queues at
// DRAM included.
TEST(Network, TheFirstStepOfALoopWaitsForItsLoads) {
  PhaseDemand loop = phase(Station::tensor, 100, 0);
  loop.load_latency = 1000;
  loop.ahead = 1;
  EXPECT_NEAR(steady_cycle({&loop, 1}, 1, Ends::both), 1100, 1e-3);
  loop.repeats = 3;
  EXPECT_NEAR(steady_cycle({&loop, 1}, 1, Ends::both), 1100 + 2 * 1000, 1e-3);
  loop.repeats = 1;
  loop.demand[Station::dram] = 400;
  loop.bytes = 1e4;
  const double ahead = steady_cycle({&loop, 1}, 4, Ends::both);
  loop.ahead = 0;
  EXPECT_GE(ahead, steady_cycle({&loop, 1}, 4, Ends::both) * (1 - 1e-9));
}

// Two loops of one pipeline wait for their first copies once.
TEST(Network, LoopsOneAfterTheOtherFillTheirPipelineOnce) {
  PhaseDemand loop = phase(Station::tensor, 100, 0);
  loop.load_latency = 1000;
  loop.repeats = 5;
  loop.ahead = 20;
  const std::array both = {loop, loop};
  EXPECT_NEAR(steady_cycle(both, 1, Ends::both), 2 * 5 * 100 + 1000, 1e-3);
}

}  // namespace
}  // namespace roofcast
