// Each kind of wrong file is refused, with where, what was expected, what was found, how to mend.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "hw_specs/source_rules.hpp"
#include "tests/hw_specs/support.hpp"

namespace roofcast::specs {
namespace {

using Edit = std::function<void(Json&)>;

Source edited(const Edit& edit, std::string_view name = "h100-sxm5") {
  Json specification = document(name);
  edit(specification);
  return from(specification);
}

Source with_text(std::string text) {
  return {"device.json", std::move(text), "", "", {}};
}

/// The text of a shipped specification with one place of it replaced.
Source replaced(const std::string& old, const std::string& fresh) {
  Source source = datasheet("h100-sxm5");
  const std::size_t at = source.text.find(old);
  if (at == std::string::npos) throw std::runtime_error("not in the specification: " + old);
  source.text.replace(at, old.size(), fresh);
  return source;
}

TEST(Refusal, MessageReadsAsPromised) {
  const Refusal error = refusal(edited([](Json& s) { s["chip"]["sm_count"]["value"] = -3; }));
  EXPECT_EQ(error.what,
            "device.json: at /chip/sm_count/value: expected an integer of at least 1 and at most "
            "1000000000000000 (Multiprocessors switched on (count), not those of the full die.), "
            "found -3. Mend: write an integer of at least 1 and at most 1000000000000000.");
}

TEST(Refusal, UnknownKeyWithTheNearestKnown) {
  expect_refused(edited([](Json& s) { s["memory"]["l2_byts"] = s["memory"]["l2_bytes"]; }),
                 "/memory/l2_byts", "one of the keys", "l2_byts", "did you mean \"l2_bytes\"?");
  expect_refused(edited([](Json& s) { s["memry"] = s["memory"]; }), "/memry", "one of the keys",
                 "memry", "did you mean \"memory\"?");
  expect_refused(edited([](Json& s) { s["zzzzzzzzzz"] = 1; }), "/zzzzzzzzzz", "one of the keys",
                 "zzzzzzzzzz", "remove it");
  expect_refused(edited([](Json& s) { s["sources"]["HWP"]["adress"] = "x"; }),
                 "/sources/HWP/adress", "one of the keys", "adress", "did you mean \"address\"?");
}

TEST(Refusal, RenamedRequiredKeyIsCalledUnknownNotMissing) {
  expect_refused(replaced("dram_bandwidth_bytes_per_s", "dram_bandwith_bytes_per_s"),
                 "/memory/dram_bandwith_bytes_per_s", "one of the keys", "dram_bandwith",
                 "did you mean \"dram_bandwidth_bytes_per_s\"?");
}

TEST(Refusal, DuplicateKey) {
  expect_refused(replaced(R"("chip": {)", R"("chip": {"sm_count": {"value": 9, "source": "HWP"},)"),
                 "/chip/sm_count", "each key once", "\"sm_count\" twice", "remove one");
  expect_refused(replaced(R"("year": 2022)", R"("year": 2022, "year": 2022)"), "/year",
                 "each key once", "\"year\" twice", "remove one");
}

TEST(Refusal, WrongType) {
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"]["value"] = "132"; }),
                 "/chip/sm_count/value", "an integer", "\"132\"", "without quotes");
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"]["value"] = 132.0; }),
                 "/chip/sm_count/value", "an integer", "132.0", "without a point");
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"]["value"] = true; }),
                 "/chip/sm_count/value", "an integer", "true", "integer");
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"]["value"] = nullptr; }),
                 "/chip/sm_count/value", "an integer", "null", "leave the key out");
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"] = 132; }), "/chip/sm_count",
                 "an object", "132", R"(write {"value": 132, "source": "KEY"})");
  expect_refused(edited([](Json& s) { s["memory"] = Json::array(); }), "/memory", "an object", "[]",
                 "write an object");
  expect_refused(edited([](Json& s) { s["kind"] = "npu"; }), "/kind", "one of [\"gpu\",\"tpu\"]",
                 "\"npu\"", "write one of");
  expect_refused(edited([](Json& s) { s["title"] = ""; }), "/title", "a string", "\"\"", "string");
}

TEST(Refusal, NegativeAndZero) {
  for (const int value : {-1, 0}) {
    const std::string found = std::to_string(value);
    expect_refused(edited([&](Json& s) { s["chip"]["sm_count"]["value"] = value; }),
                   "/chip/sm_count/value", "at least 1", found, "at least 1");
    expect_refused(
        edited([&](Json& s) { s["memory"]["dram_bandwidth_bytes_per_s"]["value"] = value; }),
        "/memory/dram_bandwidth_bytes_per_s/value", "a number of at least 1000000000", found,
        "at least 1000000000");
  }
}

// A value in GB/s, in GHz, in GB: the key names the unit.
TEST(Refusal, TooSmallToBeMeant) {
  const std::pair<const char*, const char*> values[] = {
      {"memory/dram_bandwidth_bytes_per_s", "4.8e3"},
      {"memory/dram_bytes", "141"},
      {"clocks/max_hz", "1.98"},
      {"sustained/dram_read_bytes_per_s", "4.1e3"},
      {"sustained/sm_clock_hz", "1980"}};
  for (const auto& [key, value] : values) {
    Source source = calibrated("h200-sxm");
    source.overrides = {{key, value}};
    EXPECT_THROW((void)load(source), SpecError) << key;
  }
}

TEST(Refusal, ADayThatNoCalendarHas) {
  for (const char* day : {"2026-02-29", "2026-02-30", "2026-04-31", "2026-13-01", "2026-00-10"}) {
    EXPECT_FALSE(starts_with_date(day)) << day;
  }
  for (const char* day : {"2024-02-29", "2026-12-31T23:59:59Z"}) {
    EXPECT_TRUE(starts_with_date(day)) << day;
  }
}

TEST(Refusal, TooLarge) {
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"]["value"] = 18446744073709551615ULL; }),
                 "/chip/sm_count/value", "an integer", "18446744073709551615", "at most");
  expect_refused(edited([](Json& s) { s["power_w"]["value"] = 1e300; }), "/power_w/value",
                 "at most", "1e+300", "at most");
  expect_refused(replaced(R"("value": 3.35e12)", R"("value": 1e999)"),
                 "/memory/dram_bandwidth_bytes_per_s/value", "range of a double", "1e999", "unit");
}

TEST(Refusal, NotANumberIsNoJson) {
  for (const char* word : {"NaN", "Infinity", "-Infinity", "nan"}) {
    expect_refused(replaced(R"("value": 3.35e12)", std::string(R"("value": )") + word),
                   "/memory/dram_bandwidth_bytes_per_s/value", "JSON", "line ", "syntax");
  }
}

TEST(Refusal, MissingKey) {
  expect_refused(edited([](Json& s) { s["memory"].erase("dram_bandwidth_bytes_per_s"); }),
                 "/memory/dram_bandwidth_bytes_per_s", "DRAM bandwidth of the datasheet", "none",
                 R"(add "dram_bandwidth_bytes_per_s": {"value": NUMBER)");
  expect_refused(edited([](Json& s) { s.erase("memory"); }), "/memory", "this key", "none",
                 "add \"memory\"");
  expect_refused(edited([](Json& s) { s.erase("name"); }), "/name", "this key", "none",
                 "add \"name\"");
  expect_refused(edited([](Json& s) { s["occupancy"].erase("warps_per_sm"); }),
                 "/occupancy/warps_per_sm", "Warps resident", "none", "add \"warps_per_sm\"");
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"].erase("source"); }),
                 "/chip/sm_count/source", "Where the value is from", "none", "add \"source\"");
}

TEST(Refusal, BrokenSyntax) {
  expect_refused(with_text("{\"name\": \"x\",\n  \"year\": 20x2}"), "/year", "JSON",
                 "line 2, column", "syntax");
  expect_refused(with_text("{'name': 1}"), "", "JSON", "line 1, column 2", "syntax");
  expect_refused(with_text("{\"name\": \"\xff\"}"), "/name", "JSON", "line 1", "syntax");
  expect_refused(with_text("{} {}"), "", "JSON", "line 1", "syntax");
  expect_refused(with_text("{\"a\": 1,}"), "/a", "JSON", "line 1", "syntax");
}

TEST(Refusal, Truncated) {
  const std::string text(shipped("h100-sxm5").text);
  for (std::size_t length = 1; length + 2 < text.size(); length += 97) {
    const Refusal error = refusal(with_text(text.substr(0, length)));
    EXPECT_NE(error.what.find("expected JSON, found at line "), std::string::npos) << error.what;
  }
}

TEST(Refusal, EmptyAndHuge) {
  for (const char* text : {"", " \n\t"}) {
    expect_refused(with_text(text), "", "a JSON object", "an empty file", "start from");
  }
  expect_refused(with_text(std::string((1 << 20) + 1, '[')), "", "at most 1 MiB", "1048577",
                 "specification");
  expect_refused(with_text(std::string(100, '[')), "", "nested at most 64 deep", "more", "groups");
}

TEST(Refusal, NotAnObject) {
  for (const char* text : {"[]", "1", "\"h100\"", "null", "true"}) {
    expect_refused(with_text(text), "", "an object", text, "");
  }
}

TEST(Refusal, Sources) {
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"]["source"] = "HWPP"; }),
                 "/chip/sm_count/source", "a key of /sources", "\"HWPP\"", "did you mean \"HWP\"?");
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"]["source"] = "override"; }),
                 "/chip/sm_count/source", "a key of /sources", "\"override\"", "");
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"]["source"] = "measured: by me"; }),
                 "/chip/sm_count/source", "a key of /sources", "measured", "add it to /sources");
  expect_refused(edited([](Json& s) { s["chip"]["sm_count"]["source"] = "arithmetic"; }),
                 "/chip/sm_count/note", "the formula", "none", "add \"note\"");
  expect_refused(edited([](Json& s) { s["sources"]["HWP"].erase("address"); }), "/sources/HWP",
                 "an \"address\"", "neither", "where to look");
  expect_refused(edited([](Json& s) { s["sources"]["HWP"]["date"] = "yesterday"; }),
                 "/sources/HWP/date", "a day", "\"yesterday\"", "2026-01-31");
  expect_refused(edited([](Json& s) {
                   s["sources"]["a/b"] = {{"title", "T"}, {"date", "2026-13-01"}};
                 }),
                 "/sources/a~1b/date", "a day", "2026-13-01", "2026-01-31");
}

TEST(Refusal, ValuesThatDoNotFitTogether) {
  expect_refused(
      edited([](Json& s) { s["occupancy"]["shared_bytes_per_block"]["value"] = 233473; }),
      "/occupancy/shared_bytes_per_block", "at most /occupancy/shared_bytes_per_sm", "233473",
      "correct one");
  expect_refused(edited([](Json& s) { s["clocks"].erase("tensor_boost_hz"); }),
                 "/clocks/tensor_boost_hz", "the rates in /sm/tensor_flop_per_clk", "none", "add");
  expect_refused(edited([](Json& s) { s["clocks"].erase("vector_boost_hz"); }),
                 "/clocks/vector_boost_hz", "the rates in /sm/vector_flop_per_clk", "none", "add");
  expect_refused(edited([](Json& s) { s.erase("chip"); }), "/chip/sm_count", "the rates in /sm",
                 "none", "add");
  expect_refused(edited([](Json& s) { s["clocks"]["max_hz"]["value"] = 1.5e9; }),
                 "/clocks/vector_boost_hz", "at most /clocks/max_hz", "1980000000", "correct");
  expect_refused(edited([](Json& s) { s["occupancy"]["threads_per_block"]["value"] = 4096; }),
                 "/occupancy/threads_per_block", "warps_per_sm", "4096", "correct");
  expect_refused(edited([](Json& s) { s["memory"]["l2_sector_bytes"]["value"] = 256; }),
                 "/memory/l2_sector_bytes", "at most /memory/l2_line_bytes", "256", "correct");
  const Json peak = {{"value", 800e12}, {"source", "HWP"}};
  expect_refused(edited([&](Json& s) { s["peak_flops_per_s"]["bf16"] = peak; }),
                 "/peak_flops_per_s/bf16", "within 5%", "8", "remove it");
  expect_refused(edited(
                     [](Json& s) {
                       s["chip"]["sm_count"] = {{"value", 2}, {"source", "TPU4"}};
                     },
                     "tpu-v4"),
                 "/chip", "kind \"tpu\"", "it", "remove it");
}

TEST(Refusal, PeaksThatAgreeAreAccepted) {
  const Json peak = {{"value", 989e12}, {"source", "HWP"}};
  const Gpu gpu = load(edited([&](Json& s) { s["peak_flops_per_s"]["bf16"] = peak; }));
  EXPECT_EQ(gpu.peak_flops_per_s[DType::bf16], 989e12);
}

TEST(Refusal, Features) {
  const Json unverified = {{"value", 1}, {"source", "unverified"}};
  expect_refused(edited([](Json& s) { s["architecture"] = "hoper"; }), "/architecture", "one of",
                 "hoper", "hopper");
  expect_refused(edited([](Json& s) { s["features"]["wgmma"]["value"] = 1; }),
                 "/features/wgmma/value", "a boolean", "1", "write");
  expect_refused(edited([](Json& s) { s["features"]["wgmma"] = true; }), "/features/wgmma",
                 "an object", "true", R"("value": true)");
  expect_refused(edited([&](Json& s) { s["features"]["wgma"] = unverified; }), "/features/wgma",
                 "one of the keys", "wgma", "did you mean \"wgmma\"?");
  expect_refused(edited([](Json& s) { s["features"]["cluster_blocks_portable"]["value"] = 32; }),
                 "/features/cluster_blocks_portable", "at most", "32", "correct one");
  expect_refused(edited([&](Json& s) { s["features"]["grid_x_max"] = unverified; }, "tpu-v4"),
                 "/features", "kind \"tpu\"", "it", "remove it");
}

TEST(Refusal, Identity) {
  expect_refused(edited([](Json& s) { s["name"] = "H100 SXM"; }), "/name", "small letters",
                 "H100 SXM", "h100-sxm5");
  for (const char* version : {"90a", "9.0.1", ".90", "90.", "nine"}) {
    expect_refused(edited([&](Json& s) { s["compute_capability"] = version; }),
                   "/compute_capability", "MAJOR.MINOR", version, "\"9.0\"");
  }
}

}  // namespace
}  // namespace roofcast::specs
