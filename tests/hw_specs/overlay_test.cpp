// Calibrations, overrides, and the sources of values.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/hw_specs/support.hpp"

namespace roofcast::specs {
namespace {

Json calibration() {
  return {{"gpu", "h100-sxm5"},
          {"provenance", {{"run", "runs/h100.json"}, {"date", "2026-02-03T10:00:00Z"}}},
          {"sustained",
           {{"dram_read_bytes_per_s", {{"value", 3.1e12}, {"source", "measured: stream"}}},
            {"spread_memory", {{"value", 1}, {"source", "measured: fitted"}}}}}};
}

Source with_overlay(const Json& overlay) {
  Source source = datasheet("h100-sxm5");
  source.overlay_file = "overlay.json";
  source.overlay_text = overlay.dump();
  return source;
}

Source with_override(std::string key, std::string value, std::string_view gpu = "h100-sxm5") {
  Source source = datasheet(gpu);
  source.overrides = {{std::move(key), std::move(value)}};
  return source;
}

TEST(Overlay, SetsTheSustainedValuesAlone) {
  const Gpu plain = load(datasheet("h100-sxm5"));
  EXPECT_TRUE(plain.sustained.source.empty());
  EXPECT_FALSE(plain.sustained.dram_read_bytes_per_s);

  const Gpu gpu = load(with_overlay(calibration()));
  EXPECT_EQ(gpu.sustained.source, "runs/h100.json, 2026-02-03T10:00:00Z");
  EXPECT_EQ(gpu.sustained.dram_read_bytes_per_s, 3.1e12);
  EXPECT_EQ(gpu.sustained.spread_memory, 1.0);
  EXPECT_FALSE(gpu.sustained.dram_write_bytes_per_s);
  EXPECT_EQ(gpu.memory.dram_bandwidth_bytes_per_s, plain.memory.dram_bandwidth_bytes_per_s);
}

TEST(Overlay, ScalesWithADatasheetValueSetByHand) {
  Source source = with_overlay(calibration());
  source.overrides = {{"dram_bandwidth_bytes_per_s", "6.7e12"}};  // twice the datasheet's
  EXPECT_DOUBLE_EQ(*load(source).sustained.dram_read_bytes_per_s, 6.2e12);
  source.overrides.push_back({"sustained/dram_read_bytes_per_s", "5e12"});
  EXPECT_EQ(load(source).sustained.dram_read_bytes_per_s, 5e12);
}

TEST(Overlay, EveryMember) {
  using Members = std::vector<std::pair<std::string, std::optional<double>>>;
  const auto members = [](const Sustained& of) -> Members {
    return {{"dram_read_bytes_per_s", of.dram_read_bytes_per_s},
            {"dram_write_bytes_per_s", of.dram_write_bytes_per_s},
            {"l2_bandwidth_bytes_per_s", of.l2_bandwidth_bytes_per_s},
            {"first_access_s", of.first_access_s},
            {"sm_clock_hz", of.sm_clock_hz},
            {"tensor_clock_hz", of.tensor_clock_hz},
            {"stream_launch_s", of.stream_launch_s},
            {"graph_launch_s", of.graph_launch_s},
            {"launch_gap_s", of.launch_gap_s},
            {"warp_launch_cycles", of.warp_launch_cycles},
            {"barrier_cycles", of.barrier_cycles},
            {"l1_tags_per_clk", of.l1_tags_per_clk},
            {"fma_latency_cycles", of.latency.fma_cycles},
            {"shared_latency_cycles", of.latency.shared_cycles},
            {"l1_latency_cycles", of.latency.l1_cycles},
            {"l2_latency_cycles", of.latency.l2_cycles},
            {"dram_latency_cycles", of.latency.dram_cycles},
            {"dram_scattered_bytes_per_s", of.dram_scattered_bytes_per_s},
            {"host_submit_s", of.host_submit_s},
            {"block_launch_cycles", of.block_launch_cycles},
            {"special_per_clk", of.special_per_clk},
            {"conversion_per_clk", of.conversion_per_clk},
            {"spread_launch_bound", of.spread_launch_bound},
            {"spread_memory", of.spread_memory},
            {"spread_compute", of.spread_compute}};
  };
  for (const auto& [key, absent] : members({})) {
    Json overlay = calibration();
    const bool per_second = key.ends_with("_bytes_per_s") || key.ends_with("_hz");
    overlay["sustained"] = {{key, {{"value", per_second ? 2e9 : 1}, {"source", "unverified"}}}};
    for (const auto& [other, value] : members(load(with_overlay(overlay)).sustained)) {
      EXPECT_EQ(value.has_value(), other == key) << key << ' ' << other;
    }
  }
}

TEST(Overlay, SaysWhereOthersMeasured) {
  Json overlay = calibration();
  EXPECT_FALSE(load(with_overlay(overlay)).sustained.published);
  overlay["provenance"]["published"] = true;
  EXPECT_TRUE(load(with_overlay(overlay)).sustained.published);
}

TEST(Overlay, RatesByElementType) {
  Json overlay = calibration();
  overlay["sustained"]["vector_flop_per_clk"]["bf16"] = {{"value", 500}, {"source", "unverified"}};
  const Gpu gpu = load(with_overlay(overlay));
  EXPECT_EQ(gpu.sustained.vector_flop_per_clk[DType::bf16], 500.0);
  EXPECT_FALSE(gpu.sustained.vector_flop_per_clk[DType::fp16]);
  EXPECT_EQ(gpu.sm.vector_flop_per_clk[DType::bf16],
            load(datasheet("h100-sxm5")).sm.vector_flop_per_clk[DType::bf16]);
}

TEST(Overlay, TheShippedOnesFitTheirDevice) {
  std::size_t count = 0;
  for (const Embedded& one : embedded()) {
    if (one.overlay_text.empty()) continue;
    ++count;
    const Gpu gpu = load(calibrated(one.name));
    EXPECT_FALSE(gpu.sustained.source.empty());
    EXPECT_LT(gpu.sustained.dram_read_bytes_per_s.value_or(0),
              *gpu.memory.dram_bandwidth_bytes_per_s)
        << one.name;
  }
  EXPECT_GE(count, 1U);
  EXPECT_FALSE(shipped("h200-sxm").overlay_text.empty());
}

TEST(Overlay, Refused) {
  Json overlay = calibration();
  overlay["gpu"] = "h200-sxm";
  expect_refused(with_overlay(overlay), "/gpu", "\"h100-sxm5\"", "\"h200-sxm\"", "--datasheet");

  overlay = calibration();
  overlay["sustained"]["dram_reed_bytes_per_s"] = {{"value", 1}, {"source", "unverified"}};
  expect_refused(with_overlay(overlay), "/sustained/dram_reed_bytes_per_s", "one of the keys",
                 "dram_reed", "did you mean \"dram_read_bytes_per_s\"?");

  overlay = calibration();
  overlay["sustained"]["spread_memory"]["value"] = 101;
  expect_refused(with_overlay(overlay), "/sustained/spread_memory/value", "at most 100", "101",
                 "at most 100");

  overlay = calibration();
  overlay["provenance"].erase("date");
  expect_refused(with_overlay(overlay), "/provenance/date", "the day of the run", "none", "2026");

  overlay = calibration();
  overlay["sustained"]["spread_memory"]["source"] = "nowhere";
  expect_refused(with_overlay(overlay), "/sustained/spread_memory/source", "a key of /sources",
                 "nowhere", "");

  overlay = calibration();
  overlay["memory"] = {{"l2_bytes", 1}};
  expect_refused(with_overlay(overlay), "/memory", "one of the keys", "memory", "");

  for (const char* text : {"null", "[]", "3"}) {
    Source source = with_overlay(calibration());
    source.overlay_text = text;
    expect_refused(source, "", "an object", text, "");
  }
}

// Calibrations made before the keys were renamed.
TEST(Overlay, OldKeysAreRefusedWithTheNewName) {
  for (const auto& [old, now] :
       std::map<std::string, std::string>{{"stream_next_s", "launch_gap_s"}}) {
    Json overlay = calibration();
    overlay["sustained"][old] = {{"value", 1e-6}, {"source", "unverified"}};
    expect_refused(with_overlay(overlay), "/sustained/" + old, "one of the keys", old,
                   "write \"" + now + "\", its name now");
    EXPECT_TRUE(
        Json::parse(overlay_schema_text())["properties"]["sustained"]["properties"].contains(now));
  }
}

TEST(Overlay, ErrorsNameTheOverlayFile) {
  Source source = with_overlay(calibration());
  source.overlay_text = "{";
  EXPECT_EQ(refusal(source).what.rfind("overlay.json: at ", 0), 0U);
}

TEST(Override, ByLeafNamePathAndDots) {
  EXPECT_EQ(load(with_override("sm_count", "144")).sm_count, 144);
  EXPECT_EQ(load(with_override("memory/l2_bytes", "1000000")).memory.l2_bytes, 1e6);
  EXPECT_EQ(load(with_override("memory.l2_bytes", "1000000")).memory.l2_bytes, 1e6);
  EXPECT_EQ(load(with_override("/memory/l2_bytes", "1000000")).memory.l2_bytes, 1e6);
  EXPECT_EQ(load(with_override("power_w", "350.5")).power_w, 350.5);
  EXPECT_EQ(load(with_override("title", "\"What if\"")).title, "What if");
  EXPECT_EQ(
      load(with_override("vector_flop_per_clk/fp32", "512")).sm.vector_flop_per_clk[DType::fp32],
      512.0);
}

TEST(Override, SetsWhatTheFileLeavesOut) {
  EXPECT_FALSE(load(datasheet("a100-sxm4-40gb")).memory.dram_access_bytes);
  EXPECT_EQ(
      load(with_override("dram_access_bytes", "64", "a100-sxm4-40gb")).memory.dram_access_bytes,
      64.0);
  EXPECT_EQ(load(with_override("link_bytes_per_s", "1e9", "l40s")).link_bytes_per_s, 1e9);
}

// A measured value scales with its datasheet value where that is set by hand.
TEST(Override, LatenciesAndL2CarryOverToWhatWasMeasured) {
  const auto asked = [](const char* key, const char* value) {
    Source source = calibrated("h200-sxm");
    source.overrides = {{key, value}};
    return load(source).sustained;
  };
  const Sustained known = load(calibrated("h200-sxm")).sustained;
  const Latencies& measured = known.latency;
  ASSERT_TRUE(measured.dram_cycles && measured.l2_cycles && measured.shared_cycles &&
              measured.fma_cycles && measured.l1_cycles);
  EXPECT_DOUBLE_EQ(*asked("latency/dram_cycles", "1310").latency.dram_cycles,
                   2 * *measured.dram_cycles);
  EXPECT_DOUBLE_EQ(*asked("latency/l2_cycles", "530").latency.l2_cycles, 2 * *measured.l2_cycles);
  EXPECT_DOUBLE_EQ(*asked("latency/l1_cycles", "68").latency.l1_cycles, 2 * *measured.l1_cycles);
  EXPECT_DOUBLE_EQ(*asked("latency/shared_cycles", "58").latency.shared_cycles,
                   2 * *measured.shared_cycles);
  EXPECT_DOUBLE_EQ(*asked("latency/fma_cycles", "8").latency.fma_cycles, 2 * *measured.fma_cycles);
  EXPECT_EQ(asked("latency/dram_cycles", "1310").latency.l2_cycles, measured.l2_cycles);
  EXPECT_DOUBLE_EQ(*asked("memory/l2_bytes_per_clk", "12288").l2_bandwidth_bytes_per_s,
                   2 * *known.l2_bandwidth_bytes_per_s);
}

TEST(Override, OfACalibratedValueWithAndWithoutACalibration) {
  EXPECT_EQ(load(with_override("sm_clock_hz", "1.5e9")).sustained.sm_clock_hz, 1.5e9);
  Source source = with_overlay(calibration());
  source.overrides = {{"sustained/dram_read_bytes_per_s", "3e12"}};
  const Gpu gpu = load(source);
  EXPECT_EQ(gpu.sustained.dram_read_bytes_per_s, 3e12);
  EXPECT_EQ(gpu.sustained.spread_memory, 1.0);
}

TEST(Override, OfANameThatSpecificationAndCalibrationShareIsTheSpecifications) {
  Gpu gpu = load(with_override("special_per_clk", "32"));
  EXPECT_EQ(gpu.sm.special_per_clk, 32.0);
  EXPECT_FALSE(gpu.sustained.special_per_clk);
  gpu = load(with_override("sustained/special_per_clk", "15"));
  EXPECT_EQ(gpu.sm.special_per_clk, 16.0);
  EXPECT_EQ(gpu.sustained.special_per_clk, 15.0);
}

TEST(Override, SeveralAndTheLastOfTwo) {
  Source source = datasheet("h100-sxm5");
  source.overrides = {{"sm_count", "1"}, {"max_hz", "2.5e9"}, {"sm_count", "2"}};
  const Gpu gpu = load(source);
  EXPECT_EQ(gpu.sm_count, 2);
  EXPECT_EQ(gpu.clocks.max_hz, 2.5e9);
}

TEST(Override, AFeatureCanBeTakenAway) {
  EXPECT_TRUE(load(datasheet("h200-sxm")).features.has(Instruction::wgmma));
  EXPECT_FALSE(load(with_override("wgmma", "false")).features.has(Instruction::wgmma));
  EXPECT_FALSE(
      load(with_override("features/bulk_copy", "false")).features.has(Instruction::bulk_copy));
  EXPECT_EQ(load(with_override("cluster_blocks_max", "8")).features.cluster_blocks_max, 8);
}

TEST(Override, UnknownAndAmbiguousKeys) {
  expect_refused(with_override("stream_next_s", "1e-6"), "", "a value of the specification",
                 "stream_next_s", "\"launch_gap_s\", its name now");
  expect_refused(with_override("sm_cuont", "144"), "", "a value of the specification", "sm_cuont",
                 "did you mean \"sm_count\"?");
  expect_refused(with_override("memory/l2_byte", "1"), "", "a value of the specification",
                 "memory/l2_byte", "did you mean \"memory/l2_bytes\"?");
  expect_refused(with_override("memory", "1"), "", "a value of the specification", "memory", "");
  expect_refused(with_override("", "1"), "", "a value of the specification", "", "");
  expect_refused(with_override("sources", "1"), "", "a value of the specification", "sources", "");
  expect_refused(with_override("fp32", "1"), "", "a key that names one value", "fp32",
                 "/sm/vector_flop_per_clk/fp32");
}

TEST(Override, WrongValues) {
  for (const char* value : {"many", "", "[1", "{}", "null", "1e999", "NaN", "144,"}) {
    const Refusal error = refusal(with_override("sm_count", value));
    EXPECT_EQ(error.pointer, "/chip/sm_count") << value;
    EXPECT_EQ(error.what.rfind("--set sm_count=", 0), 0U) << error.what;
    EXPECT_NE(error.what.find("a JSON number, string"), std::string::npos) << error.what;
  }
  expect_refused(with_override("sm_count", "\"144\""), "/chip/sm_count/value", "an integer",
                 "\"144\"", "without quotes");
  expect_refused(with_override("sm_count", "[1]"), "/chip/sm_count/value", "an integer", "[1]",
                 "an integer");
  expect_refused(with_override("gpc_sms", "16"), "/features/gpc_sms/value", "an array", "16",
                 "an array");
  expect_refused(with_override("sm_count", "true"), "/chip/sm_count/value", "an integer", "true",
                 "an integer");
  expect_refused(with_override("wgmma", "1"), "/features/wgmma/value", "a boolean", "1",
                 "a boolean");
  expect_refused(with_override("sm_count", "-1"), "/chip/sm_count/value", "at least 1", "-1", "");
  expect_refused(with_override("spread_memory", "101"), "/sustained/spread_memory/value",
                 "at most 100", "101", "");
}

TEST(Override, AtOddsWithTheOtherValues) {
  const Refusal error = refusal(with_override("clocks/max_hz", "1e9"));
  EXPECT_EQ(error.pointer, "/clocks/vector_boost_hz");
  EXPECT_EQ(error.what.rfind("--set clocks/max_hz=1e9: at ", 0), 0U) << error.what;
}

TEST(Override, DoesNotHideAWrongFile) {
  Json specification = document("h100-sxm5");
  specification["chip"]["sm_count"]["value"] = 0;
  Source source = from(specification);
  source.overrides = {{"sm_count", "132"}};
  EXPECT_EQ(refusal(source).what.rfind("device.json: at /chip/sm_count/value", 0), 0U);
}

const SourcedValue& at(const std::vector<SourcedValue>& values, std::string_view pointer) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const SourcedValue& one) { return one.pointer == pointer; });
  if (found == values.end()) throw std::runtime_error("absent: " + std::string(pointer));
  return *found;
}

TEST(Sources, OfEveryValue) {
  Source source = calibrated("h200-sxm");
  source.overrides = {{"power_w", "600"}};
  const auto values = values_with_sources(source);
  EXPECT_EQ(at(values, "/chip/sm_count").value, "132");
  EXPECT_NE(at(values, "/chip/sm_count").source.find("measured on one H200"), std::string::npos);
  EXPECT_NE(at(values, "/memory/l2_line_bytes").source.find("https://docs.nvidia.com"),
            std::string::npos);
  EXPECT_EQ(at(values, "/latency/fma_cycles").source, "unverified");
  EXPECT_EQ(at(values, "/power_w").value, "600");
  EXPECT_EQ(at(values, "/power_w").source, "set by hand");
  EXPECT_EQ(at(values, "/sustained/dram_read_bytes_per_s").pointer,
            "/sustained/dram_read_bytes_per_s");
}

/// Pointers of all {"value", "source"} in a document.
void collect(const std::string& pointer, const Json& node, std::vector<std::string>& found) {
  if (!node.is_object()) return;
  if (node.contains("value") && node.contains("source")) found.push_back(pointer);
  for (const auto& [key, member] : node.items()) collect(pointer + '/' + key, member, found);
}

TEST(Sources, ListEveryValueOfEveryFile) {
  for (const Embedded& one : embedded()) {
    std::vector<std::string> in_file;
    collect("", document(one.name), in_file);
    std::vector<std::string> listed;
    for (const SourcedValue& value : values_with_sources(datasheet(one.name))) {
      listed.push_back(value.pointer);
      EXPECT_FALSE(value.source.empty());
      EXPECT_NE(value.source, "override");
    }
    std::sort(in_file.begin(), in_file.end());
    std::sort(listed.begin(), listed.end());
    EXPECT_EQ(in_file, listed) << one.name;
  }
}

}  // namespace
}  // namespace roofcast::specs
