#include "validation/calibration/curve_limits.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "hw_specs/loader.hpp"
#include "hw_specs/text_file.hpp"
#include "model/types/problem.hpp"

namespace roofcast::validation {
namespace {

Gpu datasheet_of(const std::string& name) {
  const specs::Embedded* found = specs::find_embedded(name);
  if (found == nullptr) throw std::invalid_argument("no GPU " + name);
  specs::Source source;
  source.file = name;
  source.text = found->text;
  source.datasheet_only = true;
  return specs::load(source);
}

Measurements with(const Curve& curve) {
  Measurements m;
  m.date = "2026-11-21T10:00:00Z";
  m.build = "0.1.0 abc";
  m.device.gpu = "h200-sxm";
  m.device.device = m.device.driver = m.device.cuda_runtime = "x";
  m.curves = {curve};
  return m;
}

TEST(CurveLimits, AValueAboveTheDatasheetIsRefusedAndKeptForTheRecord) {
  const Gpu gpu = datasheet_of("h200-sxm");
  for (const Curve& curve :
       {single("on_chip", "shared read", "B/clk", 1359.6),
        single("on_chip", "L1 read", "B/clk", 130), single("bandwidth", "DRAM copy", "B/s", 5e12),
        single("clock", "any", "Hz", 2.1e9), single("pipes", "fp32 fma", "1/clk", 130),
        single("pipes", "exp2", "1/clk", 17), single("in_flight", "4 B x 1 loads", "B/s", 1e13),
        single("issue", "fma", "instructions/clk", 4.1)}) {
    Measurements m = with(curve);
    refuse_impossible(m, gpu);
    EXPECT_TRUE(m.curves.empty()) << curve.series;
    ASSERT_EQ(m.refused.size(), 1U) << curve.series;
    EXPECT_EQ(m.refused[0].curve.series, curve.series);
    EXPECT_EQ(m.refused[0].point.value, curve.points[0].value);
    EXPECT_NE(m.refused[0].reason.find("more than"), std::string::npos);
  }
}

TEST(CurveLimits, WhatMayBeStays) {
  const Gpu gpu = datasheet_of("h200-sxm");
  for (const Curve& curve :
       {single("on_chip", "shared read", "B/clk", 128.5),  // clocks are read to 1%
        single("bandwidth", "L2 read, shared data", "B/s", 1e14),
        single("in_flight", "4 B x 1 loads, loaded latency", "s", 1e-6)}) {
    Measurements m = with(curve);
    refuse_impossible(m, gpu);
    EXPECT_EQ(m.curves.size(), 1U) << curve.series;
    EXPECT_TRUE(m.refused.empty()) << curve.series;
  }
}

TEST(CurveLimits, OfACurveOnlyThePointsThatCannotBeGo) {
  Measurements m =
      with({"bandwidth", "DRAM read", "footprint_bytes", "B/s", {{1e9, 4e12}, {4e9, 6e12}}});
  refuse_impossible(m, datasheet_of("h200-sxm"));
  ASSERT_EQ(m.curves.size(), 1U);
  ASSERT_EQ(m.curves[0].points.size(), 1U);
  EXPECT_EQ(m.curves[0].points[0].value, 4e12);
  ASSERT_EQ(m.refused.size(), 1U);
  EXPECT_EQ(m.refused[0].point.x, 4e9);

  const Measurements back = parse_measurements("curves.json", to_json(m));
  EXPECT_EQ(to_json(back), to_json(m));
  EXPECT_EQ(back.refused.size(), 1U);
}

TEST(CurveLimits, ParsingRefusesWhatIsNoCurve) {
  const std::string text = to_json(with(single("pipes", "exp2", "1/clk", 16)));
  EXPECT_NO_THROW((void)parse_measurements("curves.json", text));
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{"\"value\": 16.0", "\"value\": \"16\""},
        {"\"series\"", "\"serie\""},
        {"\"schema_version\": 1", "\"schema_version\": 2"}}) {
    std::string other = text;
    ASSERT_NE(other.find(from), std::string::npos) << from;
    other.replace(other.find(from), from.size(), to);
    EXPECT_THROW((void)parse_measurements("curves.json", other), InputError) << to;
  }
}

// A curve above its datasheet limit, as 1359.6 B/clk of shared memory where 128 are possible, is
// refused.
TEST(CurveLimits, NoCommittedCurveIsAboveADatasheet) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ROOFCAST_MEASURED_DIR)) {
    const std::string path = entry.path().string();
    if (path.find("-microbenchmarks-") == std::string::npos || !path.ends_with(".json")) continue;
    ++files;
    Measurements m = parse_measurements(path, specs::read_text(path));
    const std::size_t refused = m.refused.size();
    refuse_impossible(m, datasheet_of(m.device.gpu));
    for (std::size_t i = refused; i < m.refused.size(); ++i) {
      ADD_FAILURE() << path << ": " << m.refused[i].curve.series << ": " << m.refused[i].reason;
    }
  }
  EXPECT_GE(files, 2);
}

}  // namespace
}  // namespace roofcast::validation
