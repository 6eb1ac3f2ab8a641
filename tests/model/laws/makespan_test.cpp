#include "model/laws/makespan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <queue>
#include <vector>

namespace roofcast {
namespace {

TEST(Makespan, EqualJobsRunInRounds) {
  const std::array jobs = {Jobs{5, 2.0}};
  EXPECT_DOUBLE_EQ(makespan(jobs, 2), 3 * 2);
  EXPECT_DOUBLE_EQ(makespan(jobs, 5), 2);
  EXPECT_EQ(makespan(std::array{Jobs{3, 0.0}}, 2), 0);
}

TEST(Makespan, AJobBeginsWhereAPlaceIsFreeFirst) {
  // The long one holds a place to 5, the three short ones follow each other in the other.
  const std::array jobs = {Jobs{1, 5.0}, Jobs{3, 1.0}};
  EXPECT_DOUBLE_EQ(makespan(jobs, 2), 5);
}

TEST(Makespan, ALateLongJobIsTheTail) {
  // Two rounds of 1, then one of 3 beside an empty place.
  EXPECT_DOUBLE_EQ(makespan(std::array{Jobs{4, 1.0}, Jobs{1, 3.0}}, 2), 5);
  // Places are free at 1 and 2; jobs of 2 end at 3 and 4.
  const std::array uneven = {Jobs{3, 1.0}, Jobs{2, 2.0}};
  EXPECT_DOUBLE_EQ(makespan(uneven, 2), 4);
}

// Four places, a dozen of two kinds: rounds of 2 end at 2 (four) and, two of them, at 4; the jobs
// of 5 fill the two free places at 2, and the others at 4.
TEST(Makespan, MixedClassesFillPlacesAsTheyGetFree) {
  const std::array jobs = {Jobs{6, 2.0}, Jobs{4, 5.0}, Jobs{2, 1.0}};
  EXPECT_DOUBLE_EQ(makespan(jobs, 4), 4 + 5);
  // One long job first: the free places at 5 take nothing before the short ones end.
  const std::array long_first = {Jobs{2, 5.0}, Jobs{9, 1.0}};
  EXPECT_DOUBLE_EQ(makespan(long_first, 4), 5);  // 9 on two places, to 5
}

// The definition: each job in order to the place that is free first.
double one_by_one(const std::vector<Jobs>& jobs, std::int64_t slots) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (std::int64_t i = 0; i < slots; ++i) free_at.push(0);
  double end = 0;
  for (const Jobs& some : jobs) {
    for (std::int64_t i = 0; i < some.count; ++i) {
      const double ends = free_at.top() + some.duration;
      free_at.pop();
      free_at.push(ends);
      end = std::max(end, ends);
    }
  }
  return end;
}

RC_GTEST_PROP(Makespan, IsThatOfOneJobAfterTheOther, ()) {
  const auto slots = *rc::gen::inRange<std::int64_t>(1, 9);
  const auto jobs = *rc::gen::container<std::vector<Jobs>>(rc::gen::construct<Jobs>(
      rc::gen::inRange<std::int64_t>(1, 60),
      rc::gen::map(rc::gen::inRange(1, 40), [](int i) { return 0.5 * i; })));
  RC_PRE(!jobs.empty());
  RC_ASSERT(makespan(jobs, slots) == one_by_one(jobs, slots));
}

// Whole rounds at once give what one job after the other gives.
TEST(Makespan, ManyRoundsAreExact) {
  const std::array jobs = {Jobs{3, 2.0}, Jobs{4000001, 3.0}};
  // Two places: 0 is free at 4, 1 at 2. Both then take 2,000,000, the last job goes to place 1.
  EXPECT_DOUBLE_EQ(makespan(jobs, 2), 2 + 2000001 * 3.0);
}

// Two processors and three jobs: a long one shares its processor with the third until that has
// ended. Beside each other they take twice as long.
TEST(SharedMakespan, AShortJobLeavesItsProcessorToTheLongOne) {
  const std::array<std::int64_t, 2> counts = {2, 1};
  const std::array lives = {std::vector<double>{10, 20}, std::vector<double>{2, 4}};
  // The short job ends at 4, when a fifth of the long one is done; the rest takes 8.
  EXPECT_DOUBLE_EQ(shared_makespan(counts, lives, 2), 4 + 8);
}

TEST(SharedMakespan, JobsOfOneClassEndTogether) {
  const std::array<std::int64_t, 1> counts = {5};
  const std::array lives = {std::vector<double>{3, 5, 8}};
  EXPECT_DOUBLE_EQ(shared_makespan(counts, lives, 2), 8);  // three on the first
  EXPECT_DOUBLE_EQ(shared_makespan(counts, lives, 8), 3);
}

// The second class begins on the second processor, and a long and a short job meet there alone.
TEST(SharedMakespan, LooksAtEachProcessorWhereAClassBegins) {
  const std::array<std::int64_t, 3> counts = {1, 2, 1};
  const std::array lives = {std::vector<double>{1, 1}, std::vector<double>{4, 6},
                            std::vector<double>{4, 6}};
  EXPECT_DOUBLE_EQ(shared_makespan(counts, lives, 2), 6);
}

}  // namespace
}  // namespace roofcast
