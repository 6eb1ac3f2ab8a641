#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/explorer_page.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using ::testing::HasSubstr;
using testing::run_program;

TEST(Explore, WritesThePageOrSaysWhatTheBuildLacks) {
  const auto outcome = run_program("explore -o -");
  if (reports::kExplorerTemplate.empty()) {
    EXPECT_EQ(outcome.code, 3);
    EXPECT_THAT(outcome.err, HasSubstr("apt install emscripten"));
    return;
  }
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out.substr(0, 1000), HasSubstr("<title>roofcast explorer</title>"));
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("<!--page:")));
}

TEST(Explore, NeedsAFile) {
  EXPECT_EQ(run_program("explore").code, 2);
  EXPECT_THAT(run_program("explore").err, HasSubstr("-o page.html"));
  EXPECT_EQ(run_program("explore h200-sxm -o page.html").code, 2);
}

}  // namespace
}  // namespace roofcast::cli
