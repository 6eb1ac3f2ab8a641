#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

using Spec = nlohmann::json;

Spec roofline(const std::vector<RooflinePoint>& points) {
  return Spec::parse(roofline_chart(sample_gpu(), points));
}

RooflinePoint tensor_point() {
  RooflinePoint point{"gemm.wgmma m=4096 n=4096 k=4096 bf16", 900, 700e12, {}, {}};
  point.levels = {{"L1 + shared", 40}, {"L2", 90}};
  point.low_flops_per_s = 600e12;
  point.high_flops_per_s = 800e12;
  point.limit_flops_per_s = 1000e12;
  point.roofs = {{"tensor", DType::bf16}};
  return point;
}

const Spec& encoding(const Spec& spec) {
  return spec["layer"][0]["encoding"];
}

TEST(RooflineLevels, StandAtTheirOwnIntensityAndAreJoined) {
  const Spec spec = roofline({tensor_point()});
  const Spec& levels = spec["datasets"]["levels"];
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0]["intensity"], 40);
  EXPECT_EQ(levels[0]["flops_per_s"], 700e12);
  EXPECT_EQ(levels[1]["intensity"], 90);
  std::set<std::string> shapes = {levels[0]["shape"], levels[1]["shape"],
                                  spec["datasets"]["predicted"][0]["shape"]};
  EXPECT_EQ(shapes.size(), 3U);
  const Spec& join = spec["datasets"]["joins"].at(0);
  EXPECT_EQ(join["x"], 40);
  EXPECT_EQ(join["x2"], 900);
}

TEST(RooflineIntervals, AreBarsFromLowToHigh) {
  const Spec spec = roofline({tensor_point()});
  const Spec& bar = spec["datasets"]["intervals"].at(0);
  EXPECT_EQ(bar["y"], 600e12);
  EXPECT_EQ(bar["y2"], 800e12);
}

TEST(RooflineRoofs, OfTypesThatNoPointNeedsAreGrey) {
  const Spec spec = roofline({tensor_point()});
  const Spec& data = spec["datasets"];
  ASSERT_EQ(data["tensor roofs"].size(), 1U);
  EXPECT_EQ(data["tensor roofs"][0]["roof"], "tensor bf16");
  EXPECT_EQ(data["vector roofs"].size(), 0U);
  EXPECT_EQ(data["other roofs"].size(), 8U);
  EXPECT_EQ(data["ridges"].size(), 1U);
  for (const Spec& label : data["level labels"]) {
    const bool named = label["text"].get<std::string>().find("bf16") != std::string::npos;
    EXPECT_EQ(label["asked"], named) << label["text"];
  }
}

TEST(RooflineRoofs, DatasheetAndSustainedHaveTheirOwnNames) {
  std::set<std::string> names;
  const Spec spec = roofline({});
  for (const Spec& label : spec["datasets"]["slope labels"]) names.insert(label["text"]);
  EXPECT_TRUE(names.contains("DRAM 4.8 TB/s"));
  EXPECT_TRUE(names.contains("DRAM sustained 4.21 TB/s"));
  EXPECT_TRUE(names.contains("L2 sustained 7.4 TB/s"));
}

TEST(RooflineNames, SayKernelAndWhatOfTheShapeDiffers) {
  std::vector<RooflinePoint> points = {tensor_point(), tensor_point()};
  points[1].label = "gemm.wgmma m=512 n=4096 k=4096 bf16";
  points[1].predicted_flops_per_s = 30e12;
  points[1].low_flops_per_s = 20e12;
  points[1].high_flops_per_s = 40e12;
  const Spec spec = roofline(points);
  const Spec& names = spec["datasets"]["names"];
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0]["text"], "gemm.wgmma m=4096");
  EXPECT_EQ(names[1]["text"], "gemm.wgmma m=512");
  EXPECT_EQ(spec["title"]["subtitle"][0], "n=4096 k=4096 bf16");
}

TEST(RooflineFaults, APointAboveItsLimitIsMarked) {
  RooflinePoint point = tensor_point();
  EXPECT_FALSE(roofline({point})["datasets"]["names"][0]["fault"].get<bool>());
  point.measured_flops_per_s = 1001e12;
  const Spec spec = roofline({point});
  const Spec& name = spec["datasets"]["names"].at(0);
  EXPECT_TRUE(name["fault"].get<bool>());
  EXPECT_NE(name["text"].get<std::string>().find("faster than its limit"), std::string::npos);
}

TEST(RooflineFrame, HoldsEveryPoint) {
  const Spec spec = roofline({{"low", 1e-3, 1e6, {}, {}}, {"high", 1e3, 1e17, {}, {}}});
  const auto domain = [&](const char* axis) { return encoding(spec)[axis]["scale"]["domain"]; };
  EXPECT_LT(domain("x")[0], 1e-3);
  EXPECT_GT(domain("x")[1], 1e3);
  EXPECT_LT(domain("y")[0], 1e6);
  EXPECT_GT(domain("y")[1], 1e17);
}

TEST(RooflineFrame, APointFarBeyondTheRidgeStandsAtItsEdge) {
  for (const double intensity : {1e9, std::numeric_limits<double>::infinity()}) {
    const Spec spec = roofline({{"access.shared", intensity, 1e12, {}, {}}});
    EXPECT_LT(encoding(spec)["x"]["scale"]["domain"][1].get<double>(), 1e5);
    const Spec& point = spec["datasets"]["predicted"].at(0);
    EXPECT_EQ(point["shape"], "triangle-right");
    EXPECT_NE(
        point["predicted"].get<std::string>().find(intensity < 1e10 ? "1 GFLOP/B" : "no DRAM"),
        std::string::npos);
  }
}

TEST(RooflineFamilies, AreLimitsWithASquare) {
  RooflinePoint limit{"gemm m=8 bf16", 900, 900e12, {}, {}};
  limit.is_limit = true;
  const Spec spec = roofline({limit});
  EXPECT_EQ(spec["datasets"]["predicted"][0]["shape"], "square");
  EXPECT_EQ(spec["datasets"]["names"][0]["text"], "gemm limit");
}

TEST(RooflineFamilies, ManyPointsOfSeveralHaveAPanelEach) {
  std::vector<RooflinePoint> points;
  for (int i = 0; i < 20; ++i) {
    const std::string family = i % 2 == 0 ? "gemm" : "softmax";
    points.push_back({family + ".a n=" + std::to_string(i), 10.0 + i, 1e12 * (i + 1), {}, {}});
  }
  const Spec spec = roofline(points);
  ASSERT_EQ(spec["concat"].size(), 2U);
  EXPECT_EQ(spec["concat"][0]["title"]["text"], "gemm");
  EXPECT_EQ(spec["datasets"]["gemm: predicted"].size(), 10U);
  EXPECT_EQ(spec["datasets"]["softmax: predicted"].size(), 10U);
}

TEST(RooflineBandwidth, KernelsWithoutFlopsHaveBarsOfIt) {
  RooflinePoint copy{"stream.copy n=8 fp32", 0, 0, {}, {}};
  copy.dram_bytes_per_s = 4e12;
  const Spec spec = roofline({tensor_point(), copy});
  ASSERT_EQ(spec["concat"].size(), 2U);
  EXPECT_EQ(spec["datasets"]["bandwidths"][0]["text"], "4 TB/s");
  EXPECT_EQ(spec["datasets"]["bandwidth roofs"].size(), 2U);
}

TEST(RooflineChart, IsTheSameBytesEachTime) {
  EXPECT_EQ(roofline_chart(sample_gpu(), sample_points()),
            roofline_chart(sample_gpu(), sample_points()));
}

}  // namespace
}  // namespace roofcast::reports
