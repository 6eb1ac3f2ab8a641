#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string warnings(const std::string& question) {
  const testing::Outcome outcome = testing::run_program("predict " + question);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.err;
}

TEST(UnreadOverrides, AKeyThatNoLawReadsIsNamed) {
  const std::string fp32 = "gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm";
  EXPECT_THAT(warnings(fp32 + " --set power_w=690"), HasSubstr("--set power_w changes nothing"));
  const std::string both = warnings(fp32 + " --set power_w=690 --set sm_count=144");
  EXPECT_THAT(both, HasSubstr("power_w"));
  EXPECT_THAT(both, ::testing::Not(HasSubstr("sm_count")));
}

TEST(UnreadOverrides, AKeyThatOneRowReadsIsNot) {
  EXPECT_THAT(warnings("gemm.library stream.copy --m 8192 --n 8192 --k 8192 --dtype bf16 --gpu "
                       "h200-sxm --set power_w=500"),
              IsEmpty());
}

}  // namespace
}  // namespace roofcast::cli
