#include "model/counting/coalescing.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace roofcast {
namespace {

TEST(RandomAccess, ACacheThatHoldsAllMissesEachPieceOnce) {
  EXPECT_DOUBLE_EQ(random_misses(2, 4, 4), 1.75);  // 4·(1 - (3/4)²)
  EXPECT_DOUBLE_EQ(random_misses(2, 4, 9), 1.75);
  EXPECT_NEAR(random_misses(1000, 4, 4), 4, 1e-9);
}

// 4 pieces, 2 held: full after ln(1/2) / ln(3/4) = 2.409 draws, from there every second one misses.
TEST(RandomAccess, ASmallCacheMissesItsShareOnceFull) {
  const double until_full = std::log(0.5) / std::log(0.75);
  EXPECT_DOUBLE_EQ(random_misses(2, 4, 2), 1.75);
  EXPECT_NEAR(random_misses(10, 4, 2), 2 + (10 - until_full) / 2, 1e-9);
  EXPECT_NEAR(random_misses(10, 4, 2), 5.7953, 1e-4);
  EXPECT_EQ(random_misses(10, 4, 0), 10);
}

TEST(RandomAccess, NothingHitsWithoutACache) {
  EXPECT_EQ(sector_hit_share(100, 0, 0), 0);
}

TEST(RandomAccess, EverythingHitsOnceTheTableFits) {
  EXPECT_NEAR(sector_hit_share(10, 0, 100), 1, 1e-9);
}

// Two of four lines fit, so a line is present half of the time; an access wants one of its four
// sectors: ¼·½ / (1 - ¾·½).
TEST(RandomAccess, ALineStaysUntilAsManyOthersWereTouched) {
  EXPECT_NEAR(sector_hit_share(4, 0, 2), 0.2, 1e-6);
}

// Two accesses touch 4·(1 - (3/4)²) = 1.75 lines of the table and bring 2·0.5 others: 2.75 in all.
TEST(RandomAccess, StreamedLinesPushTheTableOut) {
  const double there = 1.75 / 4;
  EXPECT_NEAR(sector_hit_share(4, 0.5, 2.75), there / 4 / (1 - 0.75 * there), 1e-6);
}

}  // namespace
}  // namespace roofcast
