#include "validation/calibration/sustained_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw_specs/loader.hpp"
#include "tests/model/devices.hpp"

namespace roofcast::validation {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;

// The device of devices.hpp: L2 keeps 40 MB at 8 TB/s, DRAM reads at 4 TB/s and copies at 3.75.
Measurements made_up() {
  Measurements m;
  m.date = "2026-11-21T10:00:00Z";
  m.device = {"test-gpu", "made up", "580", "13.0", 700.0, 2e9, 3.2e9};
  m.curves = {
      single("clock", "streaming from DRAM", "Hz", 1.9e9),
      single("clock", "fp32 multiply-adds", "Hz", 1.8e9),
      {"latency",
       "global",
       "footprint_bytes",
       "clk",
       {{16 * 1024, 34}, {8 * kMiB, 270}, {1024 * kMiB, 950}}},
      single("latency", "shared", "clk", 29),
      {"bandwidth",
       "L2 read, own data",
       "footprint_bytes",
       "B/s",
       {{10e6, 8e12}, {20e6, 8e12}, {40e6, 8e12}, {80e6, 16e12 / 3}, {160e6, 4e12}}},
      {"bandwidth", "DRAM read", "footprint_bytes", "B/s", {{1e9, 3.9e12}, {4e9, 4e12}}},
      single("bandwidth", "DRAM copy", "B/s", 3.75e12),
      {"scattered",
       "DRAM, 1 GiB table",
       "piece_bytes",
       "B/s",
       {{32, 1e12}, {64, 2e12}, {128, 2.5e12}}},
      {"on_chip", "load, lanes in different banks", "lines", "clk/request", {{1, 1}, {32, 8}}},
      single("pipes", "fp32 fma", "1/clk", 127),
      single("pipes", "exp2", "1/clk", 15.9),
      {"issue", "register tile of a product", "warps_per_sm", "instructions/clk", {{8, 3.6}}},
      {"barrier", "__syncthreads", "warps_per_block", "clk", {{8, 30}}},
      {"block_start", "block", "warps_per_block", "clk", {{1, 30}, {2, 40}, {4, 60}}},
      single("launch", "alone between two events", "s", 3e-6),
      single("launch", "each of many, in a graph", "s", 1e-6),
      single("launch", "host, device busy", "s", 2e-6),
      single("first_and_last", "nothing, cold, at 0 B", "s", 3e-6),
      single("first_and_last", "reads, cold, at 0 B", "s", 4.5e-6),
      single("first_and_last", "reads, at 0 B", "s", 3.5e-6),
      single("first_and_last", "copies, at 0 B", "s", 4e-6)};
  return m;
}

double value_of(const Calibration& calibration, std::string_view key) {
  const OverlayValue* value = calibration.overlay.find(key);
  if (value == nullptr) throw std::runtime_error("absent: " + std::string(key));
  return value->value;
}

Calibration calibration_of(const Measurements& m) {
  return to_calibration(m, "curves.json", testing::hopper_like());
}

void replace(Measurements& m, Curve curve) {
  std::erase_if(m.curves, [&](const Curve& one) {
    return one.microbenchmark == curve.microbenchmark && one.series == curve.series;
  });
  m.curves.push_back(std::move(curve));
}

bool refused(const Calibration& calibration, std::string_view key) {
  const bool told = std::any_of(calibration.refused.begin(), calibration.refused.end(),
                                [key](const Refusal& one) { return one.key == key; });
  return told && calibration.overlay.find(key) == nullptr;
}

TEST(SustainedValues, WorkedByHand) {
  const Calibration found = calibration_of(made_up());
  EXPECT_TRUE(found.refused.empty());
  EXPECT_EQ(value_of(found, "dram_read_bytes_per_s"), 4e12);
  EXPECT_EQ(value_of(found, "dram_scattered_bytes_per_s"), 2e12);
  EXPECT_EQ(value_of(found, "l2_bandwidth_bytes_per_s"), 8e12);
  EXPECT_EQ(value_of(found, "sm_clock_hz"), 1.8e9);
  EXPECT_EQ(value_of(found, "l2_latency_cycles"), 270);
  EXPECT_EQ(value_of(found, "l1_tags_per_clk"), 4);
  EXPECT_EQ(value_of(found, "vector_flop_per_clk/fp32"), 254);
  EXPECT_NEAR(value_of(found, "warp_launch_cycles"), 10, 1e-9);
  EXPECT_NEAR(value_of(found, "block_launch_cycles"), 20, 1e-9);
  EXPECT_NEAR(value_of(found, "first_access_s"), 1.5e-6 - 950 / 1.9e9, 1e-12);
}

TEST(SustainedValues, WhatWasNotMeasuredIsLeftOut) {
  const Calibration found = calibration_of(made_up());
  EXPECT_EQ(found.overlay.find("vector_flop_per_clk/fp64"), nullptr);
  EXPECT_EQ(found.overlay.find("dram_write_bytes_per_s"), nullptr);
  const Calibration none = calibration_of(Measurements{});
  EXPECT_TRUE(none.overlay.values.empty());
  EXPECT_TRUE(none.refused.empty());
}

TEST(SustainedValues, EveryValueNamesItsMicrobenchmark) {
  const Overlay overlay = calibration_of(made_up()).overlay;
  EXPECT_EQ(overlay.provenance.run, "curves.json");
  EXPECT_NE(overlay.provenance.note.find("1900 MHz"), std::string::npos);
  for (const OverlayValue& value : overlay.values) {
    EXPECT_TRUE(measured_directly(value)) << value.key;
    EXPECT_TRUE(std::any_of(overlay.sources.begin(), overlay.sources.end(),
                            [&](const OverlaySource& one) { return one.key == value.source; }))
        << value.key;
  }
}

TEST(SustainedValues, AboveTheDatasheetIsRefused) {
  Measurements m = made_up();
  replace(m, {"bandwidth", "DRAM read", "footprint_bytes", "B/s", {{4e9, 5.5e12}}});
  replace(m, single("pipes", "fp32 fma", "1/clk", 300));
  replace(m, single("clock", "fp32 multiply-adds", "Hz", 3e9));
  replace(m, single("clock", "streaming from DRAM", "Hz", 3e9));
  const Calibration found = calibration_of(m);
  EXPECT_TRUE(refused(found, "dram_read_bytes_per_s"));
  EXPECT_TRUE(refused(found, "vector_flop_per_clk/fp32"));
  EXPECT_TRUE(refused(found, "sm_clock_hz"));
  EXPECT_FALSE(refused(found, "l1_latency_cycles"));
}

TEST(SustainedValues, NonsenseIsRefused) {
  Measurements m = made_up();
  replace(m, single("launch", "alone between two events", "s", -1e-6));
  replace(m, single("launch", "each of many, in a graph", "s", 1));
  replace(m, single("first_and_last", "copies, at 0 B", "s", 3e-6));
  replace(m, {"latency",
              "global",
              "footprint_bytes",
              "clk",
              {{16 * 1024, 34}, {8 * kMiB, 30}, {1024 * kMiB, 950}}});
  const Calibration found = calibration_of(m);
  EXPECT_TRUE(refused(found, "stream_launch_s"));
  EXPECT_TRUE(refused(found, "graph_launch_s"));
  EXPECT_TRUE(refused(found, "l2_latency_cycles"));
  EXPECT_FALSE(refused(found, "dram_latency_cycles"));
}

TEST(SustainedValues, AReadingJustAboveItsPeakIsThePeak) {
  Measurements m = made_up();
  replace(m, single("pipes", "fp32 fma", "1/clk", 128.1));
  EXPECT_EQ(value_of(calibration_of(m), "vector_flop_per_clk/fp32"), 256);
}

TEST(SustainedValues, OverlayOfTheMeasurementsLoads) {
  Measurements m = made_up();
  const specs::Embedded* h200 = specs::find_embedded("h200-sxm");
  specs::Source source{.file = "h200-sxm.json",
                       .text = std::string(h200->text),
                       .overlay_file = {},
                       .overlay_text = {},
                       .overrides = {}};
  const Calibration found = to_calibration(m, "curves.json", specs::load(source));
  source.overlay_file = "overlay.json";
  source.overlay_text = to_json(found.overlay);
  EXPECT_EQ(specs::load(source).sustained.latency.l2_cycles, 270.0);
}

}  // namespace
}  // namespace roofcast::validation
