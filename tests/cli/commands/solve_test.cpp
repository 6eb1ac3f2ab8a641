#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::expect_refusal;
using testing::Outcome;
using testing::run_program;

json solved(const std::string& question) {
  const Outcome outcome = run_program("solve " + question + " --format json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.code == 0 ? json::parse(outcome.out) : json();
}

double predicted(const std::string& question) {
  const Outcome outcome = run_program("predict " + question + " --format json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return json::parse(outcome.out).at("time").at("expected_s");
}

TEST(Solve, TheLastValueHoldsAndTheNextDoesNot) {
  const std::string kernel = "stream.copy --gpu h200-sxm";
  const json answer = solved(kernel + " --find n=1048576:1073741824 --until 'time<=100us'");
  EXPECT_EQ(answer.at("method"), "bisection");
  ASSERT_FALSE(answer.at("holds").empty());
  const auto last = answer.at("holds").back().at("to").at("value").get<std::int64_t>();
  EXPECT_LE(predicted(kernel + " --n " + std::to_string(last)), 100e-6);
  EXPECT_GT(predicted(kernel + " --n " + std::to_string(last + 1)), 100e-6);
}

TEST(Solve, FewValuesAreAllForecast) {
  const json answer =
      solved("stream.copy --n 67108864 --gpu h200-sxm --find sm_count=100:132 --until 'time<=1s'");
  EXPECT_EQ(answer.at("method"), "every_value");
  EXPECT_EQ(answer.at("forecasts"), 33);
  EXPECT_EQ(answer.at("holds").front().at("from").at("value"), 100);
  EXPECT_EQ(answer.at("holds").front().at("to").at("value"), 132);
}

TEST(Solve, SaysWhatBindsWhereThereIsNoAnswer) {
  const Outcome outcome = run_program(
      "solve stream.copy --n 67108864 --gpu h200-sxm --find sm_count=100:132 --until 'time<=1us'");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::HasSubstr("holds for no sm_count from 100 to 132"));
  EXPECT_THAT(outcome.out, ::testing::HasSubstr("sm_count=132: time"));
  EXPECT_THAT(outcome.out, ::testing::HasSubstr("and binds"));
}

TEST(Solve, ALawThatReadsTheSpecificationIsSolvedToSevenDigits) {
  const std::string kernel = "stream.copy --n 268435456 --gpu h200-sxm";
  const std::string key = "memory/dram_bandwidth_bytes_per_s";
  const json answer = solved(kernel + " --find " + key + "=1e12:8e12 --until 'time<=500us'");
  ASSERT_EQ(answer.at("holds").size(), 1U);
  const double least = answer.at("holds").front().at("from").at("value");
  const auto with = [&](double value) {
    return predicted(kernel + " --set " + key + "=" + std::to_string(value));
  };
  EXPECT_LE(with(least), 500e-6);
  EXPECT_GT(with(least * (1 - 1e-5)), 500e-6);
}

TEST(Solve, TheJsonHasTheContract) {
  const std::string kernel = "stream.copy --gpu h200-sxm";
  const json range = solved(kernel + " --find n=1048576:1073741824 --until 'time<=100us'");
  EXPECT_EQ(range.at("found"), true);
  EXPECT_EQ(range.at("parameter"), "n");
  EXPECT_EQ(range.at("exact"), "bisection");
  // The condition holds from the start of the range up to this value.
  EXPECT_EQ(range.at("value"), range.at("holds").front().at("to").at("value"));
  EXPECT_EQ(range.at("expected_s"), range.at("holds").front().at("to").at("expected_s"));
  const json from = solved(kernel + " --n 67108864 --find sm_count=16:132 --until 'time<=200us'");
  EXPECT_EQ(from.at("exact"), "scan");
  // The first value with which the condition holds.
  EXPECT_EQ(from.at("value"), from.at("holds").front().at("from").at("value"));
  EXPECT_GT(from.at("value"), 16);
  const json none = solved(kernel + " --n 67108864 --find sm_count=16:132 --until 'time<=1us'");
  EXPECT_EQ(none.at("found"), false);
  EXPECT_THAT(none.at("why").get<std::string>(), ::testing::HasSubstr("dram alone takes"));
  EXPECT_FALSE(none.contains("value"));
}

TEST(Solve, AKeyOfTheSpecificationIsLookedForAroundWhatItIs) {
  const json answer =
      solved("stream.copy --n 67108864 --gpu h200-sxm --find sm_count --until 'time<=200us'");
  EXPECT_EQ(answer.at("range").front().at("value"), 9);  // 132 / 16
  EXPECT_EQ(answer.at("range").back().at("value"), 132 * 16);
  EXPECT_EQ(answer.at("found"), true);
  const std::string start = "solve stream.copy --gpu h200-sxm --until 'time<=1s' ";
  expect_refusal(start + "--find n", testing::kUsage, "--find n=1:65536");
  expect_refusal(start + "--n 9 --find sm_cont", testing::kBadInput, "sm_count");
  expect_refusal(start + "--n 9 --find compute_capability", testing::kBadInput, "says nothing");
}

TEST(Solve, ABoundMayBeAnythingElse) {
  const std::string kernel =
      "gemm.library --n 4096 --k 4096 --dtype bf16 --gpu h100-sxm5 --find m=1:1024 --until ";
  const auto values = [](const json& answer) {
    std::int64_t count = 0;
    for (const json& span : answer.at("holds")) {
      count += span.at("to").at("value").get<std::int64_t>() -
               span.at("from").at("value").get<std::int64_t>() + 1;
    }
    return count;
  };
  const json is = solved(kernel + "bound=dram"), is_not = solved(kernel + "'bound!=dram'");
  EXPECT_GT(values(is), 0);
  EXPECT_EQ(values(is) + values(is_not), 1024);
  EXPECT_NE(is_not.at("holds").front().at("from").at("bound"), "dram");
}

TEST(Solve, MinimizeFindsNoSlowerSettingThanAnyGiven) {
  const std::string kernel = "gemm.tiled --m 1000 --n 1000 --k 1000 --gpu a100-sxm4-80gb";
  const json answer = solved(kernel + " --minimize time --tile_m 16,32 --vary tile_n");
  const json& fastest = answer.at("fastest").front();
  const double least = fastest.at("time").at("expected_s");
  EXPECT_EQ(answer.at("forecasts"), 2 * 10);
  double found = 1;
  for (const std::string tile_m : {"16", "32"}) {
    for (const std::string tile_n : {"1", "2", "4", "8", "16", "32", "64", "128", "256", "512"}) {
      const Outcome one = run_program("predict " + kernel + " --format json --tile_m " + tile_m +
                                      " --tile_n " + tile_n);
      if (one.code == 0) {
        found = std::min(found, json::parse(one.out).at("time").at("expected_s").get<double>());
      }
    }
  }
  EXPECT_EQ(least, found);
}

TEST(Solve, RefusesWhatIsNoQuestion) {
  const std::string start = "solve stream.copy --gpu h200-sxm ";
  expect_refusal(start + "--find n=1:9", testing::kUsage, "--until");
  expect_refusal(start + "--n 9 --find nope=1:9 --until 'time<=1s'", testing::kBadInput,
                 "--find nope=1:9: ");
  expect_refusal(start + "--n 9 --find n= --until 'time<=1s'", testing::kUsage, "KEY=from:to");
  expect_refusal(start + "--n 9 --find sm_count=0.5:0.7 --until 'time<=1s'", testing::kBadInput,
                 "--find sm_count=0.5: ");
  expect_refusal(start + "--n 9 --find n=1:9 --until 'time<=1s'", testing::kUsage, "leave out");
  expect_refusal(start + "--find n=9:1 --until 'time<=1s'", testing::kUsage, "rises");
  expect_refusal(start + "--find n=1:9 --until 'time<=1kg'", testing::kUsage, "unit");
  expect_refusal(start + "--find n=1:9 --until 'bound<=dram'", testing::kUsage, "takes =");
  expect_refusal(start + "--find n=1:9 --until 'time!=1s'", testing::kUsage, "takes <=");
  expect_refusal(start + "--n 9 --minimize bytes", testing::kUsage, "takes time");
  expect_refusal(start + "--n 9 --minimize time", testing::kUsage, "nothing varies");
  expect_refusal(start + "--minimize time --until time", testing::kUsage, "without --minimize");
  expect_refusal(start + "--find n=1:9 --until time", testing::kUsage, "condition");
  expect_refusal(start + "--n 9 --find power_w=400:900 --until 'time<=1s'", testing::kBadInput,
                 "no law of this forecast reads power_w");
}

}  // namespace
}  // namespace roofcast::cli
