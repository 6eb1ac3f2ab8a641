#include "model/traffic_ladder.hpp"

#include <gtest/gtest.h>

namespace roofcast {
namespace {

/// Each level in turn: 1 B asked for by every lane of a warp, 64 B moved for it.
Prediction strided() {
  Prediction prediction;
  Work& work = prediction.work;
  work.compulsory = work.requested = {400, 400};
  work.l1 = {3200, 400};
  work.l2 = {3200, 400};
  work.dram_footprint = {6400, 400};
  work.dram = {6400, 400};
  prediction.launches = 1;
  return prediction;
}

TEST(TrafficLadder, HoldsBytesAndFactorsOfEveryLevel) {
  const auto rungs = traffic_ladder(strided());
  ASSERT_EQ(rungs.size(), 4U);
  EXPECT_EQ(name(rungs[0].level), "requested");
  EXPECT_EQ(name(rungs[3].level), "dram");
  EXPECT_EQ(rungs[1].traffic.read_bytes, 3200);
  EXPECT_EQ(rungs[1].traffic.write_bytes, 400);
  EXPECT_FALSE(rungs[0].to_above.has_value());
  EXPECT_EQ(rungs[0].to_requested, 1.0);
  EXPECT_EQ(rungs[1].to_above, 4.5);
  EXPECT_EQ(rungs[2].to_above, 1.0);
  EXPECT_EQ(rungs[3].to_requested, 8.5);
}

TEST(TrafficLadder, PutsTheNumbersInWords) {
  const auto rungs = traffic_ladder(strided());
  EXPECT_EQ(rungs[0].reason, "compulsory: each byte once");
  EXPECT_EQ(rungs[1].reason, "whole sectors: 4.5 B moved for each byte used");
  EXPECT_EQ(rungs[2].reason, "nothing is found again in L1");
  EXPECT_EQ(rungs[3].reason, "whole accesses: 2 B read for each byte used");
}

TEST(TrafficLadder, SaysWhoAnswersRepeats) {
  Prediction prediction = strided();
  Work& work = prediction.work;
  work.requested = {8000, 400};
  work.shared_bytes = 1;
  work.l1 = {6000, 400};
  work.l2 = {1600, 400};
  work.dram = {1200, 400};
  work.dram_footprint = {400, 400};
  const auto rungs = traffic_ladder(prediction);
  EXPECT_EQ(
      rungs[0].reason,
      "each byte is asked for 10.5 times on average; shared memory answers the other repeats");
  EXPECT_EQ(rungs[1].reason, "lanes of a warp share what they read");
  EXPECT_EQ(rungs[2].reason, "L1 answers the repeats");
  EXPECT_EQ(rungs[3].reason, "L2 answers repeats, not all: each byte is read 3 times");
}

TEST(TrafficLadder, SaysWhatStaysInL2) {
  Prediction prediction = strided();
  prediction.work.dram.write_bytes = 300;
  EXPECT_EQ(traffic_ladder(prediction)[3].reason,
            "whole accesses: 2 B read for each byte used; 25% of what is written stays in L2 when "
            "the kernel ends");
  prediction.work.dram.write_bytes = 0;
  prediction.launches = 2;
  EXPECT_EQ(traffic_ladder(prediction)[3].reason,
            "whole accesses: 2 B read for each byte used; what is written stays in L2");
}

TEST(TrafficLadder, ThePlansReasonsComeFirstAndOnce) {
  Prediction prediction = strided();
  prediction.traffic_reasons = {{Level::l1, "stride 16: 32 B moved for 4 B used"},
                                {Level::l1, "stride 16: 32 B moved for 4 B used"},
                                {Level::l1, "another"},
                                {Level::dram, "64 B moved for 4 B used"}};
  prediction.work.dram.write_bytes = 0;
  const auto rungs = traffic_ladder(prediction);
  EXPECT_EQ(rungs[1].reason, "stride 16: 32 B moved for 4 B used; another");
  EXPECT_EQ(rungs[3].reason,
            "64 B moved for 4 B used; what is written stays in L2 when the kernel ends");
}

TEST(TrafficLadder, SaysWhereNothingIsFoundAgain) {
  Prediction prediction = strided();
  prediction.work.dram.read_bytes = prediction.work.l2.read_bytes;
  EXPECT_EQ(traffic_ladder(prediction)[3].reason, "nothing is found again in L2");
  prediction.work.l2 = {3600, 400};  // 3600 B in L1
  EXPECT_EQ(traffic_ladder(prediction)[2].reason, "sectors leave L1 before all of them is used");
}

TEST(TrafficLadder, SaysWhatIsNotAskedFor) {
  Prediction prediction = strided();
  prediction.work.requested = {300, 400};
  EXPECT_EQ(traffic_ladder(prediction)[0].reason, "less than all of the arrays");
}

// Three digits show no difference of half a percent.
TEST(TrafficLadder, LessThanAFigureShowsIsNoDifference) {
  Prediction prediction = strided();
  Work& work = prediction.work;
  work.requested = {1000, 0};
  work.l1 = {1004, 0};
  EXPECT_EQ(traffic_ladder(prediction)[1].reason, "full sectors");
  work.l1 = {1006, 0};
  EXPECT_NE(traffic_ladder(prediction)[1].reason, "full sectors");
  // 1000 B are written. If 5 reach DRAM, 99.5% stay, which is not called all; if 3, it is.
  work.l2.read_bytes = work.dram.read_bytes;
  work.dram_footprint.write_bytes = 1000;
  work.dram.write_bytes = 6;
  EXPECT_EQ(traffic_ladder(prediction)[3].reason,
            "nothing is found again in L2; 99.4% of what is written stays in L2 when the kernel "
            "ends");
  work.dram.write_bytes = 3;
  EXPECT_EQ(traffic_ladder(prediction)[3].reason,
            "nothing is found again in L2; what is written stays in L2 when the kernel ends");
  work.dram.write_bytes = 996;
  EXPECT_EQ(traffic_ladder(prediction)[3].reason, "nothing is found again in L2");
}

TEST(TrafficLadder, IsEmptyWithoutRequests) {
  EXPECT_TRUE(traffic_ladder(Prediction{}).empty());
}

struct Figure {
  double ratio;
  const char* text;
};

class LadderFigures : public ::testing::TestWithParam<Figure> {};

TEST_P(LadderFigures, HaveThreeDigits) {
  Prediction prediction = strided();
  prediction.work.requested = {1000, 0};
  prediction.work.l1 = {1000 * GetParam().ratio, 0};
  EXPECT_EQ(traffic_ladder(prediction)[1].reason,
            std::string("whole sectors: ") + GetParam().text + " B moved for each byte used");
}

INSTANTIATE_TEST_SUITE_P(Table, LadderFigures,
                         ::testing::Values(Figure{1.006, "1.01"}, Figure{1.5, "1.5"},
                                           Figure{9.996, "10"}, Figure{16.04, "16"},
                                           Figure{16.06, "16.1"}, Figure{99.6, "99.6"},
                                           Figure{99.96, "100"}, Figure{2731.4, "2731"}));

}  // namespace
}  // namespace roofcast
