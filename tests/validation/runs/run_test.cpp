#include "validation/runs/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

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

TEST(RunJson, NamesParametersAndUnits) {
  const std::string text = to_json(sample_run());
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
  std::string text = to_json(sample_run());
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
        Damage{"\"m\": 512", "\"m\": 512, \"m\": 512", "at /cases/0/problem/m:", "second time"},
        Damage{"\"fp32\"", "\"fp31\"", "at /cases/0/problem/dtype:", "an element type"},
        Damage{"\"steady\"", "\"warm\"", "at /cases/0/cache:", "cold"},
        Damage{"\"error\"", "\"eror\"", "at /cases/0/eror:", "unknown key"},
        Damage{"\"suite\": \"quick\"", "\"suit\": \"quick\"", "at /suit:", "unknown key"},
        Damage{"\"sm_clock_hz\": 1970000000.0", "\"sm_clock_hz\": \"fast\"",
               "at /cases/0/sm_clock_hz:", "a number"},
        Damage{"\"flops\":", "\"flips\":", "at /cases/0/counters:", "counters"},
        Damage{"\"launches_per_sample\": 20", "\"launches_per_sample\": 0",
               "at /cases/0/timing/launches_per_sample:", "above 0"},
        Damage{"\"schema_version\": 1", "\"schema_version\": 2",
               "at /schema_version:", "version 1"},
        Damage{"\"schema_version\": 1", "\"version\": 1", "at the top level:", "a validation run"},
        Damage{"\"driver\": \"580.1\",", "", "at /device:", "add \"driver\""},
        Damage{"\"reason\"", "\"why\"", "at /failures/0/why:", "reason"}));

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

TEST(CacheStateName, RoundTrips) {
  for (const CacheState cache : {CacheState::cold, CacheState::steady}) {
    EXPECT_EQ(parse_cache_state(name(cache)), cache);
  }
  EXPECT_FALSE(parse_cache_state("hot").has_value());
}

}  // namespace
}  // namespace roofcast::validation
