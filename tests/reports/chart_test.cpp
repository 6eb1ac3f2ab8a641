#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "reports/plot.hpp"
#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

using Spec = nlohmann::json;

Spec roofline(const Gpu& gpu, const std::vector<RooflinePoint>& points = {}) {
  return Spec::parse(roofline_chart(gpu, points));
}

/// The value of the roof of that name, in any of the data sets that hold roofs.
double roof(const Spec& spec, const std::string& name) {
  for (const char* set :
       {"memory roofs", "sustained roofs", "tensor roofs", "vector roofs", "other roofs"}) {
    for (const Spec& row : spec.at("datasets").at(set)) {
      if (row.at("roof") == name) return row.at("value").get<double>();
    }
  }
  return 0;
}

std::size_t rows(const Spec& spec, const char* set) {
  return spec.at("datasets").at(set).size();
}

TEST(RooflineChart, IsVegaLiteOfVersionSix) {
  const Spec spec = roofline(sample_gpu(), sample_points());
  EXPECT_EQ(spec.at("$schema"), "https://vega.github.io/schema/vega-lite/v6.json");
  EXPECT_EQ(spec.at("title").at("text"), "Sample accelerator 141 GB");
}

TEST(RooflineChart, HasARoofForEachTypeAtTheClockOfItsDatasheet) {
  const Spec spec = roofline(sample_gpu());
  EXPECT_DOUBLE_EQ(roof(spec, "tensor bf16"), 132 * 4096 * 1.83e9);
  EXPECT_DOUBLE_EQ(roof(spec, "tensor fp8"), 132 * 8192 * 1.83e9);
  EXPECT_DOUBLE_EQ(roof(spec, "vector fp32"), 132 * 256 * 1.98e9);
  EXPECT_EQ(rows(spec, "tensor roofs"), 6U);
  EXPECT_EQ(rows(spec, "vector roofs"), 3U);
  EXPECT_EQ(rows(spec, "ridges"), 9U);
}

TEST(RooflineChart, HasARoofForEachLevelOfMemory) {
  const Spec spec = roofline(sample_gpu());
  EXPECT_DOUBLE_EQ(roof(spec, "DRAM"), 4.8e12);
  EXPECT_DOUBLE_EQ(roof(spec, "DRAM sustained"), 4.21e12);
  EXPECT_DOUBLE_EQ(roof(spec, "L2"), 132 * 64 * 1.98e9);
  EXPECT_DOUBLE_EQ(roof(spec, "L2 sustained"), 7.4e12);
  EXPECT_DOUBLE_EQ(roof(spec, "L1 + shared"), 132 * 128 * 1.98e9);
}

TEST(RooflineChart, DrawsNoRoofForWhatTheDeviceLacks) {
  Gpu gpu = sample_gpu();
  gpu.sustained = {};
  gpu.sm.l2_bytes_per_clk.reset();
  gpu.sm.tensor_flop_per_clk[DType::fp8].reset();
  const Spec spec = roofline(gpu);
  EXPECT_EQ(rows(spec, "sustained roofs"), 0U);
  EXPECT_EQ(rows(spec, "memory roofs"), 2U);
  EXPECT_EQ(rows(spec, "tensor roofs"), 5U);
  EXPECT_EQ(spec.at("title").at("subtitle").get<std::string>().find("sustained"),
            std::string::npos);
}

TEST(RooflineChart, TakesPeaksOfTheWholeDevice) {
  Gpu tpu;
  tpu.name = "tpu";
  tpu.kind = DeviceKind::tpu;
  tpu.peak_flops_per_s[DType::bf16] = 275e12;
  tpu.memory.dram_bandwidth_bytes_per_s = 1.2e12;
  const Spec spec = roofline(tpu);
  EXPECT_DOUBLE_EQ(roof(spec, "matrix bf16"), 275e12);
  EXPECT_NEAR(spec["datasets"]["ridges"][0]["intensity"].get<double>(), 275e12 / 1.2e12, 1e-9);
}

TEST(RooflineChart, NamesEqualRoofsOnce) {
  const Spec spec = roofline(sample_gpu());
  std::set<std::string> labels;
  for (const Spec& row : spec["datasets"]["level labels"]) labels.insert(row["text"]);
  EXPECT_EQ(labels.size(), 6U);
  EXPECT_TRUE(labels.contains("66.9 TFLOP/s  tensor fp64, vector fp32"));
  EXPECT_TRUE(labels.contains("1.98 PFLOP/s  tensor fp8/int8"));
  EXPECT_TRUE(labels.contains("989 TFLOP/s  tensor fp16/bf16"));
}

TEST(RooflineChart, PlacesEachKernelTwiceWithAnArrowBetween) {
  const std::vector<RooflinePoint> points = {
      {"gemm.naive m=8 n=8 k=8 fp32", 12, 0.62e12, 10.2, 0.21e12}};
  const Spec spec = roofline(sample_gpu(), points);
  const Spec& predicted = spec["datasets"]["predicted"].at(0);
  const Spec& measured = spec["datasets"]["measured"].at(0);
  EXPECT_EQ(predicted["kernel"], "gemm.naive");
  EXPECT_EQ(predicted["label"], points[0].label);
  EXPECT_DOUBLE_EQ(predicted["intensity"], 12);
  EXPECT_DOUBLE_EQ(predicted["flops_per_s"], 0.62e12);
  EXPECT_DOUBLE_EQ(measured["intensity"], 10.2);
  EXPECT_DOUBLE_EQ(measured["flops_per_s"], 0.21e12);
  EXPECT_EQ(measured["predicted"], "620 GFLOP/s at 12 FLOP/B");

  // Between the two rims, the head pointing down and a little to the left: past 180° clockwise.
  const Spec& arrow = spec["datasets"]["arrows"].at(0);
  EXPECT_LT(arrow["y"], 0.62e12);
  EXPECT_GT(arrow["y2"], 0.21e12);
  EXPECT_LT(arrow["x2"], arrow["x"]);
  EXPECT_NEAR(std::abs(arrow["angle"].get<double>()), 170, 12);
}

TEST(RooflineChart, WithoutAMeasurementHasNoArrow) {
  const Spec spec = roofline(sample_gpu(), {{"gemm", 100, 1e12, {}, {}}});
  EXPECT_EQ(rows(spec, "predicted"), 1U);
  EXPECT_EQ(rows(spec, "measured"), 0U);
  EXPECT_EQ(rows(spec, "arrows"), 0U);
}

TEST(RooflineChart, TakesThePredictedIntensityWhereNoneWasCounted) {
  const Spec spec = roofline(sample_gpu(), {{"gemm", 100, 1e12, {}, 0.5e12}});
  EXPECT_DOUBLE_EQ(spec["datasets"]["measured"][0]["intensity"], 100);
}

TEST(RooflineChart, LeavesOutWhatHasNoPlaceOnLogarithmicAxes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Spec spec = roofline(sample_gpu(), {{"copy", 0, 0, {}, {}},
                                            {"broken", nan, 1e12, {}, {}},
                                            {"instant", 10, infinity, {}, {}},
                                            {"gemm", 100, 1e12, -1.0, 1e12}});
  EXPECT_EQ(rows(spec, "predicted"), 1U);
  EXPECT_EQ(rows(spec, "measured"), 0U);
}

TEST(PredictedMeasuredChart, HoldsTheNumbersOfEveryCase) {
  const validation::Comparison comparison = sample_comparison();
  const Spec spec = Spec::parse(predicted_measured_chart(comparison));
  const Spec& cases = spec["datasets"]["cases"];
  ASSERT_EQ(cases.size(), comparison.rows.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const validation::Row& row = comparison.rows[i];
    EXPECT_DOUBLE_EQ(cases[i]["predicted"], row.time_s.predicted);
    EXPECT_DOUBLE_EQ(cases[i]["measured"], row.time_s.measured);
    EXPECT_DOUBLE_EQ(cases[i]["p10"], row.measured_low_s);
    EXPECT_DOUBLE_EQ(cases[i]["p90"], row.measured_high_s);
    EXPECT_DOUBLE_EQ(cases[i]["low"], row.predicted_low_s);
    EXPECT_DOUBLE_EQ(cases[i]["high"], row.predicted_high_s);
    EXPECT_DOUBLE_EQ(cases[i]["error"], row.time_s.error());
    EXPECT_DOUBLE_EQ(cases[i]["bytes"], row.work_dram_bytes);
    EXPECT_EQ(cases[i]["group"], row.family);
  }
}

TEST(PredictedMeasuredChart, ColoursTheVariantsOfASingleFamily) {
  validation::Comparison comparison = sample_comparison();
  std::erase_if(comparison.rows, [](const auto& row) { return row.family != "gemm"; });
  const Spec spec = Spec::parse(predicted_measured_chart(comparison));
  EXPECT_EQ(spec["datasets"]["cases"][0]["group"], comparison.rows[0].kernel);
}

TEST(PredictedMeasuredChart, MarksTenPercentAroundTheDiagonal) {
  const Spec spec = Spec::parse(predicted_measured_chart(sample_comparison()));
  const Spec& diagonal = spec["datasets"]["diagonal"];
  ASSERT_EQ(diagonal.size(), 2U);
  for (const Spec& row : diagonal) {
    EXPECT_DOUBLE_EQ(row["low"].get<double>() / row["x"].get<double>(), 0.9);
    EXPECT_DOUBLE_EQ(row["high"].get<double>() / row["x"].get<double>(), 1.1);
  }
}

TEST(PredictedMeasuredChart, SurvivesNoCaseAndCasesWithoutATime) {
  validation::Comparison comparison;
  EXPECT_EQ(rows(Spec::parse(predicted_measured_chart(comparison)), "cases"), 0U);
  comparison = sample_comparison();
  comparison.rows[0].time_s.measured = 0;
  comparison.rows[1].time_s.predicted = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(rows(Spec::parse(predicted_measured_chart(comparison)), "cases"), 78U);
}

TEST(Charts, TakeBytesThatAreNoUtf8) {
  const Spec spec = roofline(sample_gpu(), {{"ker\xffnel", 1, 1e12, {}, {}}});
  EXPECT_EQ(spec["datasets"]["predicted"][0]["kernel"], "ker\xEF\xBF\xBDnel");
}

// There are ten colours and eleven families.
TEST(Charts, ElevenNamesHaveElevenForms) {
  std::vector<std::string> names;
  for (int i = 0; i < 11; ++i) names.push_back("family " + std::to_string(i));
  const Spec range = shapes("family", names)["scale"]["range"];
  EXPECT_EQ(std::set<Spec>(range.begin(), range.end()).size(), names.size());
}

}  // namespace
}  // namespace roofcast::reports
