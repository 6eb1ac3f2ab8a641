#include "validation/runs/merge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/validation/sample_run.hpp"
#include "validation/runs/run_file.hpp"
#include "validation/runs/suite.hpp"

namespace roofcast::validation {
namespace {

using RunData = Run;  // inside a test Run is a member of its base class

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::sample_run;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// A run as the harness writes it of these cases of the suite; every seventh has no measurement.
RunData measured(const Suite& suite, const Shard& shard) {
  RunData run = sample_run();
  run.cases.clear();
  run.failures.clear();
  run.suite = suite.name;
  run.suite_cases = static_cast<std::int64_t>(suite.cases.size());
  run.shard = shard;
  for (const SuiteCase& wanted : suite.cases) {
    if (!shard.holds(static_cast<std::size_t>(wanted.position))) continue;
    if (wanted.position % 7 == 3) {
      run.failures.push_back({wanted.kernel, wanted.problem, "refused", wanted.position});
      continue;
    }
    Case item;
    item.kernel = wanted.kernel;
    item.problem = wanted.problem;
    item.cache = wanted.cache.value_or(CacheState::steady);
    item.timing.samples_s = {1e-6 * static_cast<double>(wanted.position + 1)};
    item.position = wanted.position;
    run.cases.push_back(item);
  }
  return run;
}

std::vector<NamedRun> shards_of(const Suite& suite, std::size_t count) {
  std::vector<NamedRun> shards;
  for (std::size_t i = 0; i < count; ++i) {
    const RunData run = measured(suite, {i, count});
    const std::string file = std::to_string(i) + ".json";
    shards.push_back({file, parse_run(file, to_json(run))});
  }
  return shards;
}

TEST(Merge, OfAllShardsEqualsTheRunThatWasNotSharded) {
  const Suite suite = find_suite("default");
  const std::string whole = to_json(measured(suite, {}));
  for (const std::size_t count : {2U, 4U, 7U}) {
    auto shards = shards_of(suite, count);
    EXPECT_EQ(to_json(merge(shards)), whole) << count;
    std::reverse(shards.begin(), shards.end());
    EXPECT_EQ(to_json(merge(shards)), whole) << count << ", in another order";
  }
}

TEST(Merge, AWholeRunStaysAsItIsThoughItHoldsACaseTwice) {
  RunData run = sample_run();
  run.cases.push_back(run.cases.front());
  EXPECT_EQ(to_json(merge({{"a", run}})), to_json(run));
}

TEST(Merge, KeepsTheEarliestDate) {
  auto shards = shards_of(find_suite("quick"), 2);
  shards[1].run.date = "2025-01-01T00:00:00Z";
  EXPECT_EQ(merge(shards).date, shards[1].run.date);
}

TEST(Merge, NamesTheShardThatIsMissingOrThereTwice) {
  const auto shards = shards_of(find_suite("quick"), 4);
  for (std::size_t i = 0; i < 4; ++i) {
    auto some = shards;
    some.erase(some.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THAT(
        error_of([&] { (void)merge(some); }),
        AllOf(HasSubstr("shard " + std::to_string(i) + "/4 is missing"), HasSubstr("Mend: ")));
  }
  EXPECT_THAT(error_of([&] { (void)merge({shards[2]}); }), HasSubstr("shard 0/4 is missing"));
  auto twice = shards;
  twice[3] = twice[1];
  EXPECT_THAT(error_of([&] { (void)merge(twice); }), HasSubstr("both are shard 1/4"));
  auto other = shards;
  other[2].run.shard.count = 5;
  EXPECT_THAT(error_of([&] { (void)merge(other); }), HasSubstr("number of shards"));
}

TEST(Merge, NamesTheShardThatIsNotFinished) {
  auto shards = shards_of(find_suite("quick"), 4);
  shards[2].run.cases.pop_back();
  EXPECT_THAT(error_of([&] { (void)merge(shards); }),
              AllOf(HasSubstr("2.json: shard 2/4 holds"), HasSubstr("--shard 2/4")));
}

TEST(Merge, RefusesWhatIsNoShard) {
  EXPECT_THAT(error_of([] {
                (void)merge({{"a", sample_run()}, {"b", sample_run()}});
              }),
              HasSubstr("a: is a whole run"));
  EXPECT_THROW((void)merge({}), InputError);
}

TEST(Merge, RefusesOtherConditionsWithTheReason) {
  const auto shards = shards_of(find_suite("quick"), 2);
  const auto expect = [&](const std::function<void(RunData&)>& change, const char* reason) {
    auto changed = shards;
    change(changed[1].run);
    EXPECT_THAT(error_of([&] { (void)merge(changed); }),
                AllOf(HasSubstr("0.json and 1.json"), HasSubstr(reason)));
  };
  expect([](RunData& r) { r.suite = "default"; }, "the suite");
  expect([](RunData& r) { r.seed = 8; }, "the seed");
  expect([](RunData& r) { r.build = "0.2.0"; }, "the build");
  expect([](RunData& r) { r.device.gpu = "l40s"; }, "the GPU");
  expect([](RunData& r) { r.device.device = "NVIDIA L40S"; }, "NVIDIA L40S");
  expect([](RunData& r) { r.device.driver = "570.2"; }, "the driver");
  expect([](RunData& r) { r.device.cuda_runtime = "12.9"; }, "the CUDA runtime");
  expect([](RunData& r) { r.device.power_limit_w = 350; }, "\"700 W\" and \"350 W\"");
  expect([](RunData& r) { r.device.power_limit_w.reset(); },
         "power limit: \"700 W\" and \"unknown\"");
  expect([](RunData& r) { r.device.max_sm_clock_hz = 1.2e9; }, "the SM clock");
  expect([](RunData& r) { r.device.memory_clock_hz = 1e9; }, "the memory clock");
  expect([](RunData& r) { ++*r.suite_cases; }, "number of cases");
}

}  // namespace
}  // namespace roofcast::validation
