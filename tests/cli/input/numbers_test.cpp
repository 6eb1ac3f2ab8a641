#include "cli/input/numbers.hpp"

#include <gtest/gtest.h>

#include "cli/exit_code.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

TEST(Numbers, WholeInEveryForm) {
  EXPECT_EQ(parse_whole("--m", "4096"), 4096);
  EXPECT_EQ(parse_whole("--m", "-1"), -1);
  EXPECT_EQ(parse_whole("--m", "1e8"), 100'000'000);
  EXPECT_EQ(parse_whole("--m", "1.5e3"), 1500);
  EXPECT_EQ(parse_whole("--m", "4096.0"), 4096);
  EXPECT_EQ(parse_whole("--m", "9223372036854775807"), 9223372036854775807);
}

TEST(Numbers, WhatIsNoWholeNumber) {
  for (const char* text :
       {"4k", "", "1.5", "true", "1e-1", "0x10", " 1", "1 ", "nan", "inf", "1e"}) {
    EXPECT_THROW(parse_whole("--m", text), UsageError) << text;
  }
  for (const char* text : {"99999999999999999999", "1e30", "-1e30"}) {
    EXPECT_THROW(parse_whole("--m", text), InputError) << text;
  }
}

TEST(Numbers, Real) {
  EXPECT_EQ(parse_real("--sm-clock", "1.755e9"), 1.755e9);
  for (const char* text : {"fast", "nan", "inf", "1e400", "true", ""}) {
    EXPECT_THROW(parse_real("--sm-clock", text), UsageError) << text;
  }
}

TEST(Numbers, AClockInAnotherUnitIsRefused) {
  EXPECT_DOUBLE_EQ(expect_clock("--sm-clock", 1.98e9), 1.98e9);
  for (const double other : {1.98, 1980.0, -1.98e9, 0.0, 1.98e15}) {
    EXPECT_THROW((void)expect_clock("--sm-clock", other), InputError) << other;
  }
}

TEST(Numbers, WorkOfLessThanNoTimeIsRefused) {
  EXPECT_EQ(expect_worked("--worked", 0), 0);
  EXPECT_THROW((void)expect_worked("--worked", -1), InputError);
}

TEST(Numbers, ADoubleIsWholeWhereItsNeighboursCanBeTold) {
  EXPECT_EQ(whole_of(4096.0), 4096);
  EXPECT_EQ(whole_of(0.5), std::nullopt);
  EXPECT_EQ(whole_of(9007199254740992.0), 9007199254740992);
  EXPECT_EQ(whole_of(18014398509481984.0), std::nullopt);
}

}  // namespace
}  // namespace roofcast::cli
