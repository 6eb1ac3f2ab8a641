// Whole models: time, memory and parts of a step.
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

const std::string kTraining =
    "model gpt2-xl --train --batch 8 --seq 1024 --gpu h100-sxm5 --fsdp 8 --format json";

TEST(ModelCommand, PartsAddUpToTheStep) {
  const Outcome outcome = run_program(kTraining);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json step = json::parse(outcome.out);
  const double expected = step.at("time").at("expected_s");
  double sum = 0;
  for (const json& part : step.at("parts")) sum += part.at("time_s").get<double>();
  EXPECT_NEAR(sum, expected, 1e-9 * expected);
  EXPECT_NEAR(step.at("tokens_per_s").get<double>(), 8 * 8 * 1024 / expected, 1e-6 / expected);
  EXPECT_GT(step.at("mfu").get<double>(), 0.1);
  EXPECT_LT(step.at("mfu").get<double>(), 1);
}

// By hand: 1557611200 parameters shared by 8; 2 B, 2 B and 12 B each.
TEST(ModelCommand, MemoryIsThatOfMixedPrecision) {
  const json memory = json::parse(run_program(kTraining).out).at("memory");
  EXPECT_EQ(memory.at("weights_bytes"), 1557611200.0 / 8 * 2);
  EXPECT_EQ(memory.at("gradients_bytes"), 0);  // before the backward pass
  EXPECT_EQ(memory.at("optimizer_bytes"), 1557611200.0 / 8 * 12);
  EXPECT_TRUE(memory.at("fits"));
}

TEST(ModelCommand, WhatWouldFitDoesAndOneMoreDoesNot) {
  const std::string words = "model llama-3.1-8b --prefill --seq 8192 --gpu a100-sxm4-40gb --batch ";
  const Outcome outcome = run_program(words + "100000 --format json");
  const json asked = json::parse(outcome.out);
  EXPECT_FALSE(asked.at("memory").at("fits"));
  const std::string note = asked.at("notes").at(0);
  const std::size_t at = note.find("batch ");
  ASSERT_NE(at, std::string::npos) << note;
  const int batch = std::stoi(note.substr(at + 6));
  const auto fits = [&](int one) {
    const json answer =
        json::parse(run_program(words + std::to_string(one) + " --format json").out);
    return answer.at("memory").at("fits").get<bool>();
  };
  EXPECT_TRUE(fits(batch));
  EXPECT_FALSE(fits(batch + 1));
}

TEST(ModelCommand, FrameworksAddSoftwareOrNone) {
  const auto time_s = [](const std::string& framework) {
    const Outcome outcome = run_program(kTraining + " --framework " + framework);
    return json::parse(outcome.out).at("time").at("expected_s").get<double>();
  };
  EXPECT_GT(time_s("eager"), time_s("compiled"));
  EXPECT_GE(time_s("compiled"), time_s("ideal"));
}

TEST(ModelCommand, EachBatchAndGpuIsAnAnswer) {
  const Outcome outcome = run_program(
      "model llama-3.1-8b --decode --batch 1,16 --context 4096 --gpu h100-sxm5,h200-sxm "
      "--format json");
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 4U) << outcome.err;
  const json one = json::parse(lines[0]);
  EXPECT_EQ(one.at("memory").at("cache_bytes"), 2.0 * 32 * 2 * 8 * 128 * 4096);
  EXPECT_LT(one.at("tokens_per_s").get<double>(), json::parse(lines[1]).at("tokens_per_s"));
}

TEST(ModelCommand, ALineAsksTheSame) {
  const std::string line =
      R"({"model":"gpt2-xl","phase":"train","batch":8,"seq":1024,"gpu":"h100-sxm5","fsdp":8})";
  const Outcome outcome = run_program("predict --queries -", line + "\n");
  EXPECT_EQ(outcome.code, 0) << outcome.out;
  EXPECT_EQ(json::parse(outcome.out), json::parse(run_program(kTraining).out));
}

json answer_of(const std::string& command) {
  const Outcome outcome = run_program("model " + command + " --format json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return json::parse(outcome.out);
}

double part_s(const json& answer, const std::string& name) {
  for (const json& part : answer.at("parts")) {
    if (part.at("name") == name) return part.at("time_s").get<double>();
  }
  return 0;
}

TEST(ModelCommand, ExpertsAreForecast) {
  EXPECT_THAT(run_program("model deepseek-v3").out, HasSubstr("671 G"));
  const json answer = answer_of("mixtral-8x7b --prefill --seq 2048 --gpu h200-sxm");
  EXPECT_GT(answer.at("memory").at("weights_bytes").get<double>(), 90e9);
  // 2 of 8 experts of 32 layers: 6 · 2 · 4096 · 14336 FLOP a token.
  const double flops = 2048.0 * 32 * 6 * 2 * 4096 * 14336;
  EXPECT_GT(part_s(answer, "experts"), flops / 990e12);
  EXPECT_LT(part_s(answer, "experts"), 2 * flops / 990e12);
}

// One sequence reads 2 of 8 experts, 16 about all; 8 bits are half of 16.
TEST(ModelCommand, ExpertsNotChosenAreNotRead) {
  const std::string asked = "mixtral-8x7b --decode --context 128 --gpu h200-sxm --batch ";
  const double one = part_s(answer_of(asked + "1"), "experts");
  EXPECT_GT(part_s(answer_of(asked + "16"), "experts"), 2.5 * one);
  EXPECT_LT(part_s(answer_of(asked + "1 --dtype fp8"), "experts"), 0.75 * one);
}

TEST(ModelCommand, CopiesThatShareExpertsExchangeRows) {
  const std::string asked = "mixtral-8x7b --train --batch 1 --seq 512 --gpu h200-sxm --dp 8";
  const json alone = answer_of(asked), shared = answer_of(asked + " --ep 8");
  EXPECT_EQ(part_s(alone, "rows to experts and back"), 0);
  EXPECT_GT(part_s(shared, "rows to experts and back"), 0);
  // 45.1 G of 46.7 G parameters are experts'.
  const double whole = alone.at("memory").at("weights_bytes");
  EXPECT_NEAR(shared.at("memory").at("weights_bytes").get<double>() / whole, 0.156, 0.002);
}

TEST(ModelCommand, ExpertsAmongTensorParallelGpusExchangeNoRows) {
  const std::string asked =
      "qwen3-235b-a22b --decode --batch 64 --context 2048 --tp 4 --dtype fp8 --gpu h200-sxm";
  const json tensor = answer_of(asked), expert = answer_of(asked + " --ep 4");
  EXPECT_EQ(part_s(expert, "rows to experts and back"), 0);
  EXPECT_EQ(tensor.at("memory"), expert.at("memory"));
  EXPECT_GT(part_s(expert, "experts"), 0);
}

// A step of few tokens takes as long as the host submits its launches: twice as fast a host, half
// the time. Of many tokens the GPU works longer than that.
TEST(ModelCommand, AGpuWaitsForTheHost) {
  const auto waits_s = [](const std::string& options) {
    return part_s(answer_of("gpt2 --train --gpu h200-sxm --batch " + options),
                  "waits for the host");
  };
  const double usual = waits_s("1");
  EXPECT_GT(usual, 0.01);
  EXPECT_LT(waits_s("1 --host-launch 15.5e-6"), usual / 2);
  EXPECT_EQ(waits_s("1 --host-launch 0"), 0);
  EXPECT_EQ(waits_s("1 --framework ideal"), 0);
  EXPECT_LT(waits_s("32"), 0.1 * usual);
  EXPECT_NE(run_program("model gpt2 --train --gpu h200-sxm --host-launch 2").code, 0);
}

// Where 4 micro-batches go through 4 stages, the last one idles for a pass of the other three.
TEST(ModelCommand, StagesIdleWhileThePipelineFills) {
  const std::string asked =
      "gpt2-xl --train --batch 2 --gpu h100-sxm5 --grad-accum 4 --host-launch 0";
  const json alone = answer_of(asked), stages = answer_of(asked + " --pp 4");
  const double attention = part_s(alone, "attention");
  EXPECT_NEAR(part_s(stages, "attention"), attention / 4, 1e-9 * attention);
  const double head = part_s(alone, "vocabulary product");
  EXPECT_NEAR(part_s(stages, "vocabulary product"), head, 1e-9 * head);
  const double passes = stages.at("time").at("expected_s").get<double>() -
                        part_s(stages, "pipeline bubble") - part_s(stages, "between stages") -
                        part_s(stages, "optimizer");
  EXPECT_LT(part_s(stages, "pipeline bubble"), 0.75 * (passes - head));
  EXPECT_GT(part_s(stages, "pipeline bubble"), 0.6 * (passes - head));
  EXPECT_GT(part_s(stages, "between stages"), 0);
  EXPECT_LT(stages.at("memory").at("optimizer_bytes").get<double>(),
            alone.at("memory").at("optimizer_bytes").get<double>() / 3.4);
}

TEST(ModelCommand, RecomputationCountsForHfuAlone) {
  const std::string asked = "gpt2-xl --train --batch 2 --seq 1024 --gpu h100-sxm5 ";
  const json none = answer_of(asked), full = answer_of(asked + "--checkpointing full");
  EXPECT_EQ(none.at("hfu"), none.at("mfu"));
  EXPECT_NEAR(full.at("hfu").get<double>(), full.at("mfu").get<double>() * 4 / 3, 1e-12);
  EXPECT_THAT(run_program("model " + asked + "--checkpointing full").out, HasSubstr("HFU"));
}

TEST(ModelCommand, LogitsAreOfTheLastTokenOrOfAll) {
  const std::string asked = "gpt2-large --prefill --batch 8 --seq 1024 --gpu h100-sxm5 ";
  const json last = answer_of(asked), all = answer_of(asked + "--logits all");
  const double flops = 2.0 * 8 * 1024 * 50257 * 1280;
  EXPECT_GT(part_s(all, "vocabulary product"), flops / 990e12);
  EXPECT_LT(part_s(last, "vocabulary product"), part_s(all, "vocabulary product") / 5);
  EXPECT_GT(all.at("memory").at("activations_bytes").get<double>(), 8.0 * 1024 * 50257 * 6);
}

TEST(ModelCommand, LatentAttentionIsForecast) {
  const std::string asked = "deepseek-v3 --dtype fp8 --tp 8 --gpu h200-sxm ";
  const json decode = answer_of(asked + "--decode --batch 64 --context 4096");
  EXPECT_EQ(decode.at("memory").at("cache_bytes"), 2.0 * 61 * 576 * 64 * 4096);
  EXPECT_GT(part_s(decode, "attention"), 2.0 * 61 * 576 * 64 * 4096 / 4.8e12);
  EXPECT_GT(part_s(answer_of(asked + "--prefill --seq 4096"), "attention"), 0);
}

TEST(ModelCommand, RefusalsNameTheKey) {
  const std::string asked = " --prefill --seq 128 --gpu h100-sxm5";
  expect_refusal("model", kUsage, "one configuration");
  expect_refusal("model gpt2-xxl" + asked, kBadInput, "gpt2-xl");
  expect_refusal("model gpt2 --gpu h100-sxm5", kUsage, "--train");
  expect_refusal("model gpt2 --decode --gpu h100-sxm5", kBadInput, "'context'");
  expect_refusal("model gpt2-xl --tp 2" + asked, kBadInput, "'tp' 2 does not divide the 25");
  expect_refusal("model gpt2 --dtype int8" + asked, kBadInput, "'dtype'");
  expect_refusal("model gpt2 --train --dtype fp8 --gpu h100-sxm5", kBadInput, "'dtype'");
  expect_refusal("model gpt2 --pp 2" + asked, kBadInput, "'pp' goes with train");
  expect_refusal("model gpt2 --train --pp 5 --gpu h100-sxm5", kBadInput, "'pp' 5 does not divide");
  expect_refusal("model gpt2 --train --logits all --gpu h100-sxm5", kBadInput, "'logits'");
  expect_refusal("model gpt2 --ep 2" + asked, kBadInput, "'ep'");
  expect_refusal("model mixtral-8x7b --ep 3" + asked, kBadInput, "'ep' 3");
  expect_refusal("model gpt2 --batch 0" + asked, kBadInput, "'batch'");
  expect_refusal("model bert-base --decode --context 8 --gpu h100-sxm5", kBadInput, "encoder");
  const Folder folder;
  const std::string file = folder.write("config.json", R"({"model_type":"gpt2","n_layer":2})");
  expect_refusal("model " + file + asked, kBadInput, "n_embd");
}

}  // namespace
}  // namespace roofcast::cli
