#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "model/types/problem.hpp"
#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

using Spec = nlohmann::json;

Gpu another(const char* name, double factor) {
  Gpu gpu = sample_gpu();
  gpu.name = name;
  gpu.memory.dram_bandwidth_bytes_per_s = factor * *gpu.memory.dram_bandwidth_bytes_per_s;
  return gpu;
}

TEST(SeveralRooflines, HaveALineALabelAndTheirOwnPointsOfEachDevice) {
  const Gpu a = another("first", 1), b = another("second", 2);
  const std::vector<RooflinePoint> points = sample_points();
  const Spec spec = Spec::parse(rooflines_chart({{&a, points}, {&b, points}}));
  const Spec& data = spec["datasets"];
  std::set<std::string> drawn;
  for (const Spec& row : data["gpu roofs"]) drawn.insert(row["kernel"]);
  EXPECT_EQ(drawn, (std::set<std::string>{"first", "second"}));
  EXPECT_EQ(data["predicted"].size(), 2 * points.size());
  EXPECT_EQ(data["predicted"][0]["kernel"], "first");
  EXPECT_EQ(data["predicted"][points.size()]["kernel"], "second");
  std::set<std::string> slopes;
  for (const Spec& row : data["slope labels"]) {
    const std::string text = row["text"];
    slopes.insert(text.substr(0, text.find(' ')));
  }
  EXPECT_EQ(slopes, drawn);
}

TEST(SeveralRooflines, JoinThePointsOfADeviceWithItsDash) {
  const Gpu a = another("first", 1), b = another("second", 2);
  const Spec spec = Spec::parse(rooflines_chart({{&a, sample_points()}, {&b, sample_points()}}));
  Spec roofs, joins;
  for (const Spec& layer : spec["layer"]) {
    if (layer["name"] == "gpu-roofs") roofs = layer["encoding"]["strokeDash"];
    if (layer["name"] == "joins") joins = layer["encoding"]["strokeDash"];
  }
  EXPECT_EQ(joins["field"], "kernel");
  EXPECT_EQ(joins, roofs);
}

TEST(SeveralRooflines, MeetAtTheRidgeOfDram) {
  const Gpu a = another("first", 1), b = another("second", 2);
  const Spec spec = Spec::parse(rooflines_chart({{&a}, {&b}}));
  for (const Spec& row : spec["datasets"]["gpu roofs"]) {
    const Gpu& gpu = row["kernel"] == "first" ? a : b;
    const double x = row["x"], y = row["y"];
    EXPECT_LE(y, *gpu.memory.dram_bandwidth_bytes_per_s * x * (1 + 1e-9));
  }
}

std::set<std::string> names_in(const Spec& spec) {
  std::set<std::string> names;
  for (const Spec& row : spec["datasets"]["names"]) names.insert(row["text"]);
  return names;
}

TEST(SeveralRooflines, NameTheDeviceAndTheKernelOfAPointAndItsShapeInTheHeading) {
  const Gpu a = another("first", 1), b = another("second", 2);
  const std::vector<RooflinePoint> two = {sample_points()[0], sample_points()[2]};
  const Spec wide = Spec::parse(rooflines_chart({{&a, two}, {&b, {two[0]}}}));
  EXPECT_EQ(names_in(wide),
            (std::set<std::string>{"first gemm.naive", "second gemm.naive", "first gemm.tiled"}));
  EXPECT_EQ(wide["title"]["subtitle"][0], two[0].label);
  EXPECT_EQ(wide["title"]["subtitle"][1], two[1].label);
  const Spec narrow = Spec::parse(rooflines_chart({{&a, two}, {&b, {two[0]}}}, kNarrowFrame));
  EXPECT_EQ(names_in(narrow), (std::set<std::string>{"1", "2"}));
  EXPECT_EQ(narrow["title"]["subtitle"][0], "1: " + two[0].label);
  const Spec one = Spec::parse(rooflines_chart({{&a, {two[0]}}, {&b, {two[0]}}}));
  EXPECT_EQ(names_in(one), (std::set<std::string>{"first", "second"}));
}

TEST(SeveralRooflines, TellTheShapesOfAKernelWithSeveral) {
  const Gpu a = another("first", 1), b = another("second", 2);
  RooflinePoint small = sample_points()[0], large = small;
  small.label = "gemm.naive m=64";
  large.label = "gemm.naive m=4096";
  large.predicted_flops_per_s *= 10;
  const Spec spec = Spec::parse(rooflines_chart({{&a, {small, large}}, {&b}}));
  EXPECT_EQ(names_in(spec), (std::set<std::string>{"first m=64", "first m=4096"}));
}

TEST(SeveralRooflines, OfOneDeviceAreItsRoofline) {
  const Gpu a = sample_gpu();
  EXPECT_EQ(rooflines_chart({{&a, sample_points()}}), roofline_chart(a, sample_points()));
  EXPECT_THROW(rooflines_chart({}), InputError);
}

TEST(SeveralRooflines, AreTheSameBytesAgain) {
  const Gpu a = another("first", 1), b = another("second", 2);
  const auto draw = [&] { return rooflines_chart({{&a, sample_points()}, {&b, {}}}); };
  EXPECT_EQ(draw(), draw());
}

}  // namespace
}  // namespace roofcast::reports
