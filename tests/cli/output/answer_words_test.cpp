// What an answer says of its figures.
#include "cli/output/answer_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/input/device.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_program;

std::string predicted(const std::string& words) {
  const auto outcome = run_program("predict " + words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

TEST(AnswerWords, IdleSmsComeFirst) {
  const std::string few = predicted("gemm.vectorized --m 256 --n 256 --k 4096 --gpu h200-sxm");
  EXPECT_THAT(few, HasSubstr("2 of 132 SMs work: the others have no block\n  bound by issue"));
  EXPECT_THAT(few, HasSubstr("next: more blocks"));
  const std::string one = predicted("stream.copy --n 1000 --gpu h200-sxm");
  EXPECT_THAT(one, HasSubstr("1 of 132 SMs works"));
  const std::string all = predicted("gemm.vectorized --m 8192 --n 8192 --k 512 --gpu h200-sxm");
  EXPECT_THAT(all, Not(HasSubstr("132 SMs")));
  EXPECT_THAT(predicted("softmax.online softmax.cluster --rows 64 --cols 32768 --gpu h200-sxm"),
              HasSubstr("64 of 132 SMs"));
}

TEST(AnswerWords, WhatIsBusyForAQuarterOfTheTimeIsNotCalledFull) {
  const std::string text = predicted("softmax.online --rows 64 --cols 32768 --gpu h200-sxm");
  EXPECT_THAT(text, HasSubstr("nothing is busy for half of it"));
  EXPECT_THAT(text, Not(HasSubstr("L2 delivers no more bytes")));
}

Prediction with_terms(std::initializer_list<std::pair<Resource, double>> terms) {
  Prediction prediction;
  prediction.time.emplace();
  prediction.time->expected_s = 1e-3;
  for (const auto& [resource, time_s] : terms) prediction.time->terms[resource] = time_s;
  return prediction;
}

std::string verdict(const Prediction& prediction) {
  return verdict_text({find_kernel("stream.copy"), load_device("h200-sxm", {}), prediction});
}

TEST(AnswerWords, StartingBlocksIsNotStartingTheKernel) {
  const std::string blocks =
      verdict(with_terms({{Resource::block_start, 8e-4}, {Resource::launch, 1e-5}}));
  EXPECT_THAT(blocks, HasSubstr("bound by block_start: the SMs start no more blocks a clock"));
  const std::string kernel =
      verdict(with_terms({{Resource::block_start, 1e-5}, {Resource::launch, 8e-4}}));
  EXPECT_THAT(kernel, HasSubstr("starting the kernel takes longer than running it (80.0%"));
  const std::string less = verdict(with_terms({{Resource::launch, 4e-4}}));
  EXPECT_THAT(less, AllOf(HasSubstr("bound by launch"), Not(HasSubstr("longer than running it"))));
}

TEST(AnswerWords, ManyShortBlocksAreBoundByTheirStart) {
  EXPECT_THAT(predicted("elementwise.relu.unfused --n 1073741824 --gpu h200-sxm --set "
                        "dram_bandwidth_bytes_per_s=9e13"),
              HasSubstr("  block_start "));
}

// Causal heads of 64 and a length that fills no tile: each block fetches three copies of the step.
TEST(AnswerWords, LongCodeIsBoundByItsFetch) {
  const std::string told = predicted(
      "attention.library --library fa2 --batch 16 --heads 32 --seq_q 1000 --seq_kv 1000 "
      "--head_dim 64 --causal yes --gpu h200-sxm --cache steady");
  EXPECT_THAT(told, HasSubstr("bound by instruction_fetch: the instruction caches that SMs share"));
}

TEST(AnswerWords, BytesSayBetweenWhichLevelsTheyCross) {
  const std::string shape = " --m 4096 --n 4096 --k 4096 --gpu h200-sxm";
  EXPECT_THAT(predicted("gemm.tiled" + shape), HasSubstr("between L2 and the SMs, where a block"));
  EXPECT_THAT(predicted("gemm" + shape), HasSubstr("between DRAM and L2, where L2 has 60 MiB"));
  EXPECT_THAT(predicted("gemm --m 4096 --n 4096 --k 4096 --dtype bf16 --gpu tpu-v4"),
              AllOf(HasSubstr("between DRAM and the chip"),
                    HasSubstr("the matrix units set the pace"), Not(HasSubstr("tensor cores"))));
}

TEST(AnswerWords, LevelRidgeAndPeakAreThere) {
  const std::string text = predicted("gemm.tiled --m 4096 --n 4096 --k 4096 --gpu h200-sxm");
  // 66.9 TFLOP/s of fp32 over 4.8 TB/s, by NVIDIA's datasheet.
  EXPECT_THAT(text, HasSubstr("ridge point            13.94 FLOP/B"));
  EXPECT_THAT(text, HasSubstr("] 90%\n"));
  EXPECT_THAT(text, HasSubstr("of the datasheet's peak), DRAM "));
  EXPECT_THAT(text, HasSubstr("\n  next: "));
  EXPECT_THAT(predicted("stream.copy --n 268435456 --gpu h200-sxm"),
              AllOf(HasSubstr("of the datasheet's peak), "), Not(HasSubstr("ridge point"))));
}

TEST(AnswerWords, TheLaunchThatTakesLongestIsShown) {
  // Rows of A (4100 bf16) are no multiples of 16 bytes: a short launch copies A before the product.
  const std::string text =
      predicted("gemm.wgmma --m 4096 --n 4096 --k 4100 --dtype bf16 --split_k 1 --gpu h100-sxm5");
  EXPECT_THAT(text, HasSubstr("kernels started"));
  EXPECT_THAT(text, HasSubstr("which takes longest"));
  EXPECT_THAT(text, HasSubstr("block 384×1×1"));
}

TEST(AnswerWords, RatesOfVariantsAreOfTheSameWork) {
  const Gpu gpu = load_device("h200-sxm", {});
  std::vector<double> flops;
  for (const KernelModel& variant : find_kernel("softmax").family->variants) {
    const KernelRef kernel = find_kernel(variant.name);
    Problem problem;
    problem[0] = 4096, problem[1] = 32768;
    check(kernel, problem, 3);
    flops.push_back(predict(kernel, problem, gpu).useful_flops);
  }
  for (const double each : flops) EXPECT_EQ(each, 4.0 * 4096 * 32768);
}

}  // namespace
}  // namespace roofcast::cli
