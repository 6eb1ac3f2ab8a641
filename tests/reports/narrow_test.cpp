#include "reports/narrow.hpp"

#include <gtest/gtest.h>

#include "reports/bar_names.hpp"
#include "reports/chart.hpp"
#include "reports/model_charts.hpp"
#include "reports/plot.hpp"
#include "reports/point_labels.hpp"

namespace roofcast::reports {
namespace {

TEST(LinesWithin, PartAtSpacesAndLoseNoWord) {
  const std::string text = "a heading of several words that fits no line";
  const double room = text_width("a heading of several");
  const auto lines = lines_within(text, room);
  ASSERT_GT(lines.size(), 1U);
  std::string joined;
  for (const std::string& line : lines) {
    EXPECT_LE(text_width(line), room);
    joined += (joined.empty() ? "" : " ") + line;
  }
  EXPECT_EQ(joined, text);
  // A word longer than the room has a line of its own.
  EXPECT_EQ(lines_within("extraordinarily long", text_width("long")),
            (std::vector<std::string>{"extraordinarily", "long"}));
  EXPECT_EQ(lines_within("", 100), std::vector<std::string>{""});
}

TEST(LegendColumns, AreThoseThatFitAndAtLeastOne) {
  const std::vector<std::string> names = {"launch", "first_access"};
  const double entry = text_width("first_access") + 36;
  EXPECT_EQ(legend_columns(names, 3.5 * entry, 6), 3);
  EXPECT_EQ(legend_columns(names, 9 * entry, 6), 6);
  EXPECT_EQ(legend_columns(names, entry / 2, 6), 1);
}

TEST(BarNames, StandBesideTheBarsWhileTheyAreShort) {
  Json layers = Json::array(), data = Json::object();
  const BarNames beside({"L1", "L2"}, 600, 500, 10, 5);
  EXPECT_EQ(beside.frame(), 600);
  EXPECT_EQ(beside.height(), 30);
  EXPECT_TRUE(beside.y("name")["axis"].is_object());
  beside.add_layer(layers, data);
  EXPECT_TRUE(layers.empty());

  const std::string name = "gemm.tiled m=4096 n=4096 k=4096 fp32 on an accelerator";
  const BarNames above({name, "L2"}, 210, 340, 10, 5);
  EXPECT_EQ(above.frame(), 340);
  EXPECT_GT(above.height(), 60);
  EXPECT_TRUE(above.y("name")["axis"].is_null());
  above.add_layer(layers, data);
  ASSERT_EQ(data["bar names"].size(), 2U);
  const std::string lines = data["bar names"][0]["text"];
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1);
  // The last line of every name stands over its bar.
  EXPECT_EQ(data["bar names"][1]["text"], "\nL2");
}

TEST(MakeNarrow, PartsHeadingsAndKeepsTheirWords) {
  Json spec = chart("A title that is much too long for the screen of a phone", "short", {});
  make_narrow(spec, kNarrowFrame);
  EXPECT_EQ(spec["title"]["text"].size(), 2U);
  EXPECT_EQ(spec["title"]["subtitle"], "short");
  EXPECT_LT(spec["config"]["padding"], chart_config(Theme::light)["padding"]);
}

TEST(StepTimeline, PartsBeyondTheColoursAreOne) {
  std::vector<transformer::TimelineEvent> events;
  for (int i = 0; i < 12; ++i) {
    events.push_back(
        {{"part " + std::to_string(i), "gemm", "tensor"}, 0, static_cast<double>(i), 1.0 + i});
  }
  const Json spec = Json::parse(step_timeline_chart("a step", events));
  std::vector<std::string> told;
  for (const Json& bar : spec["datasets"]["bars"]) add_once(told, bar["told"]);
  EXPECT_EQ(told.size(), 10U);
  EXPECT_EQ(spec["datasets"]["bars"][0]["told"], "other");
  EXPECT_EQ(spec["datasets"]["bars"][0]["part"], "part 0");
  EXPECT_EQ(spec["datasets"]["bars"][11]["told"], "part 11");
}

TEST(StepTimeline, ABarEndsWhereNothingRuns) {
  std::vector<transformer::TimelineEvent> events;
  for (const double start_s : {0.0, 1.0, 5.0}) {
    events.push_back({{"transfers", "all_gather", "link"}, 0, start_s, 1.0});
  }
  const Json bars = Json::parse(step_timeline_chart("a step", events))["datasets"]["bars"];
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_EQ(bars[0]["end"], 2.0);
  EXPECT_EQ(bars[1]["start"], 5.0);
}

}  // namespace
}  // namespace roofcast::reports
