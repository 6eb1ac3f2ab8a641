// Which block of gemm.wgmma computes what, without a GPU: every step of k of every tile once, and
// each partial sum stored and reduced once.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "kernels/gemm/schedule.cuh"

namespace roofcast::cuda::gemm {
namespace {

using Where = std::array<int, 3>;  // matrix, and row and column of a tile's begin

struct Sizes {
  int m, n, k, matrices = 1;
};
Schedule schedule_of(const Sizes& s, int cluster, Split split) {
  return Schedule::of(s.m, s.n, s.k, 128, 192, 64, cluster, {16}, split, s.matrices);
}

/// What the clusters of a grid do together.
struct Covered {
  std::map<Where, std::vector<int>> times;  // how often each step of k is computed
  std::set<int> left;                       // slots of partial sums that the last part reduces

  Covered(const Schedule& schedule, int clusters) {
    for (int first = 0; first < clusters; ++first) {
      for (int i = first; i < schedule.items(); i += clusters) {
        for (int rank = 0; rank < schedule.cluster; ++rank) add(schedule, i, rank);
      }
    }
  }

 private:
  void add(const Schedule& schedule, int index, int rank) {
    const auto item = schedule.item(index, rank);
    EXPECT_LT(item.steps.begin, item.steps.past);
    auto& steps = times[{item.matrix, item.row0, item.column0}];
    steps.resize(static_cast<std::size_t>(schedule.steps));
    for (int s = item.steps.begin; s < item.steps.past; ++s) {
      ++steps.at(static_cast<std::size_t>(s));
    }
    if (item.tile < 0) {
      EXPECT_EQ(item.steps.past - item.steps.begin, schedule.steps);
    } else if (item.part < schedule.split.parts - 1) {
      EXPECT_TRUE(left.insert(schedule.slot(item.tile, item.part, rank)).second);
    } else {
      for (int part = 0; part < item.part; ++part)
        expect_earlier(schedule, item, part, index, rank);
    }
  }
  /// Blocks start in the order of their items: the block that reduces a tile comes after its other
  /// parts, so it waits for none that has not started.
  static void expect_earlier(const Schedule& schedule, const Schedule::Item& last, int part,
                             int index, int rank) {
    const int other = schedule.split.whole + part * schedule.split_tiles() + last.tile;
    EXPECT_LT(other, index);
    const auto item = schedule.item(other, rank);
    EXPECT_EQ(item.part, part);
    EXPECT_EQ(item.matrix, last.matrix);
    EXPECT_EQ(item.row0, last.row0);
    EXPECT_EQ(item.column0, last.column0);
  }
};

void expect_all_once(const Schedule& schedule, const Sizes& s, int clusters) {
  const Covered covered(schedule, clusters);
  const std::vector<int> once(static_cast<std::size_t>(schedule.steps), 1);
  EXPECT_EQ(schedule.steps, (s.k + 63) / 64);
  for (const auto& [tile, steps] : covered.times) EXPECT_EQ(steps, once);
  EXPECT_EQ(covered.times.size(), static_cast<std::size_t>(schedule.tiles() * schedule.cluster));
  for (int matrix = 0; matrix < s.matrices; ++matrix) {
    for (int row = 0; row < s.m; row += 128) {
      for (int column = 0; column < s.n; column += 192) {
        EXPECT_TRUE(covered.times.contains({matrix, row, column}));
      }
    }
  }
  if (!schedule.split.joined) return;
  // Partial sums fill the workspace from end to end.
  EXPECT_EQ(covered.left.size(), static_cast<std::size_t>(schedule.slots()));
  int next = 0;
  for (const int slot : covered.left) EXPECT_EQ(slot, next++);
}

constexpr std::array kSizes = {Sizes{1, 1, 1200},       Sizes{1000, 3000, 777},
                               Sizes{2107, 2224, 1072}, Sizes{640, 192, 6400},
                               Sizes{129, 8000, 1025},  Sizes{300, 700, 640, 4}};

TEST(GemmScheduleTest, PartsOfAllTilesCoverCAndKOnce) {
  for (const Sizes& s : kSizes) {
    for (const int cluster : {1, 2}) {
      for (const int parts : {1, 3}) {
        const int tiles = schedule_of(s, cluster, {}).tiles();
        const Schedule schedule =
            schedule_of(s, cluster, parts > 1 ? Split{0, parts, false} : Split{tiles, 1, false});
        EXPECT_EQ(schedule.items(), tiles * parts);
        EXPECT_EQ(schedule.slots(), 0);
        for (const int clusters : {1, 66}) expect_all_once(schedule, s, clusters);
      }
    }
  }
}

TEST(GemmScheduleTest, TilesOfALastRoundAreSplitAndTheOthersWhole) {
  for (const Sizes& s : kSizes) {
    for (const int cluster : {1, 2}) {
      for (const int clusters : {1, 7, 66, 132}) {
        for (const int parts : {2, 5, 10}) {
          const int tiles = schedule_of(s, cluster, {}).tiles();
          const int whole = in_full_rounds(tiles, clusters);
          EXPECT_EQ(whole % clusters, 0);
          EXPECT_LT(tiles - whole, clusters);
          const Schedule schedule = schedule_of(s, cluster, {whole, parts, true});
          EXPECT_EQ(schedule.items(), whole + (tiles - whole) * parts);
          expect_all_once(schedule, s, clusters);
        }
      }
    }
  }
}

TEST(GemmScheduleTest, ADivisorDividesAllThatAnIndexCanBe) {
  constexpr int kLargest = std::numeric_limits<int>::max();
  for (const int divisor : {1, 2, 3, 5, 7, 64, 100, 127, 128, 641, 6700417, 1 << 30, kLargest}) {
    const Divisor by = Divisor::by(divisor);
    for (const int of : {0, 1, divisor - 1, divisor, kLargest / 2, kLargest / divisor * divisor,
                         kLargest / divisor * divisor - 1, kLargest - 1, kLargest}) {
      EXPECT_EQ(by.quotient(of), of / divisor) << of << " / " << divisor;
      EXPECT_EQ(by.remainder(of), of % divisor);
    }
  }
}

TEST(GemmScheduleTest, TilesComeInGroups) {
  for (const Sizes& s : kSizes) {
    const int tiles = schedule_of(s, 1, {}).tiles();
    const Schedule schedule = schedule_of(s, 1, {tiles, 1, false});
    for (int i = 0; i < tiles / s.matrices; ++i) {
      const Place place = grouped_tile(i, schedule.down, schedule.across, schedule.groups.count);
      EXPECT_EQ(schedule.item(i, 0).row0, place.row * 128);
      EXPECT_EQ(schedule.item(i, 0).column0, place.column * 192);
    }
  }
}

TEST(GemmScheduleTest, GroupsOfColumnsAreThoseOfRowsTransposed) {
  for (const Sizes& s : kSizes) {
    const auto swap_ab_of = [&s](Split split) {
      return Schedule::of(s.m, s.n, s.k, 128, 192, 64, 1, {3, true}, split, s.matrices);
    };
    const int tiles = swap_ab_of({}).tiles();
    const Schedule schedule = swap_ab_of({tiles, 1, false});
    expect_all_once(schedule, s, 7);
    for (int i = 0; i < tiles / s.matrices; ++i) {
      const Place place = grouped_tile(i, schedule.across, schedule.down, 3);
      EXPECT_EQ(schedule.item(i, 0).row0, place.column * 128);
      EXPECT_EQ(schedule.item(i, 0).column0, place.row * 192);
    }
  }
}

TEST(GemmScheduleTest, ABatchIsScheduledMatrixAfterMatrix) {
  const Schedule one = schedule_of({300, 700, 640}, 2, {8, 1, false});
  const Schedule four = schedule_of({300, 700, 640, 4}, 2, {32, 1, false});
  EXPECT_EQ(four.tiles(), 4 * one.tiles());
  for (int i = 0; i < four.items(); ++i) {
    EXPECT_EQ(four.item(i, 0).matrix, i / one.tiles());
    EXPECT_EQ(four.item(i, 1).row0, one.item(i % one.tiles(), 1).row0);
  }
}

}  // namespace
}  // namespace roofcast::cuda::gemm
