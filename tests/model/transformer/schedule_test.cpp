#include "model/transformer/schedule.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "model/constants/steps.hpp"

namespace roofcast::transformer {
namespace {

constexpr double kShare = constants::kTransferShare;

Use launch(double waves, double dram = 0) {
  Use use;
  use.on_sms = 1;
  use.waves = waves;
  use.dram = dram;
  return use;
}

Use transfer(double held_sms, double dram = 0) {
  Use use;
  use.transfer = true;
  use.held_sms = held_sms;
  use.dram = dram;
  return use;
}

double sum_s(const std::vector<Node>& nodes) {
  double sum = 0;
  for (const Node& node : nodes) sum += node.alone_s;
  return sum;
}

// By hand: 4 waves are 5 on four fifths of the SMs, so the launch runs at 0.8 while the transfer
// does for 4 s what takes it 4 s × kShare alone, and at 1 for the 6.8 s that are left.
TEST(Schedule, ATransferTakesSmsWhileItRuns) {
  const Program when = schedule({{{10, launch(4)}}, {{4 * kShare, transfer(0.2)}}});
  EXPECT_NEAR(when.beside[0].end_s, 4, 1e-12);
  EXPECT_NEAR(when.total_s, 10.8, 1e-12);
}

// By hand: half a wave fits into four fifths of the SMs; a wave does not.
TEST(Schedule, BlocksThatStillFitInAWaveLoseNothing) {
  EXPECT_EQ(rates(launch(0.5), transfer(0.2)).first, 1);
  EXPECT_EQ(rates(launch(1), transfer(0.2)).first, 0.5);
  EXPECT_NEAR(rates(launch(1000), transfer(0.2)).first, 0.8, 1e-12);
  Use host;
  EXPECT_EQ(rates(host, transfer(0.2)).first, 1);
}

// By hand: a copy that DRAM bounds and a transfer that asks for 0.6 of DRAM from a fifth of the
// SMs: each SM gets the same, so 0.8 and 0.2 / 0.6. One that asks for less than its SMs' share gets
// it all. Beside a kernel it asks for kShare of what it asks for alone.
TEST(Schedule, EachSmGetsTheSameOfDram) {
  Use copy;
  copy.dram = 1;
  const Rates both = rates(copy, transfer(0.2, 0.6));
  EXPECT_NEAR(both.first, 0.8, 1e-12);
  EXPECT_NEAR(both.second, 0.2 / 0.6, 1e-12);
  EXPECT_NEAR(rates(copy, transfer(0.2, 0.1)).first, 1 - 0.1 * kShare, 1e-12);
  EXPECT_NEAR(rates(copy, transfer(0.2, 0.1)).second, kShare, 1e-12);
  copy.dram = 0.5;
  EXPECT_NEAR(rates(copy, transfer(0.2, 0.9)).first, 1, 1e-12);
  EXPECT_NEAR(rates(copy, transfer(0.2, 0.9)).second, 0.5 / 0.9, 1e-12);
  const Rates swapped = rates(transfer(0.2, 0.9), copy);
  EXPECT_NEAR(swapped.first, 0.5 / 0.9, 1e-12);
}

// By hand: the second transfer finds a launch running and begins with the next one.
TEST(Schedule, ATransferBeginsWithALaunch) {
  const Program when =
      schedule({{{5, launch(0.5)}, {5, launch(0.5)}}, {{1, transfer(0.2)}, {1, transfer(0.2)}}});
  EXPECT_EQ(when.beside[0].start_s, 0);
  EXPECT_EQ(when.beside[1].start_s, 5);
  EXPECT_EQ(when.total_s, 10);
}

// Transfers begin at once while the GPU waits for the host; two transfers share a link.
TEST(Schedule, NothingKeepsATransferOutWhereNoLaunchRuns) {
  const Program host = schedule({{{5, Use{}}}, {{1, transfer(0.2)}, {1, transfer(0.2)}}});
  EXPECT_EQ(host.beside[1].start_s, 1);
  const Program link = schedule({{{2, transfer(0.2)}}, {{2, transfer(0.2)}}});
  EXPECT_EQ(link.total_s, 4);
}

TEST(Schedule, NodesWaitForThoseOfTheOtherStream) {
  Program program;
  program.in_turn = {{1, launch(1)}, {1, launch(1), 1}};
  program.beside = {{3, transfer(0.2), 1}};
  const Program when = schedule(program);
  EXPECT_EQ(when.beside[0].start_s, 1);
  EXPECT_EQ(when.in_turn[1].start_s, 4);
  program.in_turn[0].after = 1;
  EXPECT_THROW(schedule(program), std::logic_error);
}

Program random_program() {
  const auto share = [] { return *rc::gen::inRange(0, 101) / 100.0; };
  const auto nodes = [&](bool beside) {
    std::vector<Node> all(static_cast<std::size_t>(*rc::gen::inRange(0, 12)));
    for (Node& node : all) {
      node.alone_s = *rc::gen::inRange(0, 1000) * 1e-6;
      if (beside || *rc::gen::inRange(0, 4) == 0) {
        node.use = transfer(0.01 + share() / 2.1, share());
      } else {
        node.use = launch(*rc::gen::inRange(0, 400) / 40.0, share());
        node.use.on_sms = share();
      }
    }
    return all;
  };
  Program program{nodes(false), nodes(true)};
  // A node waits only for earlier ones of the other stream, so that there is no cycle.
  for (std::size_t i = 0; i < program.in_turn.size(); ++i) {
    const std::size_t most = std::min(i, program.beside.size());
    if (most > 0 && *rc::gen::inRange(0, 3) == 0) program.in_turn[i].after = most;
  }
  for (std::size_t i = 0; i < program.beside.size(); ++i) {
    const std::size_t most = std::min(i, program.in_turn.size());
    if (most > 0 && *rc::gen::inRange(0, 3) == 0) program.beside[i].after = most;
  }
  return program;
}

RC_GTEST_PROP(ScheduleProperty, LiesBetweenTheLongerStreamAndBoth, ()) {
  const Program program = random_program();
  const double in_turn_s = sum_s(program.in_turn), beside_s = sum_s(program.beside);
  const Program when = schedule(program);
  constexpr double kRounding = 1e-9;
  RC_ASSERT(when.total_s >= std::max(in_turn_s, beside_s) * (1 - kRounding));
  RC_ASSERT(when.total_s <= (in_turn_s + beside_s) * (1 + kRounding));
  for (std::size_t i = 0; i < program.in_turn.size(); ++i) {
    RC_ASSERT(when.in_turn[i].duration_s() >= program.in_turn[i].alone_s - kRounding);
    if (i > 0) RC_ASSERT(when.in_turn[i].start_s >= when.in_turn[i - 1].end_s);
  }
}

}  // namespace
}  // namespace roofcast::transformer
