#include "validation/runs/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <nlohmann/json.hpp>

#include "tests/validation/sample_run.hpp"

namespace roofcast::validation {
namespace {

using RunData = Run;  // inside a test Run is a member of its base class

using ::testing::HasSubstr;
using testing::sample_run;

TEST(Timing, PercentilesInterpolateBetweenNeighbours) {
  const Timing timing{{4, 1, 3, 2}};
  EXPECT_DOUBLE_EQ(timing.median_s(), 2.5);
  EXPECT_DOUBLE_EQ(timing.percentile_s(0), 1);
  EXPECT_DOUBLE_EQ(timing.percentile_s(1), 4);
  EXPECT_DOUBLE_EQ(timing.percentile_s(0.1), 1.3);  // position 0.3 of 0…3
  EXPECT_DOUBLE_EQ(Timing{{7}}.percentile_s(0.9), 7);
}

TEST(RunJson, RoundTripKeepsEverything) {
  const RunData run = sample_run();
  const std::string text = to_json(run);
  const RunData back = parse_run("r.json", text);
  EXPECT_EQ(to_json(back), text);
  ASSERT_EQ(back.cases.size(), 2U);
  const Case& full = back.cases[0];
  EXPECT_EQ(full.problem, run.cases[0].problem);
  EXPECT_EQ(full.cache, CacheState::steady);
  EXPECT_EQ(full.timing.samples_s, run.cases[0].timing.samples_s);
  EXPECT_EQ(full.timing.launches_per_sample, 20);
  for (const CounterField& field : counter_fields()) {
    EXPECT_EQ(full.counters.*field.member, run.cases[0].counters.*field.member) << field.name;
  }
  EXPECT_EQ(full.baseline, "gemm.library");
  EXPECT_EQ(full.prediction_json, run.cases[0].prediction_json);
  EXPECT_FALSE(back.cases[1].counters.flops.has_value());
  EXPECT_FALSE(back.cases[1].blocks_per_sm.has_value());
  EXPECT_EQ(back.failures[0].reason, "wrong \"result\"");
  EXPECT_EQ(back.device.power_limit_w, 700.0);
}

// Older runs hold the tile that the model took for the library's.
TEST(RunJson, WhatALibraryChoseIsLeftOpen) {
  RunData run = sample_run();
  const KernelRef library = find_kernel("gemm.library");
  run.cases[0].kernel = "gemm.library";
  run.cases[0].problem =
      testing::problem_of("gemm.library", {512, 513, 514, 128, 256, 3, 2}, DType::bf16);
  const Problem back = parse_run("r.json", to_json(run)).cases[0].problem;
  EXPECT_EQ(back, without_own_choice(library, run.cases[0].problem));
  EXPECT_EQ(back[3], kToChoose);
  EXPECT_EQ(back[5], kToChoose);
  EXPECT_EQ(back[6], 2);  // copies of the weights are what was run
}

// A key a line, with a space after each colon.
std::string spaced(const std::string& text) {
  return nlohmann::ordered_json::parse(text).dump(1);
}

TEST(RunJson, NamesParametersAndUnits) {
  const std::string text = spaced(to_json(sample_run()));
  for (const char* part : {"\"m\": 512", "\"k\": 514", "\"tile_m\"", "\"dtype\": \"fp32\"",
                           "\"dram_read_bytes\"", "\"samples_s\"", "\"sm_clock_hz\""}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

// The file as written, one thing changed: the complaint names the place and the mend.
struct Damage {
  const char* from;
  const char* to;
  const char* pointer;
  const char* says;
};

class BadRun : public ::testing::TestWithParam<Damage> {};

TEST_P(BadRun, IsRefusedWithPointerAndMend) {
  std::string text = spaced(to_json(sample_run()));
  const std::size_t at = text.find(GetParam().from);
  ASSERT_NE(at, std::string::npos) << GetParam().from;
  text.replace(at, std::string(GetParam().from).size(), GetParam().to);
  try {
    (void)parse_run("dir/run.json", text);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("dir/run.json: "));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().pointer));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().says));
    EXPECT_THAT(error.what(), HasSubstr("Mend: "));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadRun,
    ::testing::Values(
        Damage{"\"gemm.tiled\"", "\"gemm.tilde\"", "at /cases/0/kernel:", "gemm.tilde"},
        Damage{"\"gemm.tiled\"", "\"gemm\"", "at /cases/0/kernel:", "a variant"},
        Damage{"\"gemm.tiled\"", "7", "at /cases/0/kernel:", "expected a text, found 7"},
        Damage{"\"m\": 512", "\"mm\": 512", "at /cases/0/problem:", "remove \"mm\""},
        Damage{"\"m\": 512", "\"m\": 0", "at /cases/0/problem:", "m is 0"},
        Damage{"\"m\": 512", "\"m\": 5.5", "at /cases/0/problem/m:", "an integer"},
        Damage{"\"m\": 512", "\"m\": 512, \"m\": 512", "at /cases/0/problem/m:", "\"m\" twice"},
        Damage{"\"fp32\"", "\"fp31\"", "at /cases/0/problem/dtype:", "an element type"},
        Damage{"\"steady\"", "\"tepid\"", "at /cases/0/cache:", "cold"},
        Damage{"\"error\"", "\"eror\"", "at /cases/0/eror:", "unknown key"},
        Damage{"\"suite\": \"quick\"", "\"suit\": \"quick\"", "at /suit:", "unknown key"},
        Damage{"\"sm_clock_hz\": 1970000000.0", "\"sm_clock_hz\": \"fast\"",
               "at /cases/0/sm_clock_hz:", "a number"},
        Damage{"\"flops\":", "\"flips\":", "at /cases/0/counters:", "counters"},
        Damage{"\"launches_per_sample\": 20", "\"launches_per_sample\": 0",
               "at /cases/0/timing/launches_per_sample:", "from 1"},
        Damage{"\"schema_version\": 1", "\"schema_version\": 2",
               "at /schema_version:", "version 1"},
        Damage{"\"schema_version\": 1", "\"version\": 1", "at the top level:", "a validation run"},
        Damage{"\"driver\": \"580.1\",", "", "at /device:", "add \"driver\""},
        Damage{"\"reason\"", "\"why\"", "at /failures/0/why:", "reason"},
        Damage{"\"sm_clock_hz\": 1970000000.0", "\"sm_clock_hz\": 0",
               "at /cases/0/sm_clock_hz:", "above 0"},
        Damage{"\"sm_clock_hz\": 1970000000.0", "\"sm_clock_hz\": 1e300",
               "at /cases/0/sm_clock_hz:", "at most 100000000000.0"},
        Damage{"\"registers\": 40", "\"registers\": -1", "at /cases/0/registers:", "from 0 to 255"},
        Damage{"\"registers\": 40", "\"registers\": 99999999999", "at /cases/0/registers:", "255"},
        Damage{"\"shared_bytes\": 8192", "\"shared_bytes\": -8",
               "at /cases/0/shared_bytes:", "from 0"},
        Damage{"\"blocks_per_sm\": 2", "\"blocks_per_sm\": 0",
               "at /cases/0/blocks_per_sm:", "from 1"},
        Damage{"\"dram_read_bytes\": 1.0", "\"dram_read_bytes\": -1.0",
               "at /cases/0/counters/dram_read_bytes:", "from 0"},
        Damage{"\"error\": 1e-06", "\"error\": -1", "at /cases/0/error:", "from 0"},
        Damage{"\"expected_s\"", "\"hoped_s\"", "at /cases/0/prediction/hoped_s:", "unknown key"},
        Damage{"\"power_limit_w\": 700.0", "\"power_limit_w\": -700.0",
               "at /device/power_limit_w:", "above 0"},
        Damage{"\"max_sm_clock_hz\": 1980000000.0", "\"max_sm_clock_hz\": 0",
               "at /device/max_sm_clock_hz:", "above 0"},
        Damage{"\"h200-sxm\"", "\"./evil.json\"", "at /device/gpu:", "never a path"},
        Damage{"\"h200-sxm\"", "\"/dev/zero\"", "at /device/gpu:", "never a path"},
        Damage{"\"2026-01-02T03:04:05Z\"", "\"today\"", "at /date:", "2026-01-31"},
        Damage{"\"suite\": \"quick\"",
               "\"suite\": \"quick\", \"shard\": {\"index\": 4, \"count\": 4}",
               "at /shard/index:", "from 0 to 3"},
        Damage{"\"suite\": \"quick\"",
               "\"suite\": \"quick\", \"shard\": {\"index\": 1, \"count\": 4}",
               "at the top level:", "suite_cases"},
        Damage{"\"suite\": \"quick\"",
               "\"suite\": \"quick\", \"suite_cases\": 9, \"shard\": {\"index\": 1, \"count\": 4}",
               "at /cases/0:", "\"position\""},
        Damage{"\"registers\": 40", "\"registers\": 40, \"position\": -1",
               "at /cases/0/position:", "from 0"}));

RunData sharded() {
  RunData run = sample_run();
  run.suite_cases = 9;
  run.shard = {1, 4};
  run.cases[0].position = 1;
  run.cases[1].position = 5;
  run.failures.clear();
  return run;
}

TEST(RunJson, ShardsAndPositionsRoundTrip) {
  const std::string text = to_json(sharded());
  const RunData back = parse_run("r.json", text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.shard, (Shard{1, 4}));
  EXPECT_EQ(back.cases[1].position, 5);
}

TEST(RunJson, PositionsAreTheShardsAndInTheSuiteAndEachOnce) {
  for (const std::int64_t wrong : {1, 2, 9}) {  // taken, of shard 2, beyond the suite
    RunData run = sharded();
    run.cases[1].position = wrong;
    EXPECT_THROW((void)parse_run("r.json", to_json(run)), InputError) << wrong;
  }
}

TEST(MissingCases, AreThoseOfTheSuiteOrTheShard) {
  RunData run = sample_run();  // two cases and a failure
  EXPECT_EQ(missing_cases(run), 0U) << "it does not say how many there are";
  run.suite_cases = 3;
  EXPECT_EQ(missing_cases(run), 0U);
  run.suite_cases = 10;
  EXPECT_EQ(missing_cases(run), 7U);
  run.shard = {3, 4};  // positions 3 and 7
  EXPECT_EQ(missing_cases(run), 0U);
  run.shard = {0, 2};  // 0, 2, 4, 6, 8
  EXPECT_EQ(missing_cases(run), 2U);
  run.shard = {20, 30};
  EXPECT_EQ(missing_cases(run), 0U);
}

TEST(RunJson, NestedDeepOrWithABinaryZeroIsRefusedAtOnce) {
  for (const char* open : {"[", "{\"a\":"}) {
    std::string text;
    for (int i = 0; i < 60'000; ++i) text += open;
    EXPECT_THROW((void)parse_run("r.json", text), InputError);
  }
  std::string text = to_json(sample_run());
  EXPECT_THROW((void)parse_run("r.json", text + '\0' + "garbage"), InputError);
  EXPECT_THROW((void)parse_run("r.json", text + "garbage"), InputError);
}

TEST(RunJson, RefusesWhatIsNoRun) {
  for (const char* text : {"", "{", "[]", "3", "{}", "{\"schema_version\":1}", "\xff", "nul"}) {
    EXPECT_THROW((void)parse_run("f", text), InputError) << text;
  }
}

TEST(RunJson, SamplesMustBeTimes) {
  for (const char* samples : {"[]", "[0]", "[-1]", "[null]", "[\"1\"]", "1"}) {
    std::string text = to_json(sample_run());
    const std::size_t from = text.find("\"samples_s\": [") + 13;
    text.replace(from, text.find(']', from) + 1 - from, samples);
    EXPECT_THROW((void)parse_run("f", text), InputError) << samples;
  }
}

TEST(RunJson, TruncatedAnywhereIsRefused) {
  const std::string text = to_json(sample_run());
  EXPECT_TRUE(rc::check([&] {
    const auto length = *rc::gen::inRange<std::size_t>(0, text.size() - 2);
    RC_ASSERT_THROWS_AS((void)parse_run("f", text.substr(0, length)), InputError);
  }));
}

TEST(RunJson, ASeedIsKeptAndShown) {
  RunData run = sample_run();
  EXPECT_EQ(suite_text(run), "quick");
  EXPECT_THAT(to_json(run), ::testing::Not(HasSubstr("seed")));
  run.suite = "random";
  run.seed = 0;
  const RunData again = parse_run("f", to_json(run));
  EXPECT_EQ(again.seed, 0);
  EXPECT_EQ(suite_text(again), "random, seed 0");
}

TEST(CacheStateName, RoundTrips) {
  for (const CacheState cache : kMeasuredCacheStates)
    EXPECT_EQ(parse_cache_state(name(cache)), cache);
  EXPECT_EQ(cache_state_names(), "\"cold\", \"warm\" or \"steady\"");
  EXPECT_FALSE(parse_cache_state("hot").has_value());
}

}  // namespace
}  // namespace roofcast::validation
