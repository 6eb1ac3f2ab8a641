#include "reports/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace roofcast::reports {
namespace {

TEST(Si, ScalesToThreeDigits) {
  EXPECT_EQ(si(4.8e12, "B/s"), "4.8 TB/s");
  EXPECT_EQ(si(989.4e12, "FLOP/s"), "989 TFLOP/s");
  EXPECT_EQ(si(1.979e15, "FLOP/s"), "1.98 PFLOP/s");
  EXPECT_EQ(si(2.5e-6, "s"), "2.5 µs");
  EXPECT_EQ(si(41.7e-9, "s"), "41.7 ns");
  EXPECT_EQ(si(700, "W"), "700 W");
  EXPECT_EQ(si(0, "s"), "0 s");
  EXPECT_EQ(si(-3e3, "B"), "-3 kB");
}

TEST(Si, RoundsUpIntoTheNextPrefix) {
  EXPECT_EQ(si(999.7e9, "B/s"), "1 TB/s");
  EXPECT_EQ(si(999.4e9, "B/s"), "999 GB/s");
  EXPECT_EQ(si(99.96, "B"), "100 B");
  EXPECT_EQ(si(9.996, "B"), "10 B");
}

TEST(Si, HasNoNumberForWhatIsNone) {
  EXPECT_EQ(si(std::numeric_limits<double>::quiet_NaN(), "s"), "–");
  EXPECT_EQ(si(std::numeric_limits<double>::infinity(), "s"), "–");
}

TEST(Percent, ShowsTheSign) {
  EXPECT_EQ(percent(0.0634), "6.3%");
  EXPECT_EQ(signed_percent(0.0634), "+6.3%");
  EXPECT_EQ(signed_percent(-0.0634), "−6.3%");
  EXPECT_EQ(signed_percent(-0.0004), "0.0%");
}

TEST(EscapeHtml, LeavesNoMarkup) {
  EXPECT_EQ(escape_html("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
}

TEST(ScriptJson, CannotEndItsElement) {
  const std::string text = script_json(Json{{"</script>", "<!-- µ \xff"}});
  EXPECT_EQ(text.find('<'), std::string::npos);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c > 0; }));
  EXPECT_EQ(Json::parse(text).begin().key(), "</script>");
}

}  // namespace
}  // namespace roofcast::reports
