#include <gtest/gtest.h>

#include <regex>

#include "reports/page.hpp"
#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

std::size_t occurrences(const std::string& text, const std::string& wanted) {
  std::size_t count = 0;
  for (auto at = text.find(wanted); at != text.npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}

/// All but the page's own script, which names tags of its own.
std::string without_script(const std::string& page) {
  return page.substr(0, page.rfind("<script>"));
}

class Pages : public testing::Test {
 protected:
  void SetUp() override {
    if (kPageTemplate.empty()) GTEST_SKIP() << "built without ROOFCAST_REPORT_BUNDLE";
  }
};

TEST(PagesWithoutTheBundle, SayHowToMendIt) {
  if (!kPageTemplate.empty()) GTEST_SKIP() << "built with ROOFCAST_REPORT_BUNDLE";
  try {
    chart_page("title", roofline_chart(sample_gpu(), {}));
    FAIL() << "a page without its script";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("ROOFCAST_REPORT_BUNDLE"), std::string::npos);
  }
}

TEST_F(Pages, NeedNoNetwork) {
  const std::string page = report_page(sample_comparison(), sample_gpu(), sample_run());
  EXPECT_FALSE(std::regex_search(page.substr(0, 2000), std::regex(R"((src|href)\s*=)")));
  EXPECT_EQ(occurrences(page, "<script src"), 0U);
  EXPECT_EQ(occurrences(page, "<link"), 0U);
  EXPECT_EQ(occurrences(page, "default-src 'none'"), 1U);
}

TEST_F(Pages, FillEverySlot) {
  const std::string page = report_page(sample_comparison(), sample_gpu());
  EXPECT_EQ(occurrences(page, "<!--page:"), 0U);
  EXPECT_EQ(occurrences(page, "<!--build:"), 0U);
}

TEST_F(Pages, HoldTheChartAsGiven) {
  const std::string chart = roofline_chart(sample_gpu(), sample_points());
  const std::string page = chart_page("A roofline", chart);
  const std::string open = "id=\"charts\">";
  const auto begin = page.find(open) + open.size();
  const Json data = Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  EXPECT_EQ(data["charts"][0]["spec"], Json::parse(chart));
  EXPECT_NE(page.find("<title>A roofline</title>"), std::string::npos);
}

TEST_F(Pages, RefuseWhatIsNoChart) {
  EXPECT_THROW(chart_page("title", "{"), InputError);
  EXPECT_THROW(chart_page("title", "[]"), InputError);
}

TEST_F(Pages, KeepForeignTextOutOfTheMarkup) {
  validation::Comparison comparison = sample_comparison();
  comparison.device = comparison.date = kHostile;
  comparison.rows[0].kernel = comparison.rows[0].problem_text = kHostile;
  comparison.rows[3].family = kHostile;
  comparison.by_family[0].group = kHostile;
  comparison.failures[0].reason = comparison.failures[0].kernel = kHostile;
  Gpu gpu = sample_gpu();
  gpu.name = gpu.title = gpu.sustained.source = kHostile;
  validation::Run run = sample_run();
  run.suite = run.build = run.device.driver = kHostile;
  const std::string page = report_page(comparison, gpu, run);
  EXPECT_EQ(occurrences(page, "</script>"), 2U);
  EXPECT_EQ(occurrences(without_script(page), "<img"), 0U);
  EXPECT_EQ(occurrences(without_script(page), "<script"), 1U);  // the charts' data
}

TEST_F(Pages, NameEveryFailureAndViolation) {
  const std::string page = report_page(sample_comparison(), sample_gpu());
  EXPECT_NE(page.find("wrong output: 0.8 against 1.2"), std::string::npos);
  EXPECT_NE(page.find("m=128 n=256 k=512"), std::string::npos);
  EXPECT_NE(page.find("gone.kernel"), std::string::npos);
  EXPECT_NE(page.find("id=\"violations\""), std::string::npos);
}

TEST_F(Pages, NameTheRelativeThatCompletesACalibration) {
  Gpu gpu = sample_gpu();
  gpu.sustained.source = "a table";
  gpu.sustained.relative = "h100-sxm5";
  EXPECT_NE(report_page(sample_comparison(), gpu).find("a table; else of its relative h100-sxm5"),
            std::string::npos);
}

TEST_F(Pages, SurviveAnEmptyComparison) {
  const std::string page = report_page({}, Gpu{});
  EXPECT_NE(page.find("<h2>Device and conditions</h2>"), std::string::npos);
  EXPECT_EQ(without_script(page).find(">nan"), page.npos);
}

}  // namespace
}  // namespace roofcast::reports
