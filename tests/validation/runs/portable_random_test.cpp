#include "validation/runs/portable_random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace roofcast::validation {
namespace {

TEST(PortableRandom, IsTheSameEverywhere) {
  PortableRandom random(7, 3);
  EXPECT_EQ(random.below(1'000'000'007), 71996408U);
  EXPECT_EQ(random.log_uniform(1, 1'000'000), 270);
  EXPECT_EQ(random.log_uniform(1, std::int64_t{1} << 40), 505);
}

TEST(PortableRandom, StreamsOfSeedsAndPositionsDiffer) {
  constexpr std::uint64_t kMany = std::uint64_t{1} << 60;
  const auto first = [](std::uint64_t seed, std::uint64_t position) {
    return PortableRandom(seed, position).below(kMany);
  };
  EXPECT_EQ(first(1, 2), first(1, 2));
  EXPECT_NE(first(1, 2), first(2, 1));
  EXPECT_NE(first(1, 2), first(1, 3));
  EXPECT_NE(first(1, 2), first(1 + (std::uint64_t{1} << 32), 2));
}

TEST(PortableRandom, BelowIsUniform) {
  PortableRandom random(1, 0);
  std::array<int, 6> counts{};
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) ++counts[random.below(counts.size())];
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 6, 400);  // four deviations
  EXPECT_EQ(random.below(1), 0U);
}

TEST(PortableRandom, LogUniformHasAsManyInEachFactor) {
  PortableRandom random(1, 0);
  constexpr std::int64_t kFrom = 100;
  constexpr std::int64_t kTo = 1'000'000;  // four decades
  std::array<int, 4> decades{};
  constexpr int kDraws = 40'000;
  for (int i = 0; i < kDraws; ++i) {
    const std::int64_t value = random.log_uniform(kFrom, kTo);
    ASSERT_GE(value, kFrom);
    ASSERT_LE(value, kTo);
    const auto decade =
        static_cast<std::size_t>(std::log10(static_cast<double>(value)) - 2 + 1e-12);
    ++decades[std::min<std::size_t>(decade, 3)];
  }
  for (const int count : decades) EXPECT_NEAR(count, kDraws / 4, 400);
}

TEST(PortableRandom, LogUniformReachesBothEnds) {
  PortableRandom random(1, 0);
  std::array<int, 4> counts{};
  for (int i = 0; i < 4000; ++i) ++counts[static_cast<std::size_t>(random.log_uniform(5, 7) - 4)];
  EXPECT_EQ(counts[0], 0);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_GT(counts[i], 1000) << i;
  EXPECT_EQ(random.log_uniform(9, 9), 9);
}

}  // namespace
}  // namespace roofcast::validation
