#include "model/laws/makespan.hpp"

#include <gtest/gtest.h>

#include <array>

#include "model/laws/pipeline.hpp"

namespace roofcast {
namespace {

TEST(Makespan, EqualJobsRunInRounds) {
  const std::array jobs = {Jobs{5, 2.0}};
  EXPECT_DOUBLE_EQ(makespan(jobs, 2, Assignment::hardware), 3 * 2);
  EXPECT_DOUBLE_EQ(makespan(jobs, 2, Assignment::persistent), 3 * 2);
  EXPECT_DOUBLE_EQ(makespan(jobs, 5, Assignment::hardware), 2);
  EXPECT_EQ(makespan(std::array{Jobs{3, 0.0}}, 2, Assignment::hardware), 0);
}

TEST(Makespan, AJobBeginsWhereAPlaceIsFreeFirst) {
  // The long one holds a place to 5, the three short ones follow each other in the other.
  const std::array jobs = {Jobs{1, 5.0}, Jobs{3, 1.0}};
  EXPECT_DOUBLE_EQ(makespan(jobs, 2, Assignment::hardware), 5);
  // By number, place 0 takes the long one and the third.
  EXPECT_DOUBLE_EQ(makespan(jobs, 2, Assignment::persistent), 5 + 1);
}

TEST(Makespan, ALateLongJobIsTheTail) {
  // Two rounds of 1, then one of 3 beside an empty place.
  EXPECT_DOUBLE_EQ(makespan(std::array{Jobs{4, 1.0}, Jobs{1, 3.0}}, 2, Assignment::hardware), 5);
  // Places are free at 1 and 2; jobs of 2 end at 3 and 4.
  const std::array uneven = {Jobs{3, 1.0}, Jobs{2, 2.0}};
  EXPECT_DOUBLE_EQ(makespan(uneven, 2, Assignment::hardware), 4);
  EXPECT_DOUBLE_EQ(makespan(uneven, 2, Assignment::persistent), 4);
}

TEST(Pipeline, BuffersHideAWaitBehindStepsAhead) {
  EXPECT_EQ(exposed_cycles(265, 1, 100), 265);
  EXPECT_EQ(exposed_cycles(265, 2, 100), 165);
  EXPECT_EQ(exposed_cycles(265, 3, 100), 65);
  EXPECT_EQ(exposed_cycles(265, 4, 100), 0);
}

}  // namespace
}  // namespace roofcast
