#include "reports/forecast_charts.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/chart.hpp"
#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

using Spec = nlohmann::json;

Prediction forecast(std::initializer_list<std::pair<Part, double>> parts) {
  Prediction prediction;
  Forecast time;
  for (const auto& [part, seconds] : parts) {
    time.waterfall[part] = seconds;
    time.expected_s += seconds;
  }
  time.low_s = 0.9 * time.expected_s;
  time.high_s = 1.2 * time.expected_s;
  prediction.time = time;
  prediction.work.requested = {100, 20};
  prediction.work.l1 = {100, 20};
  prediction.work.l2 = {60, 20};
  prediction.work.dram = {30, 10};
  return prediction;
}

TEST(PartsChart, PartsLieEndToEndAndAddUp) {
  const Prediction a = forecast({{Part::launch, 1}, {Part::dram, 3}, {Part::tail, 2}});
  const Spec spec = Spec::parse(parts_chart({{"a", &a}}, 500));
  const Spec& parts = spec["datasets"]["parts"];
  ASSERT_EQ(parts.size(), 3U);
  double end = 0;
  for (const Spec& part : parts) {
    EXPECT_DOUBLE_EQ(part["from"].get<double>(), end);
    end = part["to"];
  }
  EXPECT_DOUBLE_EQ(end, 6);
}

TEST(PartsChart, MorePartsThanColoursAreJoinedAndStillAddUp) {
  Prediction all = forecast({});
  for (std::size_t i = 0; i < kParts; ++i) {
    all.time->waterfall[static_cast<Part>(i)] = 1 + static_cast<double>(i);
    all.time->expected_s += 1 + static_cast<double>(i);
  }
  const Spec spec = Spec::parse(parts_chart({{"all", &all}}, 500));
  const Spec& parts = spec["datasets"]["parts"];
  EXPECT_EQ(parts.size(), 10U);
  EXPECT_EQ(parts.back()["part"], "other");
  EXPECT_DOUBLE_EQ(parts.back()["to"].get<double>(), all.time->expected_s);
}

TEST(PartsChart, ShowsWhatWasMeasured) {
  const Prediction a = forecast({{Part::dram, 3}});
  const Spec spec = Spec::parse(parts_chart({{"a", &a, 5.0}, {"b", &a}}, 500));
  EXPECT_EQ(spec["datasets"]["totals"][0]["measured"], 5);
  EXPECT_TRUE(spec["datasets"]["totals"][1]["measured"].is_null());
  EXPECT_EQ(spec["datasets"]["totals"][0]["end"], 5);
}

TEST(TimelineChart, FullWavesFillEveryPlaceAndTheLastItsShare) {
  // 1 s of launch, 3 waves of 2 s, the last a quarter full.
  Prediction a = forecast({{Part::launch, 1}, {Part::dram, 6}});
  a.waves = Waves{2.25, 2, 0.25, 0.75, 132};
  a.launches = 1;
  const Spec spec = Spec::parse(timeline_chart({{"a", &a}}, 500));
  const Spec& boxes = spec["datasets"]["timeline"];
  ASSERT_EQ(boxes.size(), 4U);
  EXPECT_EQ(boxes[0]["what"], "launch");
  const double filled = boxes[1]["y2"].get<double>() - boxes[1]["y"].get<double>();
  double end = 0;
  for (const Spec& box : boxes) {
    EXPECT_DOUBLE_EQ(box["from"].get<double>(), end);
    end = box["to"];
  }
  EXPECT_DOUBLE_EQ(end, 7);
  EXPECT_DOUBLE_EQ(boxes[2]["to"].get<double>() - boxes[2]["from"].get<double>(), 2);
  EXPECT_EQ(boxes[3]["what"], "last wave");
  EXPECT_NEAR(boxes[3]["y2"].get<double>() - boxes[3]["y"].get<double>(), filled / 4, 1e-12);
}

TEST(TimelineChart, ManyWavesAreOneBoxAndAChainHasNone) {
  Prediction a = forecast({{Part::dram, 6}});
  a.waves = Waves{1000.5, 1000, 0.5, 0.99, 132};
  a.launches = 1;
  const Spec many = Spec::parse(timeline_chart({{"a", &a}}, 500));
  ASSERT_EQ(many["datasets"]["timeline"].size(), 2U);
  EXPECT_EQ(many["datasets"]["timeline"][0]["text"], "1000 full waves");
  a.launches = 2;
  EXPECT_TRUE(Spec::parse(timeline_chart({{"a", &a}}, 500))["datasets"]["timeline"].empty());
}

TEST(TrafficChart, HasReadAndWrittenBytesOfEveryLevel) {
  const Prediction a = forecast({{Part::dram, 3}});
  const Spec spec = Spec::parse(traffic_chart({{"a", &a}}, 500));
  const Spec& rows = spec["datasets"]["traffic"];
  ASSERT_EQ(rows.size(), 8U);
  EXPECT_EQ(rows[6]["name"], "DRAM");
  EXPECT_EQ(rows[6]["to"], 30);
  EXPECT_EQ(rows[7]["to"], 40);
  EXPECT_EQ(rows[6]["text"], "40 B, 0.333×");
}

TEST(ErrorChart, HasTheRatioOfEveryCaseAndEachFamilysMedian) {
  const validation::Comparison comparison = sample_comparison();
  const Spec spec = Spec::parse(error_chart(comparison));
  const Spec& cases = spec["datasets"]["cases"];
  ASSERT_EQ(cases.size(), comparison.rows.size());
  const validation::Pair& first = comparison.rows[0].time_s;
  EXPECT_DOUBLE_EQ(cases[0]["ratio"].get<double>(), first.predicted / first.measured);
  EXPECT_EQ(spec["datasets"]["medians"].size(), 5U);
  EXPECT_TRUE(Spec::parse(error_chart({})).is_object());
}

}  // namespace
}  // namespace roofcast::reports
