// Answers that could mislead, as a user sees them: what binds, what works, which GPU, which rate.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using testing::kUsage;
using testing::lines_of;
using ::testing::Not;
using testing::Outcome;
using testing::run_program;

/// The index of the first line with the text.
std::size_t line_with(const std::vector<std::string>& lines, std::string_view text) {
  return static_cast<std::size_t>(
      std::find_if(lines.begin(), lines.end(),
                   [&](const std::string& line) { return line.find(text) != line.npos; }) -
      lines.begin());
}

TEST(Misleading, HowManySmsWorkIsSaidBeforeWhatBinds) {
  for (const auto& [words, sms] :
       {std::pair("gemm.vectorized --m 256 --n 256 --k 4096", "2 of 132 SMs work"),
        std::pair("softmax.online --rows 64 --cols 32768", "64 of 132 SMs work")}) {
    const auto lines =
        lines_of(run_program(std::string("predict ") + words + " --gpu h200-sxm").out);
    const std::size_t working = line_with(lines, sms);
    ASSERT_LT(working, lines.size()) << words;
    EXPECT_LT(working, line_with(lines, "bound by")) << words;
    EXPECT_LT(line_with(lines, "next: more blocks"), lines.size()) << words;
  }
}

TEST(Misleading, WhatIsBusyForLessThanHalfOfTheTimeDoesNotSetThePace) {
  const Outcome outcome =
      run_program("predict softmax.online --rows 64 --cols 32768 --gpu h200-sxm");
  EXPECT_THAT(outcome.out, HasSubstr("nothing is busy for half of it"));
}

TEST(Misleading, ALaunchOfLessThanHalfOfTheTimeTakesNoLongerThanTheRun) {
  const Outcome outcome = run_program(
      "predict attention.library --batch 1 --heads 8 --seq_q 5 --seq_kv 80 --head_dim 64 "
      "--dtype bf16 --splits 16 --gpu h100-sxm5");
  EXPECT_THAT(outcome.out, HasSubstr("bound by launch: it takes the most"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("longer than running it")));
}

TEST(Misleading, StartsOfBlocksAreNoLaunch) {
  // Each block is one warp with one access: the SMs' launch units bind.
  const Outcome outcome =
      run_program("predict stream.copy --n 100000000 --threads 32 --vector_bytes 4 --gpu h200-sxm");
  EXPECT_THAT(outcome.out, HasSubstr("bound by block_start: the SMs start no more blocks a clock"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("bound by launch")));
}

TEST(Misleading, NoSecondGpuIsDropped) {
  const Outcome advice =
      run_program("advise gemm --m 1000 --n 1000 --k 1000 --gpu p100,b200 --format json");
  const auto lines = lines_of(advice.out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(json::parse(lines[0]).at("asked").at("forecast").at("gpu"), "p100");
  EXPECT_EQ(json::parse(lines[1]).at("asked").at("forecast").at("gpu"), "b200");
  for (const char* words :
       {"explain stream.copy --n 1048576 --gpu p100,b200",
        "solve stream.copy --n 1048576 --gpu p100,b200 --find sm_count=16:32 --until 'time<=1s'",
        "model gpt2-xl --prefill --batch 1 --seq 64 --gpu h100-sxm5,b200"}) {
    const Outcome outcome = run_program(words);
    const bool both = outcome.code == 0 && outcome.out.find("b200") != std::string::npos;
    EXPECT_TRUE(both || outcome.code == kUsage) << words << outcome.out << outcome.err;
  }
}

TEST(Misleading, AFamilyOfGpusIsSuggestedByItsName) {
  expect_refusal("predict stream.copy --n 1024 --gpu h100", kUsage,
                 "Did you mean 'h100-pcie' or 'h100-sxm5'?");
}

TEST(Misleading, ATpuHasMatrixUnitsAndNoWaves) {
  const Outcome family =
      run_program("predict gemm --m 4096 --n 4096 --k 4096 --dtype bf16 --gpu tpu-v4");
  EXPECT_THAT(family.out, HasSubstr("the matrix units set the pace"));
  EXPECT_THAT(family.out, Not(HasSubstr("no tensor cores")));
}

TEST(Misleading, NoLimitIsAboveTheBoardsPeak) {
  const json answer = json::parse(
      run_program("predict gemm.library --m 4096 --n 4096 --k 4096 --gpu k80 --format json").out);
  const double rate = 2.0 * 4096 * 4096 * 4096 / answer.at("limit").at("time_s").get<double>();
  EXPECT_LE(rate, 8.74e12);  // NVIDIA's datasheet of the board, fp32 with boost
}

TEST(Misleading, RatesAreOfTheSameUsefulWork) {
  const json family = json::parse(
      run_program("predict softmax --rows 4096 --cols 8192 --gpu h100-sxm5 --format json").out);
  std::vector<double> work;
  for (const json& one : family.at("variants")) {
    if (one.contains("error")) continue;
    work.push_back(one.at("rate").at("flops_per_s").get<double>() *
                   one.at("time").at("expected_s").get<double>());
  }
  ASSERT_GE(work.size(), 3U);
  for (const double each : work) EXPECT_DOUBLE_EQ(each, work.front());
}

TEST(Misleading, TheLongestOfSeveralLaunchesIsShown) {
  const Outcome outcome = run_program(
      "predict attention.decode --batch 1 --heads 8 --kv_heads 8 --seq_q 1 --seq_kv 65536 "
      "--dtype bf16 --gpu h100-sxm5");
  EXPECT_THAT(outcome.out, HasSubstr("which takes longest"));
}

TEST(Misleading, LevelsIntervalRidgePeakAndANextStepAreStated) {
  const Outcome outcome =
      run_program("predict gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm");
  for (const char* said : {"between L2 and the SMs", "] 90%", "ridge point",
                           "with fewer, DRAM limits", "of the datasheet's peak", "next: "}) {
    EXPECT_THAT(outcome.out, HasSubstr(said));
  }
  EXPECT_THAT(run_program("predict gemm --m 4096 --n 4096 --k 4096 --gpu h200-sxm").out,
              HasSubstr("between DRAM and"));
}

TEST(Misleading, QueriesTakeBooleansAndTheirFormatIsInTheHelp) {
  const std::string line =
      R"({"kernel":"attention.flash2","gpu":"h100-sxm5","batch":1,"heads":8,"kv_heads":8,)"
      R"("seq_q":512,"seq_kv":512,"head_dim":64,"dtype":"bf16","causal":true})";
  const Outcome outcome = run_program("predict --queries -", line + "\n");
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_THAT(run_program("predict --help").out, HasSubstr("{\"kernel\":\"gemm.tiled\",\"m\":512"));
  expect_refusal("predict --batch queries.jsonl", kUsage, "--queries FILE");
}

TEST(Misleading, WhatTheHostAddsIsAPartOfItsOwn) {
  const auto parts = [](const std::string& launch) {
    const json answer = json::parse(
        run_program("predict elementwise.gelu.unfused --n 65536 --gpu h100-sxm5 --format json"
                    " --launch " +
                    launch)
            .out);
    double sum = 0, host = 0;
    for (const json& part : answer.at("waterfall")) {
      sum += part.at("time_s").get<double>();
      if (part.at("name") == "host") host = part.at("time_s");
    }
    EXPECT_NEAR(sum, answer.at("time").at("expected_s"), 1e-12);
    return host;
  };
  EXPECT_GT(parts("stream"), 0);
  EXPECT_EQ(parts("graph"), 0);
}

TEST(Misleading, ATableSaysHowItsKernelsWereLaunched) {
  const Folder folder;
  const std::string words =
      "compare --table " + folder.write("t.csv", "dtype,n,time_us\nfp32,4096,2\n") +
      " --kernel stream.copy --gpu h100-sxm5 --cache steady --format json --launch ";
  const auto predicted = [&](const std::string& launch) {
    const Outcome outcome = run_program(words + launch);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out).dump();
  };
  EXPECT_NE(predicted("stream"), predicted("graph"));
  expect_refusal(words + "queue", kUsage, "stream, graph, pdl");
}

}  // namespace
}  // namespace roofcast::cli
