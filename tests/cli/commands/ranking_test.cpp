// Several GPUs in the order of their time, cost and energy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using testing::kBadInput;
using testing::kUsage;
using testing::lines_of;
using testing::Outcome;
using testing::run_program;
using ::testing::StartsWith;

const std::string kAsked =
    "predict gemm.library --m 4096 --n 4096 --k 4096 --dtype bf16 "
    "--gpu l40s,h100-sxm5,a100-sxm4-80gb --format json";

std::vector<json> answers(const std::string& more) {
  std::vector<json> found;
  for (const std::string& line : lines_of(run_program(kAsked + more).out)) {
    found.push_back(json::parse(line));
  }
  return found;
}

std::vector<std::string> gpus(const std::vector<json>& found) {
  std::vector<std::string> names;
  for (const json& one : found) names.push_back(one.at("gpu"));
  return names;
}

TEST(Ranking, IsByTimeCostOrEnergy) {
  const auto time = [](const json& one) { return one.at("time").at("expected_s").get<double>(); };
  const auto fastest = answers(" --sort time");
  ASSERT_EQ(fastest.size(), 3U);
  EXPECT_LE(time(fastest[0]), time(fastest[1]));
  EXPECT_LE(time(fastest[1]), time(fastest[2]));
  EXPECT_FALSE(fastest[0].contains("cost"));

  const auto cheapest =
      answers(" --price h100-sxm5=100 --price L40S=1 --price a100-sxm4-80gb=1.01");
  EXPECT_EQ(gpus(cheapest).back(), "h100-sxm5");
  for (const json& one : cheapest) EXPECT_TRUE(one.contains("cost"));
  EXPECT_DOUBLE_EQ(cheapest.back().at("cost"), 100.0 / 3600 * time(cheapest.back()));

  const auto frugal = answers(" --sort energy");
  EXPECT_LE(frugal[0].at("most_energy_j"), frugal[1].at("most_energy_j"));
  EXPECT_LE(frugal[1].at("most_energy_j"), frugal[2].at("most_energy_j"));
}

TEST(Ranking, AFileOfPricesAndOneOnTop) {
  const Folder folder;
  const std::string file =
      folder.write("prices.json", R"({"h100-sxm5": 4.5, "l40s": 1000, "v100-sxm2": 1})");
  const auto found = answers(" --price " + file + " --price a100-sxm4-80gb=0.001");
  EXPECT_EQ(gpus(found), (std::vector<std::string>{"a100-sxm4-80gb", "h100-sxm5", "l40s"}));
}

TEST(Ranking, WhatHasNoPriceOrNoForecastStandsLast) {
  const Outcome outcome = run_program(
      "predict gemm.library --m 512 --n 512 --k 512 --dtype bf16 --gpu tpu-v4,l40s,h100-sxm5 "
      "--price h100-sxm5=4");
  EXPECT_EQ(outcome.code, kBadInput);  // the TPU has no forecast
  EXPECT_THAT(outcome.err, HasSubstr("no price of l40s"));
  const auto rows = lines_of(outcome.out);
  EXPECT_THAT(rows.front(), HasSubstr("a million calls cost"));
  EXPECT_THAT(rows.at(1), HasSubstr("h100-sxm5"));
  EXPECT_THAT(outcome.out, HasSubstr("tpu-v4 is a TPU"));
}

TEST(Ranking, VariantsOfAFamilyAreSortedToo) {
  const Outcome outcome = run_program(
      "predict softmax --rows 4096 --cols 4096 --gpu h100-sxm5 --sort time "
      "--format json");
  double before = 0;
  const json answer = json::parse(outcome.out);
  for (const json& one : answer.at("variants")) {
    const double now = one.at("time").at("expected_s");
    EXPECT_GE(now, before);
    before = now;
  }
}

TEST(Ranking, CsvHasItsColumnsFirst) {
  const std::string csv = run_program(
                              "predict stream.copy --n 1048576 --gpu h100-sxm5,l40s --price l40s=1 "
                              "--format csv")
                              .out;
  const auto rows = lines_of(csv);
  EXPECT_THAT(rows.at(0), StartsWith("cost,most_energy_j,kernel,gpu,"));
  EXPECT_THAT(rows.at(2), StartsWith(","));  // no price of the H100
}

TEST(Ranking, MistakesAreExplained) {
  const std::string words = "predict stream.copy --n 1048576 --gpu h100-sxm5 ";
  expect_refusal(words + "--sort cost", kUsage, "--price h100-sxm5=4.5");
  expect_refusal(words + "--sort price", kUsage, "time, cost, energy");
  expect_refusal(words + "--price h100=3", kUsage, "Did you mean");
  expect_refusal(words + "--price h100-sxm5=0", kUsage, "above 0");
  expect_refusal(words + "--price none.json", kBadInput, "none.json");
  const Folder folder;
  expect_refusal(words + "--price " + folder.write("a.json", "[1]"), kBadInput, "{\"h100-sxm5\"");
  expect_refusal("predict --queries - --sort time", kUsage, "does not go with --queries");
}

}  // namespace
}  // namespace roofcast::cli
