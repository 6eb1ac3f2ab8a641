// Arguments that were once taken wrongly, or left out without a word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::contents;
using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using testing::kUsage;
using testing::lines_of;
using ::testing::Not;
using testing::run_program;
using ::testing::StartsWith;

constexpr const char* kTiled = "gemm.tiled --m 512 --n 512 --k 512 --gpu h100-sxm5";

TEST(Arguments, AnOptionIsNoValue) {
  expect_refusal("predict gemm.tiled --m --n 512 --k 512 --gpu h100-sxm5", kUsage, "'--m'");
}

TEST(Arguments, QueriesNameTheirKernels) {
  const std::string kernel(kTiled);
  expect_refusal("predict " + kernel + " --queries q.jsonl", kUsage, "leave out 'gemm.tiled'");
  expect_refusal("advise " + kernel + " --queries q.jsonl", kUsage, "leave out 'gemm.tiled'");
  expect_refusal("predict " + kernel + " --jobs 2", kUsage, "--jobs goes with --queries");
}

TEST(Arguments, ACollectiveIsAskedForAlone) {
  expect_refusal("predict gemm collective.all_reduce --bytes 1e6 --gpus 8 --gpu h100-sxm5", kUsage,
                 "one collective is asked for at a time");
}

TEST(Arguments, AdviseTakesKernelsOfProducts) {
  expect_refusal("advise gemm --kernel softmax.online --m 64 --n 64 --k 64 --gpu h100-sxm5", kUsage,
                 "softmax.online is no kernel of gemm");
}

TEST(Arguments, AStepTakesNoOptionOfAService) {
  expect_refusal("model gpt2 --train --gpu h100-sxm5 --concurrency 4", kUsage,
                 "--concurrency belongs to --serve");
}

TEST(Arguments, WhatIsGivenForAStepNeedsItsPhase) {
  expect_refusal("model gpt2 --batch 4", kUsage, "give one of --train");
  expect_refusal("model gpt2 -o page.html", kUsage, "give one of --train");
}

TEST(Arguments, ConcurrencyTakesARange) {
  const auto lines = lines_of(run_program("model gpt2 --serve --gpu h100-sxm5 --input-tokens 128 "
                                          "--output-tokens 16 --format json --concurrency 4:16:*2")
                                  .out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(json::parse(lines.back()).at("concurrency"), 16);
}

TEST(Arguments, TheConstantsHaveNoFormat) {
  expect_refusal("show constants --format json", kUsage, "there is no option '--format'");
  expect_refusal("show constants gemm", kUsage, "'constants' goes without 'gemm'");
}

TEST(Arguments, RowsAreNotNegative) {
  expect_refusal("import " ROOFCAST_EXAMPLE_TRACES "/gpt2_step.json.gz --gpu h100-sxm5 --rows -1",
                 kUsage, "--rows takes a number of at least 0");
}

TEST(Arguments, TheOutputsNameSaysItsFormat) {
  const Folder folder;
  const std::string json_file = folder.file("x.json"), csv_file = folder.file("x.csv");
  const std::string words(kTiled);
  EXPECT_EQ(run_program("predict " + words + " -o " + json_file).code, 0);
  EXPECT_EQ(json::parse(contents(json_file)).at("kernel"), "gemm.tiled");
  EXPECT_EQ(run_program("predict " + words + " -o " + csv_file).code, 0);
  EXPECT_THAT(contents(csv_file), StartsWith("kernel,gpu,"));
  EXPECT_EQ(run_program("predict " + words + " --format table -o " + json_file).code, 0);
  EXPECT_THAT(contents(json_file), StartsWith("gemm.tiled  m=512"));
  EXPECT_EQ(run_program("explain " + words + " -o " + json_file).code, 0);
  EXPECT_TRUE(json::parse(contents(json_file)).contains("formulas"));
}

TEST(Roofline, AFamilyHasALimitAndNoExpectedRate) {
  const auto lines = lines_of(run_program("roofline --gpu h100-sxm5 --kernel gemm:m=64,n=64,k=64 "
                                          "--kernel softmax:rows=64,cols=64 --format table")
                                  .out);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_THAT(lines[lines.size() - 2], ::testing::ContainsRegex("FLOP/B +– +[0-9.]+ TFLOP/s$"));
  EXPECT_THAT(lines.back(), ::testing::ContainsRegex("FLOP/B +– +[0-9.]+ [GT]FLOP/s$"));
}

TEST(Roofline, IntensitiesHaveNoPrefix) {
  const std::string text =
      run_program("roofline --gpu b200 --kernel softmax:rows=4096,cols=4096 --format table").out;
  EXPECT_THAT(text, HasSubstr(" 0.5 FLOP/B"));
  EXPECT_THAT(text, Not(HasSubstr("kFLOP/B")));
  EXPECT_THAT(text, Not(HasSubstr("mFLOP/B")));
}

// Blocks of a cluster receive bytes that L2 reads once.
TEST(Explain, WhatL2NeedsAtLeastIsNotLongerThanTheTime) {
  const json answer = json::parse(run_program("explain gemm.library --m 4096 --n 4096 --k 4096 "
                                              "--dtype bf16 --gpu h100-sxm5 --format json")
                                      .out);
  for (const json& formula : answer.at("formulas")) {
    if (formula.at("resource") != "l2") continue;
    EXPECT_LE(formula.at("least_s"), formula.at("alone_s"));
    return;
  }
  FAIL() << "no formula of L2";
}

}  // namespace
}  // namespace roofcast::cli
