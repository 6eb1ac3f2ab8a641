#include "reports/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace roofcast::reports {
namespace {

TEST(Si, ScalesToThreeDigits) {
  EXPECT_EQ(si(989.4e12, "FLOP/s"), "989 TFLOP/s");
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
