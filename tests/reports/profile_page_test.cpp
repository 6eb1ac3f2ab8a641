#include "reports/profile_page.hpp"

#include <gtest/gtest.h>

#include "reports/page.hpp"
#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

validation::Profile sample_profile() {
  validation::Trace trace;
  validation::TracedCall call;
  call.name = "<img src=x onerror=alert(1)>\"'&";
  call.count = 1;
  call.kernels_s = 2e-6;
  call.kernels.push_back({call.name, 1, 2e-6});
  call.kernels[0].launch = Launch{{132, 1, 1}, {256, 1, 1}, {1, 1, 1}, 32, 0};
  call.kernels[0].counted.dram_read_bytes = 1e6;
  call.kernels[0].counted.vector_flops = 2e6;
  trace.calls = {call};
  trace.sequence = {{0, 0, 2e-6}};
  trace.kernels = 1;
  trace.busy_s = trace.span_s = 2e-6;
  trace.counted = true;
  trace.device = "<b>card</b>";
  return validation::profile_of(trace, sample_gpu());
}

TEST(ProfilePage, NamesOfTheProfileAreText) {
  if (kPageTemplate.empty()) GTEST_SKIP() << "built without ROOFCAST_REPORT_BUNDLE";
  const std::string page = profile_page(sample_profile(), sample_gpu(), "a<b>.csv");
  EXPECT_EQ(page.find("<img src=x"), std::string::npos);
  EXPECT_EQ(page.find("<b>card"), std::string::npos);
  EXPECT_EQ(page.find("a<b>.csv"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;card"), std::string::npos);
  EXPECT_NE(page.find("What to change first"), std::string::npos);
  EXPECT_NE(page.find("Not recognized"), std::string::npos);
}

// 2 MFLOP over 1 MB: 2 FLOP/B, at 1 TFLOP/s.
TEST(ProfilePage, CountedKernelsHaveTheirPlace) {
  const std::string chart = profile_roofline(sample_profile(), sample_gpu());
  const Json spec = Json::parse(chart);
  EXPECT_TRUE(spec.is_object());
  EXPECT_NE(chart.find("grid 132x1x1"), std::string::npos);
}

}  // namespace
}  // namespace roofcast::reports
