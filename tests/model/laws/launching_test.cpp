#include "model/laws/launching.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "model/predict.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

constexpr double kMicro = 1e-6;
constexpr LaunchCosts kStream = {3 * kMicro, 1 * kMicro, 2 * kMicro};

// 0.5 µs of a first access, as for new data, and 700 cycles of DRAM latency at 2 GHz.
TEST(Launching, CodeThatNoCacheHasIsWaitedForTwice) {
  Gpu gpu;
  gpu.sustained.first_access_s = 0.5 * kMicro;
  gpu.sustained.latency.dram_cycles = 700;
  for (const Start how : {Start::cold_code, Start::code}) {
    EXPECT_NEAR(code_fetch_s(how, false, 2e9, gpu), 0.85 * kMicro, 1e-15);
  }
  EXPECT_EQ(code_fetch_s(Start::at_once, false, 2e9, gpu), 0);
}

TEST(Launching, CodeBetweenLaunchesBackToBackComesFromL2OrIsKept) {
  Gpu gpu;
  gpu.sustained.first_access_s = 0.5 * kMicro;
  gpu.sustained.latency.dram_cycles = 700;
  EXPECT_NEAR(code_fetch_s(Start::code, true, 2e9, gpu), 0.5 * kMicro, 1e-15);
  EXPECT_NEAR(code_fetch_s(Start::kept_code, false, 2e9, gpu), 0.5 * kMicro, 1e-15);
  EXPECT_EQ(code_fetch_s(Start::cold_code, true, 2e9, gpu), 0);
}

// The first starts at 3 µs; the second is in the queue long before the first ends.
TEST(Launching, TheQueueHidesLongKernels) {
  const std::array runs = {LaunchRun{1, 10 * kMicro}, LaunchRun{2, 5 * kMicro}};
  const Schedule found = schedule(runs, kStream);
  EXPECT_NEAR(found.total_s, (3 + 10 + 2 * (1 + 5)) * kMicro, 1e-15);
  EXPECT_EQ(found.waiting_s, 0);
  EXPECT_EQ(*launching_note(kStream, found),
            "the queue hides the launches: 2 µs to submit each of 3 kernels of 6.67 µs");
}

// 0.5 µs each: kernel i starts at 3 + 2·i. The device is busy 3 + 4·0.5 + 3·1 = 8 of 9.5 µs.
TEST(Launching, ShortKernelsRunAtTheHostsPace) {
  const std::array runs = {LaunchRun{4, 0.5 * kMicro}};
  const Schedule found = schedule(runs, kStream);
  EXPECT_NEAR(found.total_s, (3 + 3 * 2 + 0.5) * kMicro, 1e-15);
  EXPECT_NEAR(found.waiting_s, 1.5 * kMicro, 1e-15);
  EXPECT_EQ(*launching_note(kStream, found),
            "bound by the host: 2 µs to submit each of 4 kernels of 500 ns; the device waits "
            "1.5 µs");
}

// A long kernel first gives the host the time to submit the three short ones behind it: they are
// there at 3 + 2·i = 5, 7, 9 and it ends at 11.
TEST(Launching, ALongKernelFillsTheQueue) {
  const std::array runs = {LaunchRun{1, 8 * kMicro}, LaunchRun{3, 0.5 * kMicro}};
  const Schedule found = schedule(runs, kStream);
  EXPECT_NEAR(found.total_s, (11 + 3 * 1.5) * kMicro, 1e-15);
  EXPECT_EQ(found.waiting_s, 0);
}

TEST(Launching, WorkBeforeTheChainFillsItToo) {
  const std::array runs = {LaunchRun{4, 0.5 * kMicro}};
  EXPECT_NEAR(schedule(runs, kStream, 1 * kMicro).total_s, (3 + 3 * 2 - 1 + 0.5) * kMicro, 1e-15);
  EXPECT_EQ(schedule(runs, kStream, kQueueNeverEmpty).waiting_s, 0);
}

// The first starts at 3 and ends at 3.5; the long ones behind it are there from 5 on: 5 + 10, and
// two more of 1 + 10 each. The device is busy 3 + 0.5 + 3·(1 + 10) of that.
TEST(Launching, LongKernelsBehindAShortOneWaitOnce) {
  const std::array runs = {LaunchRun{1, 0.5 * kMicro}, LaunchRun{3, 10 * kMicro}};
  const Schedule found = schedule(runs, kStream);
  EXPECT_NEAR(found.total_s, (5 + 10 + 2 * 11) * kMicro, 1e-15);
  EXPECT_NEAR(found.waiting_s, 0.5 * kMicro, 1e-15);
}

TEST(Launching, AGraphIsSubmittedAtOnce) {
  const std::array runs = {LaunchRun{4, 0.5 * kMicro}};
  const LaunchCosts graph = {1 * kMicro, 1 * kMicro, std::nullopt};
  const Schedule found = schedule(runs, graph);
  EXPECT_NEAR(found.total_s, 4 * 1.5 * kMicro, 1e-15);
  EXPECT_FALSE(launching_note(graph, found));
}

TEST(Launching, OneKernelNeedsNoQueue) {
  const std::array runs = {LaunchRun{1, 0.5 * kMicro}};
  const Schedule found = schedule(runs, kStream);
  EXPECT_NEAR(found.total_s, 3.5 * kMicro, 1e-15);
  EXPECT_FALSE(launching_note(kStream, found));
}

// The closed form of a run of equal kernels against the kernels one by one.
RC_GTEST_PROP(LaunchingProperty, EqualKernelsTogetherOrApart, ()) {
  std::vector<LaunchRun> together, apart;
  for (int run = 0; run < 4; ++run) {
    const int count = *rc::gen::inRange(1, 6);
    const double running_s = *rc::gen::inRange(0, 50) * 1e-7;
    together.push_back({static_cast<double>(count), running_s});
    apart.insert(apart.end(), static_cast<std::size_t>(count), LaunchRun{1, running_s});
  }
  const double queued_s = *rc::gen::inRange(0, 100) * 1e-7;
  const double a = schedule(together, kStream, queued_s).total_s;
  const double b = schedule(apart, kStream, queued_s).total_s;
  RC_ASSERT(std::abs(a - b) <= 1e-12 * b);
}

TEST(Launching, AChainOfSmallKernelsIsBoundByTheHost) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.stream_launch_s = 3 * kMicro;
  gpu.sustained.graph_launch_s = 0.5 * kMicro;
  gpu.sustained.host_submit_s = 5 * kMicro;
  const KernelRef chain = find_kernel("elementwise.gelu.unfused");
  Problem problem{.dtype = DType::fp32, .values = {1 << 16}};
  check(chain, problem, 1);
  const Prediction cold = predict(chain, problem, gpu);
  EXPECT_GE(cold.time->expected_s, (3 + 8 * 5) * kMicro);
  ASSERT_FALSE(cold.notes.empty());
  EXPECT_EQ(cold.notes.front().find("bound by the host: 5 µs to submit each of 9 kernels"), 0U);
  const Prediction graph = predict(chain, problem, gpu, {.cache = CacheState::steady});
  EXPECT_LT(graph.time->expected_s, 40 * kMicro);
}

TEST(Launching, AGraphSavesTheHostsTimeAndEarlyStartsSaveOfTheGraphs) {
  Gpu gpu = testing::hopper_like();
  gpu.sustained.stream_launch_s = 3 * kMicro;
  gpu.sustained.launch_gap_s = 2 * kMicro;
  gpu.sustained.graph_launch_s = 1 * kMicro;
  gpu.sustained.host_submit_s = 5 * kMicro;
  const LaunchCosts graph =
      launch_costs(gpu, {.cache = CacheState::cold, .launch = LaunchMode::graph});
  EXPECT_EQ(graph.first_s, 3 * kMicro);  // nothing before it hides the first launch
  EXPECT_EQ(graph.next_s, 1 * kMicro);
  EXPECT_FALSE(graph.host_submit_s);
  const LaunchCosts queued =
      launch_costs(gpu, {.cache = CacheState::steady, .launch = LaunchMode::stream});
  EXPECT_EQ(queued.first_s, 2 * kMicro);
  const LaunchCosts early =
      launch_costs(gpu, {.cache = CacheState::steady, .launch = LaunchMode::pdl});
  EXPECT_LT(early.first_s, 1 * kMicro);
  EXPECT_EQ(early.first_s, early.next_s);
}

// Launch 3 µs, kernel 10, gap 1, kernel 5. No gap where the second launch's blocks wait on the SMs.
TEST(Schedule, ALaunchThatStartsEarlyFollowsAtOnce) {
  const LaunchCosts costs = {.first_s = 3e-6, .next_s = 1e-6};
  std::vector<LaunchRun> runs = {{1, 10e-6}, {1, 5e-6}};
  EXPECT_DOUBLE_EQ(schedule(runs, costs).total_s, 19e-6);
  runs[1].starts_early = true;
  EXPECT_DOUBLE_EQ(schedule(runs, costs).total_s, 18e-6);
  EXPECT_EQ(schedule(runs, costs).waiting_s, 0);
}

TEST(Schedule, NothingToLaunchTakesNoTime) {
  const LaunchCosts costs = {.first_s = 3e-6, .next_s = 1e-6, .host_submit_s = 2e-6};
  EXPECT_EQ(schedule({}, costs, 0).total_s, 0);
  EXPECT_EQ(schedule({}, costs, 0).waiting_s, 0);
  EXPECT_EQ(schedule(std::vector<LaunchRun>{{0, 1e-3}}, costs, 0).total_s, 0);
}

}  // namespace
}  // namespace roofcast
