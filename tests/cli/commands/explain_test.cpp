#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::run_program;

TEST(Explain, ASensitivityIsWhatPredictSaysWithTheLargerValue) {
  const std::string question = " stream.copy --n 67108864 --gpu h200-sxm --format json";
  const Outcome outcome = run_program("explain" + question);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  const double now = answer.at("prediction").at("time").at("expected_s");
  const json& sensitivities = answer.at("sensitivities");
  ASSERT_FALSE(sensitivities.empty());
  double last = 1;
  for (const json& one : sensitivities) {
    const double change = one.at("change");
    EXPECT_LE(std::abs(change), last);
    last = std::abs(change);
    EXPECT_FALSE(one.at("source").get<std::string>().empty());
    const Outcome with =
        run_program("predict" + question + " --set " + one.at("key").get<std::string>() + "=" +
                    one.at("larger").dump());
    ASSERT_EQ(with.code, 0) << with.err;
    EXPECT_NEAR(json::parse(with.out).at("time").at("expected_s").get<double>() / now - 1, change,
                1e-9);
  }
  EXPECT_THAT(sensitivities.front().at("key"), HasSubstr("dram"));
}

TEST(Explain, FormulasHaveTheirNumbersAndSources) {
  const Outcome outcome = run_program(
      "explain gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json answer = json::parse(outcome.out);
  std::size_t alike = 0;
  bool binds = false;
  for (const json& one : answer.at("formulas")) {
    const double amount = one.at("amount"), rate = one.at("full_rate_per_s"),
                 least_s = one.at("least_s"), alone_s = one.at("alone_s");
    EXPECT_DOUBLE_EQ(amount / rate, least_s) << one;
    EXPECT_LE(least_s, alone_s * (1 + 1e-9)) << one;
    EXPECT_FALSE(one.at("source").get<std::string>().empty()) << one;
    const std::string resource = one.at("resource");
    binds = binds || resource == answer.at("prediction").at("time").at("bound");
    // Pipes of the SMs: 512 equal blocks on 132 SMs fill 3.88 of 4 waves; the rest is the tail's.
    if (resource != "vector" && resource != "issue" && resource != "shared") continue;
    EXPECT_NEAR(least_s, alone_s, 1e-9) << one;
    EXPECT_THAT(one.at("full_rate_is").get<std::string>(), HasSubstr("132 SMs × "));
    ++alike;
  }
  EXPECT_EQ(alike, 3U);
  EXPECT_TRUE(binds) << answer.at("formulas");
  // 2 * 4096^3 FLOP.
  EXPECT_EQ(answer.at("formulas").front().at("amount"), 2.0 * 4096 * 4096 * 4096);
}

TEST(Explain, EveryKernelHasItsFormulas) {
  for (const char* words :
       {"attention.library --batch 2 --heads 8 --seq_q 2048 --head_dim 128 --dtype bf16",
        "gemm.library --m 4096 --n 4096 --k 4096 --dtype fp8",
        ROOFCAST_EXAMPLE_KERNELS "/swiglu.json --tokens 8192",
        "elementwise.gelu.unfused --n 67108864 --dtype bf16"}) {
    const Outcome outcome =
        run_program(std::string("explain ") + words + " --gpu h100-sxm5 --format json");
    ASSERT_EQ(outcome.code, 0) << words << outcome.err;
    EXPECT_GT(json::parse(outcome.out).at("formulas").size(), 1U) << words;
  }
}

TEST(Explain, BlocksOverTheSmsAddUp) {
  // 512 blocks on 132 SMs: 116 of them have four.
  const Outcome outcome =
      run_program("explain gemm.vectorized --m 4096 --n 4096 --k 4096 --gpu h200-sxm");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("  1–116               4  █"));
  EXPECT_THAT(outcome.out, HasSubstr("117–132               3  █"));
}

TEST(Explain, DrawsThePartsTheBlocksAndTheBytes) {
  const std::string question = "explain gemm.tiled --m 512 --n 512 --k 512 --gpu h200-sxm";
  const std::vector<std::pair<std::string, std::string>> plots = {
      {"parts", "Where the expected time goes"},
      {"timeline", "Blocks over the SMs"},
      {"traffic", "Where the bytes go"}};
  for (const auto& [plot, title] : plots) {
    const Outcome outcome = run_program(question + " --plot " + plot);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(json::parse(outcome.out).at("title").at("text"), title);
  }
  testing::expect_refusal(question + " --plot blocks", testing::kUsage, "timeline");
  testing::expect_refusal(
      "explain elementwise.gelu.unfused --n 4096 --gpu h200-sxm --plot timeline",
      testing::kBadInput, "one launch");
}

TEST(Explain, RefusesWhatHasNoTime) {
  testing::expect_refusal("explain gemm --m 9 --n 9 --k 9 --gpu h200-sxm", testing::kUsage,
                          "takes one kernel");
  testing::expect_refusal("explain gemm.tiled --m 9 --n 9 --k 9 --gpu tpu-v5e", testing::kBadInput,
                          "does not compute in fp32");
}

}  // namespace
}  // namespace roofcast::cli
