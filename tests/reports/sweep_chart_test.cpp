#include "reports/sweep_chart.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

using Spec = nlohmann::json;

Spec chart_of(const SweepPlot& plot) {
  return Spec::parse(sweep_chart(plot));
}

const Quantity& quantity(std::string_view name) {
  for (const Quantity& q : quantities()) {
    if (q.name == name) return q;
  }
  throw std::runtime_error("no such quantity");
}

SweepPlot plot_of(std::vector<SweepPoint> points, std::string_view name = "bandwidth") {
  SweepPlot plot{"Title", "device", "stride: words", &quantity(name), {}};
  plot.lines.push_back({"access.strided", std::move(points)});
  return plot;
}

const Spec& scale(const Spec& spec, const char* channel) {
  return spec["layer"][1]["encoding"][channel]["scale"];
}

TEST(SweepChart, SizesDoubledStandAtEqualDistances) {
  const auto type_over = [](std::initializer_list<double> xs) {
    std::vector<SweepPoint> points;
    for (const double x : xs) points.push_back({x, 1e12, {}, {}, {}, ""});
    const Spec spec = chart_of(plot_of(std::move(points)));
    return scale(spec, "x")["type"].get<std::string>();
  };
  EXPECT_EQ(type_over({1024, 2048, 4096, 8192}), "log");
  EXPECT_EQ(type_over({1, 2, 4}), "linear");
  EXPECT_EQ(type_over({1, 2, 3, 4, 8}), "linear");
}

TEST(SweepChart, HoldsForecastsIntervalsAndMeasurements) {
  const Spec spec = chart_of(
      plot_of({{1, 3e12, 2e12, 4e12, 2.5e12, "stride=1"}, {2, 1.5e12, {}, {}, {}, "stride=2"}}));
  EXPECT_EQ(spec["$schema"], "https://vega.github.io/schema/vega-lite/v6.json");
  const Spec& forecasts = spec["datasets"]["forecasts"];
  ASSERT_EQ(forecasts.size(), 2U);
  EXPECT_EQ(forecasts[0]["line"], "access.strided");
  EXPECT_DOUBLE_EQ(forecasts[0]["y"], 3e12);
  EXPECT_EQ(forecasts[0]["predicted"], "3 TB/s (2 TB/s to 4 TB/s)");
  EXPECT_EQ(forecasts[0]["error"], "+20.0%");
  EXPECT_EQ(forecasts[1]["measured"], "–");
  ASSERT_EQ(spec["datasets"]["intervals"].size(), 1U);
  EXPECT_DOUBLE_EQ(spec["datasets"]["intervals"][0]["low"], 2e12);
  ASSERT_EQ(spec["datasets"]["measured"].size(), 1U);
  EXPECT_DOUBLE_EQ(spec["datasets"]["measured"][0]["y"], 2.5e12);
  EXPECT_NE(spec["title"]["subtitle"].get<std::string>().find("●\u00a0measured"),
            std::string::npos);
}

SweepPlot scattered(std::vector<SweepPoint> points) {
  SweepPlot plot = plot_of(std::move(points), "rate");
  plot.legend = "largest power of two that divides m";
  plot.scattered = true;
  return plot;
}

TEST(SweepChart, PointsThatAreScatteredHaveNoLinesAndNoBands) {
  const Spec spec = chart_of(
      scattered({{1791, 2e12, 1e12, 9e12, 3e12, "m=1791"}, {1792, 4e12, {}, {}, {}, "m=1792"}}));
  std::vector<std::string> names;
  for (const Spec& layer : spec["layer"]) names.push_back(layer["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"points", "measured"}));
  EXPECT_TRUE(spec["datasets"]["intervals"].empty());
  EXPECT_FALSE(spec["datasets"].contains("waves"));
  EXPECT_LT(spec["layer"][0]["encoding"]["y"]["scale"]["domain"][1].get<double>(), 5e12);
  EXPECT_EQ(spec["layer"][0]["encoding"]["color"]["legend"]["title"],
            "largest power of two that divides m");
  // The marks differ without colour: hollow and filled.
  EXPECT_EQ(spec["layer"][0]["mark"]["filled"], false);
  EXPECT_EQ(spec["layer"][1]["mark"]["filled"], true);
}

Spec wave_rows(std::vector<SweepPoint> points) {
  return chart_of(scattered(std::move(points)))["datasets"]["waves"];
}

TEST(SweepChart, WavesAreMarkedWhereMoreBegin) {
  const auto point = [](double x, double waves, std::string settings = "") {
    return SweepPoint{x, 1e12, {}, {}, {}, "", waves, std::move(settings)};
  };
  // Points in any order; only a new maximum of waves is a mark.
  const Spec rows = wave_rows({point(1900, 1.2), point(1000, 0.5), point(1793, 1.1),
                               point(1792, 0.9), point(1950, 1.0), point(2000, 2.5)});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["x"], 1793);
  EXPECT_EQ(rows[0]["waves"], "2");
  EXPECT_EQ(rows[1]["waves"], "3");
  // Marks that would lie on each other are one.
  EXPECT_EQ(wave_rows({point(0, 0.5), point(100, 1.5), point(101, 2.5), point(1000, 3.5)}).size(),
            2U);
  EXPECT_TRUE(wave_rows({point(1000, 0.5), point(1001, 0.6)}).is_null());
}

TEST(SweepChart, WavesAreThoseOfEachPointsOwnSettings) {
  const auto point = [](double x, double waves, std::string settings) {
    return SweepPoint{x, 1e12, {}, {}, {}, "", waves, std::move(settings)};
  };
  // The small tile takes seven waves from the start, and an eighth from 1800 on.
  const Spec spec = chart_of(
      scattered({point(1000, 1, "tile=256"), point(1100, 7, "tile=64"), point(1500, 2, "tile=256"),
                 point(1800, 8, "tile=64"), point(2000, 3, "tile=256")}));
  const Spec& rows = spec["datasets"]["waves"];
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["x"], 1500);
  EXPECT_EQ(rows[1]["x"], 1800);
  EXPECT_EQ(rows[1]["waves"], "8");
  EXPECT_NE(spec["title"]["subtitle"][1].get<std::string>().find("its own tile"),
            std::string::npos);
}

TEST(SweepChart, AnAxisOverSixteenToOneIsLogarithmic) {
  const Spec narrow = chart_of(plot_of({{1, 1, {}, {}, {}, ""}, {16, 16, {}, {}, {}, ""}}));
  EXPECT_EQ(scale(narrow, "x")["type"], "linear");
  EXPECT_EQ(scale(narrow, "y")["domain"][0], 0);
  const Spec wide = chart_of(plot_of({{1, 1, {}, {}, {}, ""}, {17, 17, {}, {}, {}, ""}}));
  EXPECT_EQ(scale(wide, "x")["type"], "log");
  EXPECT_EQ(scale(wide, "y")["type"], "log");
  const Spec zero = chart_of(plot_of({{0, 0, {}, {}, {}, ""}, {100, 100, {}, {}, {}, ""}}));
  EXPECT_EQ(scale(zero, "x")["type"], "linear");
  EXPECT_EQ(scale(zero, "y")["domain"][0], 0);
}

TEST(SweepChart, NeighboursOfALargeSizeHaveTheirOwnTicks) {
  const auto format_over = [](double low, double high) {
    std::vector<SweepPoint> points;
    for (int i = 0; i <= 40; ++i)
      points.push_back({low + i * (high - low) / 40, 1, {}, {}, {}, ""});
    return chart_of(plot_of(std::move(points)))["layer"][1]["encoding"]["x"]["axis"]["format"]
        .get<std::string>();
  };
  EXPECT_EQ(format_over(50240, 50320), "d");
  EXPECT_EQ(format_over(1000, 9000), "~s");
}

TEST(SweepChart, AxesHoldEverything) {
  const Spec spec =
      chart_of(plot_of({{1, 1e9, 0.5e9, 2e9, {}, ""}, {1 << 20, 1e12, 0.9e12, 1.1e12, 3e12, ""}}));
  EXPECT_LT(scale(spec, "x")["domain"][0], 1);
  EXPECT_GT(scale(spec, "x")["domain"][1], 1 << 20);
  EXPECT_LT(scale(spec, "y")["domain"][0], 0.5e9);
  EXPECT_GT(scale(spec, "y")["domain"][1], 3e12);
}

TEST(SweepChart, SizesHaveBinaryPrefixes) {
  const Spec spec = chart_of(plot_of({{64, 1, {}, {}, {}, ""},
                                      {1000000, 1, {}, {}, {}, ""},
                                      {1 << 20, 1, {}, {}, {}, ""},
                                      {65536, 1, {}, {}, {}, ""}}));
  const std::string labels = spec["layer"][1]["encoding"]["x"]["axis"]["labelExpr"];
  for (const char* label :
       {"'64':'64'", "'65536':'64 Ki'", "'1048576':'1 Mi'", "'1000000':'1 M'"}) {
    EXPECT_NE(labels.find(label), std::string::npos) << label << " in " << labels;
  }
}

TEST(SweepChart, ALineOverAnotherIsDashed) {
  SweepPlot plot = plot_of({{1, 10, {}, {}, {}, ""}, {2, 20, {}, {}, {}, ""}});
  plot.lines.push_back({"same", plot.lines[0].points});
  plot.lines.push_back({"other", {{1, 15, {}, {}, {}, ""}, {2, 30, {}, {}, {}, ""}}});
  plot.lines.push_back({"third", plot.lines[0].points});
  const Spec dashes = chart_of(plot)["layer"][1]["encoding"]["strokeDash"]["scale"]["range"];
  EXPECT_EQ(dashes, Spec::parse("[[1,0],[8,8],[1,0],[3,13]]"));
}

TEST(SweepChart, LinesHaveTheirNamesAtTheirEndsApart) {
  SweepPlot plot = plot_of({{1, 10, {}, {}, {}, ""}, {2, 20, {}, {}, {}, ""}});
  for (const char* name : {"b", "c", "d"}) plot.lines.push_back({name, plot.lines[0].points});
  const Spec spec = chart_of(plot);
  const Spec& names = spec["datasets"]["line names"];
  ASSERT_EQ(names.size(), 4U);
  for (std::size_t i = 1; i < names.size(); ++i) {
    EXPECT_GE(names[i]["at"].get<double>() - names[i - 1]["at"].get<double>(), 15);
  }
  EXPECT_LE(names.back()["at"], 400);
  EXPECT_TRUE(spec["layer"][1]["encoding"]["color"]["legend"].is_null());
}

TEST(SweepChart, ManyBandsAreOutlines) {
  SweepPlot plot = plot_of({{1, 10, 9, 11, {}, ""}, {2, 20, 19, 21, {}, ""}});
  EXPECT_EQ(chart_of(plot)["layer"][0]["mark"]["style"], "interval");
  for (const char* name : {"b", "c"}) plot.lines.push_back({name, plot.lines[0].points});
  EXPECT_EQ(chart_of(plot)["layer"][0]["mark"]["style"], "interval-outline");
}

TEST(SweepChart, ColoursInAnOrderAreARampAndEveryLineHasAShape) {
  SweepPlot plot = scattered({{1791, 2e12, {}, {}, {}, "m=1791"}});
  plot.lines[0].label = "2";
  plot.colours = {"1", "2", "4"};
  const Spec encoding = chart_of(plot)["layer"][0]["encoding"];
  EXPECT_EQ(encoding["color"]["scale"]["range"], "ordinal");
  EXPECT_EQ(encoding["shape"]["scale"]["range"],
            Spec::parse(R"(["circle","square","triangle-up"])"));
}

TEST(SweepChart, ManyTicksStandAtPowersOfTwo) {
  std::vector<SweepPoint> points;
  for (int x = 1; x <= 32; ++x) points.push_back({static_cast<double>(x), 1, {}, {}, {}, ""});
  const Spec spec = chart_of(plot_of(points));
  EXPECT_EQ(spec["layer"][1]["encoding"]["x"]["axis"]["values"], Spec::parse("[1,2,4,8,16,32]"));
}

TEST(SweepChart, LeavesOutWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Spec spec = chart_of(plot_of({{1, nan, {}, {}, {}, ""}, {2, 1, {}, {}, nan, ""}}));
  EXPECT_EQ(spec["datasets"]["forecasts"].size(), 1U);
  EXPECT_EQ(spec["datasets"]["measured"].size(), 0U);
}

TEST(Quantities, FollowFromWorkAndTime) {
  Prediction prediction;
  prediction.work.vector_flops = 160;
  prediction.useful_flops = 100;  // the rest is this variant's own
  prediction.work.requested = {30, 10};
  prediction.work.l1 = {640, 0};
  prediction.work.l2 = {70, 10};
  prediction.work.dram = {60, 20};
  prediction.limit.time_s = 1;
  Forecast time;
  time.expected_s = 2;
  prediction.time = time;
  prediction.occupancy = Occupancy{.blocks_per_sm = 2, .warps_per_sm = 16};
  Gpu gpu = sample_gpu();
  gpu.occupancy = OccupancyRules{.warps_per_sm = 64};
  const auto value = [&](const char* name) { return predicted(quantity(name), prediction, gpu); };
  EXPECT_EQ(value("time"), 2);
  EXPECT_EQ(value("bandwidth"), 20);
  EXPECT_EQ(value("dram_bandwidth"), 40);
  EXPECT_EQ(value("l2_bytes"), 80);
  EXPECT_EQ(value("l1_sectors"), 20);
  EXPECT_EQ(value("waste"), 2);
  EXPECT_EQ(value("rate"), 50);
  EXPECT_EQ(value("occupancy"), 0.25);
  EXPECT_EQ(value("fraction_of_limit"), 0.5);

  validation::Case item;
  item.timing.samples_s = {4};
  const auto seen = [&](const char* name) {
    return measured(quantity(name), item, prediction, gpu);
  };
  EXPECT_EQ(seen("time"), 4);
  EXPECT_EQ(seen("bandwidth"), 10);
  EXPECT_FALSE(seen("dram_bandwidth").has_value());
  EXPECT_FALSE(seen("waste").has_value());
  item.counters.dram_read_bytes = 100;
  item.counters.dram_write_bytes = 20;
  item.counters.l1_load_sectors = 7;
  item.counters.l1_store_sectors = 3;
  EXPECT_EQ(seen("dram_bandwidth"), 30);
  EXPECT_EQ(seen("waste"), 3);
  EXPECT_EQ(seen("l1_sectors"), 10);
}

}  // namespace
}  // namespace roofcast::reports
