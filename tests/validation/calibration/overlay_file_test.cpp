#include "validation/calibration/overlay_file.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hw_specs/loader.hpp"
#include "model/types/problem.hpp"

namespace roofcast::validation {
namespace {

Overlay sample() {
  Overlay overlay;
  overlay.gpu = "h200-sxm";
  overlay.provenance = {"curves.json", "2026-11-21T10:00:00Z", "NVIDIA H200", "580", "13.0",
                        "a note"};
  overlay.sources = {{"MB:bandwidth", "microbenchmark bandwidth", "2026-11-21"},
                     {"FIT", "a fit", "2026-11-20"},
                     {"UNUSED", "nothing names this", "2026-11-20"}};
  overlay.values = {{"dram_read_bytes_per_s", 4.5e12, "MB:bandwidth", "streaming"},
                    {"vector_flop_per_clk/fp32", 255, "MB:bandwidth", ""},
                    {"barrier_cycles", 1.9, "FIT", ""}};
  return overlay;
}

TEST(OverlayFile, IsAnOverlayByTheRulesOfTheSpecifications) {
  const specs::Embedded* h200 = specs::find_embedded("h200-sxm");
  const Gpu gpu = specs::load({.file = "h200-sxm.json",
                               .text = std::string(h200->text),
                               .overlay_file = "overlay.json",
                               .overlay_text = to_json(sample()),
                               .overrides = {}});
  EXPECT_EQ(gpu.sustained.dram_read_bytes_per_s, 4.5e12);
  EXPECT_EQ(gpu.sustained.vector_flop_per_clk[DType::fp32], 255.0);
  EXPECT_EQ(gpu.sustained.barrier_cycles, 1.9);
  EXPECT_EQ(gpu.sustained.source, "curves.json, 2026-11-21T10:00:00Z");
}

TEST(OverlayFile, LeavesOutSourcesThatNoValueNames) {
  const auto json = nlohmann::json::parse(to_json(sample()));
  EXPECT_TRUE(json["sources"].contains("FIT"));
  EXPECT_FALSE(json["sources"].contains("UNUSED"));
}

TEST(OverlayFile, ReadsBackWhatItWrote) {
  const Overlay first = sample();
  const Overlay again = parse_overlay("overlay.json", to_json(first));
  EXPECT_EQ(to_json(again), to_json(first));
  EXPECT_EQ(again.find("vector_flop_per_clk/fp32")->value, 255);
  EXPECT_EQ(again.find("dram_read_bytes_per_s")->note, "streaming");
  EXPECT_EQ(again.find("nothing"), nullptr);
}

TEST(OverlayFile, ReadsEveryShippedOne) {
  for (const specs::Embedded& one : specs::embedded()) {
    if (one.overlay_text.empty()) continue;
    const Overlay overlay = parse_overlay(std::string(one.name), std::string(one.overlay_text));
    EXPECT_EQ(overlay.gpu, one.name);
    EXPECT_FALSE(overlay.values.empty());
  }
}

TEST(OverlayFile, TellsMeasuredFromFitted) {
  const Overlay overlay = sample();
  EXPECT_TRUE(measured_directly(overlay.values[0]));
  EXPECT_FALSE(measured_directly(overlay.values[2]));
}

TEST(OverlayFile, RefusesWhatIsNone) {
  for (
      const char* text :
      {"", "{", "[]", "{}", R"({"gpu": "x", "provenance": {}, "sustained": {}})",
       R"({"gpu": 3, "provenance": {"run": "r"}, "sustained": {}})",
       R"({"gpu": "x", "provenance": {"run": "r"}, "sustained": {"a": {"value": "b", "source": "c"}}})",
       R"({"gpu": "x", "provenance": {"run": "r"}, "sustained": {"a": 3}})"}) {
    EXPECT_THROW((void)parse_overlay("overlay.json", text), InputError) << text;
  }
}

TEST(KeepMissing, AddsWhatIsLackingWithItsSource) {
  Overlay overlay = sample();
  overlay.values.pop_back();
  EXPECT_EQ(keep_missing(overlay, sample()), 1U);
  ASSERT_NE(overlay.find("barrier_cycles"), nullptr);
  EXPECT_EQ(overlay.find("barrier_cycles")->source, "FIT");
  EXPECT_EQ(keep_missing(overlay, sample()), 0U);
}

TEST(KeepMissing, RenamesASourceOfTheSameKeyAndAnotherTitle) {
  Overlay overlay;
  overlay.sources = {{"FIT", "another fit", "2026-01-01"}};
  overlay.values = {{"sm_clock_hz", 1e9, "FIT", ""}};
  keep_missing(overlay, sample());
  EXPECT_EQ(overlay.find("barrier_cycles")->source, "FIT-2");
  EXPECT_EQ(overlay.find("sm_clock_hz")->source, "FIT");
  const auto json = nlohmann::json::parse(to_json(overlay));
  EXPECT_EQ(json["sources"]["FIT"]["title"], "another fit");
  EXPECT_EQ(json["sources"]["FIT-2"]["title"], "a fit");
}

}  // namespace
}  // namespace roofcast::validation
