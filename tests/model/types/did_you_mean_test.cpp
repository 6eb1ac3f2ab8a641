#include "model/types/did_you_mean.hpp"

#include <gtest/gtest.h>

#include <array>

namespace roofcast {
namespace {

TEST(DidYouMean, NearestWordIfNearEnough) {
  const std::array<std::string_view, 3> known = {"gemm.tiled", "gemm.naive", "stream.copy"};
  EXPECT_EQ(closest("gem.tiled", known), "gemm.tiled");
  EXPECT_EQ(closest("stream.cpoy", known), "stream.copy");
  EXPECT_EQ(closest("attention", known), "");
  EXPECT_EQ(closest("", known), "");
}

// One letter of a word of one letter may be wrong; a word that is not there suggests nothing.
TEST(DidYouMean, ShortWords) {
  const std::array<std::string_view, 1> known = {"n"};
  EXPECT_EQ(closest("m", known), "n");
  EXPECT_EQ(closest("", known), "");
  EXPECT_EQ(closest("mm", known), "");
}

}  // namespace
}  // namespace roofcast
