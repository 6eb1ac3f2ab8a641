#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

namespace fs = std::filesystem;

class Render : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(testing::TempDir()) /
        ("render_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    unsetenv("ROOFCAST_REPORTS_DIR");
  }
  void TearDown() override {
    unsetenv("ROOFCAST_REPORTS_DIR");
    fs::remove_all(folder_);
  }

  /// Drawing needs the packages, which only the bundle brings.
  static bool can_draw() {
    return fs::exists(fs::path(ROOFCAST_REPORTS_BUILD_DIR) / "node_modules/vega-lite") &&
           std::system("node --version >/dev/null 2>&1") == 0;
  }
  std::string fault(const std::string& text, const std::string& format) {
    try {
      render(text, format);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  fs::path folder_;
  std::string chart_ = roofline_chart(sample_gpu(), sample_points());
};

#define NEEDS_NODE() \
  if (!can_draw()) GTEST_SKIP() << "no node, or no npm packages in " << ROOFCAST_REPORTS_BUILD_DIR

TEST_F(Render, DrawsSvg) {
  NEEDS_NODE();
  const std::string svg = render(chart_, "svg");
  EXPECT_EQ(svg.rfind("<svg", 0), 0U);
  EXPECT_NE(svg.find("gemm.naive"), svg.npos);
}

TEST_F(Render, DrawsPng) {
  NEEDS_NODE();
  const std::string png = render(chart_, "png");
  EXPECT_EQ(png.rfind("\x89PNG\r\n\x1a\n", 0), 0U);
  EXPECT_GT(png.size(), 20000U);
}

TEST_F(Render, SaysWhyItCannotDraw) {
  NEEDS_NODE();
  EXPECT_NE(fault("{\"mark\": ", "svg").find("cannot draw the chart"), std::string::npos);
}

TEST_F(Render, ReadsNoAddressNamedInAChart) {
  NEEDS_NODE();
  const std::string chart =
      R"({"data": {"url": "file:///etc/hostname", "format": {"type": "csv"}},
          "mark": "point", "encoding": {"x": {"field": "a", "type": "nominal"}}})";
  EXPECT_NE(fault(chart, "svg").find("refers to file:///etc/hostname"), std::string::npos);
}

TEST_F(Render, NamesTheFormatsItKnows) {
  EXPECT_NE(fault(chart_, "gif").find("svg or png"), std::string::npos);
}

TEST_F(Render, SaysWhereTheScriptShouldBe) {
  setenv("ROOFCAST_REPORTS_DIR", folder_.c_str(), 1);
  const std::string message = fault(chart_, "svg");
  EXPECT_NE(message.find("ROOFCAST_REPORTS_DIR"), message.npos);
  EXPECT_NE(message.find(folder_.string()), message.npos);
}

TEST_F(Render, SaysThatThePackagesAreMissing) {
  std::ofstream(folder_ / "render.mjs") << "";
  setenv("ROOFCAST_REPORTS_DIR", folder_.c_str(), 1);
  EXPECT_NE(fault(chart_, "svg").find("run npm ci in " + folder_.string()), std::string::npos);
}

TEST_F(Render, SaysThatNodeIsMissing) {
  NEEDS_NODE();
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.c_str(), 1);
  const std::string message = fault(chart_, "svg");
  setenv("PATH", path.c_str(), 1);
  EXPECT_NE(message.find("cannot start node"), message.npos);
  EXPECT_NE(message.find("Node 20.19"), message.npos);
}

}  // namespace
}  // namespace roofcast::reports
