#include "validation/runs/numbers.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace roofcast::validation {
namespace {

TEST(Numbers, AreDecimalAndAllOfTheText) {
  EXPECT_EQ(number_of<double>("-0.5"), -0.5);
  EXPECT_EQ(number_of<double>("1e8"), 1e8);
  EXPECT_EQ(number_of<std::int64_t>("-4096"), -4096);
  for (const char* text : {"", " 1", "1 ", "+1", "4k", "true", "x"}) {
    EXPECT_EQ(number_of<double>(text), std::nullopt) << text;
    EXPECT_EQ(number_of<std::int64_t>(text), std::nullopt) << text;
  }
  EXPECT_EQ(number_of<double>("0x10"), std::nullopt);
  EXPECT_EQ(number_of<std::int64_t>("1e8"), std::nullopt);
}

TEST(Numbers, FitTheirType) {
  for (const char* text : {"inf", "nan", "1e400"}) {
    EXPECT_EQ(number_of<double>(text), std::nullopt) << text;
  }
  EXPECT_EQ(number_of<std::size_t>("-1"), std::nullopt);
  EXPECT_EQ(number_of<std::int64_t>("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(number_of<std::int64_t>("9223372036854775808"), std::nullopt);
}

}  // namespace
}  // namespace roofcast::validation
