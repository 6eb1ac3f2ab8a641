// GPUs that were not measured: what they take from a relative.
#include "hw_specs/relative.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "hw_specs/fields.hpp"
#include "tests/hw_specs/support.hpp"

namespace roofcast::specs {
namespace {

Source of_relative(std::string_view name, std::string relative = "h200-sxm") {
  Source source = datasheet(name);
  source.datasheet_only = false;
  source.relative = std::move(relative);
  return source;
}

// The kind of each sustained value, by the schema.
std::map<std::string, std::string> kinds() {
  const Json schema = Json::parse(overlay_schema_text());
  std::map<std::string, std::string> found;
  for (const auto& [key, one] : schema["properties"]["sustained"]["properties"].items()) {
    found[key] = one.at("kind").get<std::string>();
  }
  return found;
}

// A device of which everything is known, and one of which the datasheet says twice as much.
Gpu all_known(double datasheet) {
  Gpu gpu = load(calibrated("h200-sxm"));
  for (auto* value :
       {&gpu.memory.dram_bandwidth_bytes_per_s, &gpu.memory.l2_bytes, &gpu.memory.l2_bytes_per_clk,
        &gpu.clocks.vector_boost_hz, &gpu.clocks.tensor_boost_hz, &gpu.latency.fma_cycles,
        &gpu.latency.shared_cycles, &gpu.latency.l1_cycles, &gpu.latency.l2_cycles,
        &gpu.latency.dram_cycles, &gpu.sm.special_per_clk, &gpu.sm.conversion_per_clk}) {
    *value = datasheet;
  }
  for (const DType type : kAllDTypes) {
    gpu.sm.vector_flop_per_clk[type] = datasheet;
    gpu.sustained.vector_flop_per_clk[type] = 3;
  }
  gpu.sustained.dram_scattered_bytes_per_s = 3;
  gpu.sustained.vector_flop_energy_j = 3;
  gpu.sustained.tensor_flop_energy_j = 3;
  return gpu;
}

TEST(Relative, EveryValueGoesOverByTheKindThatTheSchemaSays) {
  const Gpu relative = all_known(1);
  Gpu gpu = all_known(2);
  take_values(relative, gpu);
  EXPECT_EQ(gpu.sustained.relative, relative.name);
  EXPECT_TRUE(gpu.sustained.source.empty());
  const std::map<std::string, std::string> kind_of = kinds();
  const std::map<std::string, double> before = sustained_values(relative.sustained);
  const std::map<std::string, double> after = sustained_values(gpu.sustained);
  ASSERT_EQ(after.size(), sustained_leaves().size()) << "a value is missing here";
  for (const auto& [pointer, value] : after) {
    const std::string key = pointer.substr(11, pointer.find('/', 11) - 11);
    const std::string& kind = kind_of.at(key);
    const bool by_two = key == "l2_bandwidth_bytes_per_s";
    const double share = by_two ? 4 : 2;  // scales with the rate and with the clock
    EXPECT_DOUBLE_EQ(value / before.at(pointer), kind == "share" ? share : 1) << pointer;
  }
  for (const auto& [key, kind] : kind_of) {
    EXPECT_TRUE(
        (std::set<std::string>{"share", "generation", "installation", "interval"}).contains(kind))
        << key << " is of no known kind: " << kind;
    EXPECT_EQ(kind == "installation", key.ends_with("_s") && !key.ends_with("_per_s")) << key;
    if (key.ends_with("_per_s") || key.ends_with("_bytes")) {
      EXPECT_EQ(kind, "share") << key;
    }
  }
}

TEST(Relative, CardsOfOneDieShareWhatPublishedMeasurementsTellOfTheChip) {
  const Gpu sxm = load(of_relative("a100-sxm4-40gb", "")),
            card = load(calibrated("a100-pcie-40gb"));
  EXPECT_EQ(sxm.sustained.dram_read_bytes_per_s, card.sustained.dram_read_bytes_per_s);
  EXPECT_NE(sxm.sustained.graph_launch_s, card.sustained.graph_launch_s);
}

// A rate of scattered reads is that of reads of the relative's size.
TEST(Relative, TheSizeOfADramReadComesWithItsRate) {
  EXPECT_EQ(load(of_relative("b200", "")).memory.dram_access_bytes,
            load(calibrated("h200-sxm")).memory.dram_access_bytes);
}

TEST(Relative, SoDoCardsOfOneArchitectureWithTheSameL2) {
  const auto l2_of = [](const char* die, std::int64_t l2_bytes) {
    Source source = of_relative("b200", "");
    Json spec = Json::parse(source.text);
    spec["name"] = "b300";
    spec["die"] = die;
    spec["memory"]["l2_bytes"]["value"] = l2_bytes;
    source.text = spec.dump();
    return load(source).sustained.l2_bandwidth_bytes_per_s;
  };
  const auto b200 = load(calibrated("b200")).sustained.l2_bandwidth_bytes_per_s;
  const auto bytes = static_cast<std::int64_t>(*load(calibrated("b200")).memory.l2_bytes);
  EXPECT_EQ(l2_of("GB110", bytes), b200);
  EXPECT_EQ(l2_of("GB110", bytes - bytes / 100), b200);  // rounded by its source
  EXPECT_NE(l2_of("GB202", bytes - bytes / 4), b200);
}

TEST(Relative, EnergyIsOfTheDieElseOfTheArchitecture) {
  const auto vector_j = [](const Source& source) {
    return load(source).sustained.vector_flop_energy_j;
  };
  const auto tensor_j = [](const Source& source) {
    return load(source).sustained.tensor_flop_energy_j;
  };
  EXPECT_EQ(tensor_j(of_relative("rtx4090", "")), tensor_j(calibrated("l40s")));  // of its die
  EXPECT_EQ(vector_j(of_relative("rtx4090", "")), vector_j(calibrated("l4")));
  EXPECT_EQ(vector_j(of_relative("l40s", "")), vector_j(calibrated("l4")));
  EXPECT_EQ(tensor_j(of_relative("l4", "")), tensor_j(calibrated("l40s")));
  // Of the card of its die with the nearest power limit, not of that with the same memory.
  EXPECT_EQ(vector_j(of_relative("a100-sxm4-40gb", "")), vector_j(calibrated("a100-pcie-80gb")));
  EXPECT_EQ(tensor_j(of_relative("a100-pcie-40gb", "")), tensor_j(calibrated("a100-sxm4-80gb")));
  EXPECT_FALSE(tensor_j(calibrated("h100-sxm5")));
}

TEST(Relative, WhatTheDeviceLacksIsNotTaken) {
  const Gpu gpu = load(of_relative("v100-sxm2"));
  EXPECT_FALSE(gpu.sustained.vector_flop_per_clk[DType::bf16]);
  EXPECT_TRUE(gpu.sustained.vector_flop_per_clk[DType::fp32]);
}

TEST(Relative, EveryGpuHasLaunchCostsAndSaysWhereFrom) {
  for (const Embedded& one : embedded()) {
    const Gpu gpu = load(shipped_source(one));
    if (!gpu.occupancy) continue;
    for (const auto& cost : {gpu.sustained.stream_launch_s, gpu.sustained.graph_launch_s,
                             gpu.sustained.launch_gap_s, gpu.sustained.host_submit_s}) {
      EXPECT_GT(cost.value_or(0), 0) << one.name;
      EXPECT_LT(cost.value_or(0), 10e-6) << one.name;  // a table's way of timing is no launch cost
    }
    EXPECT_NE(calibration_kind(gpu.sustained), CalibrationKind::none) << one.name;
    EXPECT_TRUE(gpu.sustained.spread_launch_bound && gpu.sustained.spread_memory &&
                gpu.sustained.spread_compute)
        << one.name;
  }
}

TEST(Relative, TheNearestIsOfTheSameDieOrElseOfTheSameArchitecture) {
  const Gpu h100 = load(of_relative("h100-pcie", ""));
  EXPECT_EQ(h100.sustained.relative, "h100-sxm5");  // that and the H200 are of its die
  EXPECT_TRUE(same_die(h100, load(datasheet(h100.sustained.relative))));
  EXPECT_FALSE(same_die(load(datasheet("tpu-v4")), load(datasheet("tpu-v5e"))));  // of no die
}

TEST(Relative, ItsIntervalIsWiderByWhatTheFileSays) {
  const Widening widening = shipped_widening();
  EXPECT_GE(widening.same_die, 1);
  EXPECT_GE(widening.other_die, widening.same_die);
  const double own = *load(calibrated("h200-sxm")).sustained.spread_memory;
  EXPECT_DOUBLE_EQ(*load(of_relative("h100-sxm5")).sustained.spread_memory,
                   own * widening.same_die);
  EXPECT_DOUBLE_EQ(*load(of_relative("v100-sxm2")).sustained.spread_memory,
                   own * widening.other_die);
  EXPECT_DOUBLE_EQ(*load(of_relative("h200-sxm")).sustained.spread_memory, own);
  const Json file = Json::parse(relatives_text());
  for (const char* meaning : {"same_die", "other_die"}) {
    const Json& entry = file["interval_widening"][meaning];
    EXPECT_FALSE(entry.at("runs").empty()) << meaning;
    EXPECT_FALSE(entry.at("date").get<std::string>().empty()) << meaning;
  }
}

TEST(Relative, GivesWhatACalibrationLacks) {
  Json overlay = Json::parse(calibrated("h200-sxm").overlay_text);
  overlay["gpu"] = "h100-sxm5";
  Source source = of_relative("h100-sxm5");
  source.overlay_file = "overlay.json";
  source.overlay_text = overlay.dump();
  const Gpu whole = load(source);
  EXPECT_TRUE(whole.sustained.relative.empty());

  overlay["sustained"].erase("spread_memory");  // as `roofcast calibrate` leaves it
  overlay["sustained"].erase("barrier_cycles");
  source.overlay_text = overlay.dump();
  const Gpu part = load(source);
  EXPECT_EQ(part.sustained.relative, "h200-sxm");
  EXPECT_EQ(calibration_kind(part.sustained), CalibrationKind::measured);
  EXPECT_EQ(part.sustained.barrier_cycles, load(calibrated("h200-sxm")).sustained.barrier_cycles);
  EXPECT_EQ(part.sustained.dram_read_bytes_per_s, whole.sustained.dram_read_bytes_per_s);
  EXPECT_GT(*part.sustained.spread_memory, 0);

  source.datasheet_only = true;
  EXPECT_FALSE(load(source).sustained.barrier_cycles);
}

TEST(Relative, AValueSetByHandLeavesTheRest) {
  Source source = of_relative("h100-sxm5");
  source.overrides = {{"stream_launch_s", "5e-6"}};
  const Gpu gpu = load(source);
  EXPECT_EQ(gpu.sustained.stream_launch_s, 5e-6);
  EXPECT_EQ(gpu.sustained.graph_launch_s, load(of_relative("h100-sxm5")).sustained.graph_launch_s);
  EXPECT_EQ(calibration_kind(gpu.sustained), CalibrationKind::relative);
  // A datasheet value set by hand moves the relative's share of it.
  source.overrides = {{"dram_bandwidth_bytes_per_s", "6.7e12"}};
  EXPECT_DOUBLE_EQ(*load(source).sustained.dram_read_bytes_per_s,
                   2 * *load(of_relative("h100-sxm5")).sustained.dram_read_bytes_per_s);
}

TEST(Relative, OneThatWasNotMeasuredIsRefused) {
  try {
    (void)load(of_relative("h100-sxm5", "k80"));
    ADD_FAILURE() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("\"k80\" was not measured"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("h200-sxm"), std::string::npos);
  }
}

TEST(Relative, ItsValuesAreListedWithTheirSource) {
  bool listed = false;
  for (const SourcedValue& value : values_with_sources(of_relative("l40s"))) {
    if (value.pointer != "/sustained/stream_launch_s") continue;
    listed = true;
    EXPECT_EQ(value.source, "of h200-sxm, scaled by the datasheets");
  }
  EXPECT_TRUE(listed);
}

}  // namespace
}  // namespace roofcast::specs
