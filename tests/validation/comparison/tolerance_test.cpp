#include "validation/comparison/tolerance.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roofcast::validation {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Comparison comparison() {
  Row row;
  row.gpu = "h200-sxm";
  row.kernel = "gemm.tiled";
  row.family = "gemm";
  row.regime = Regime::compute;
  row.time_s = {1.2, 1.0};
  row.measured_fastest_s = 1.0;
  row.limit_s = 0.5;
  return summarize({row});
}

TEST(Tolerance, ReadsPercentAndShare) {
  EXPECT_EQ(parse_tolerance("gemm=10%").group, "gemm");
  EXPECT_DOUBLE_EQ(parse_tolerance("gemm=10%").mean_absolute_error, 0.1);
  EXPECT_DOUBLE_EQ(parse_tolerance("gemm/memory=0.25").mean_absolute_error, 0.25);
  for (const char* text : {"", "gemm", "gemm=", "=1", "gemm=x", "gemm=-1", "gemm=0", "gemm=1%%",
                           "gemm=inf", "gemm=nan", "gemm=%", "gemm= 1", "gemm=0x1"}) {
    EXPECT_THROW((void)parse_tolerance(text), InputError) << text;
  }
}

TEST(Tolerance, IsHeldByEveryKindOfGroup) {
  for (const char* group : {"all", "gemm", "compute", "gemm/compute", "h200-sxm"}) {
    EXPECT_THAT(breaches(comparison(), {{group, 0.21}}), IsEmpty()) << group;
    EXPECT_THAT(breaches(comparison(), {{group, 0.19}}), ElementsAre(HasSubstr("20.0%"))) << group;
  }
}

TEST(Tolerance, AGroupWithoutCasesIsABreach) {
  EXPECT_THAT(breaches(comparison(), {{"stream", 1}}), ElementsAre(HasSubstr("stream")));
}

TEST(Tolerance, ViolationsAndFailuresAreBreachesByThemselves) {
  Comparison c = comparison();
  EXPECT_THAT(breaches(c, {}), IsEmpty());
  c.failures.push_back({"gemm.naive", {}, "wrong result"});
  EXPECT_THAT(breaches(c, {}), ElementsAre("gemm.naive: wrong result"));
  c.rows[0].measured_fastest_s = 0.4;
  c = summarize(c.rows);
  EXPECT_THAT(breaches(c, {}),
              ElementsAre(HasSubstr("measured 400 ms, under the limit of 500 ms")));
}

TEST(Tolerance, AnIncompleteRunIsABreach) {
  Comparison c = comparison();
  c.missing = 3;
  EXPECT_THAT(breaches(c, {}), ElementsAre(HasSubstr("incomplete, 3 of its suite's cases")));
}

}  // namespace
}  // namespace roofcast::validation
