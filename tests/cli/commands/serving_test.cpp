// `roofcast model NAME --serve`: the steady state of continuous batching.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "model/constants/steps.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using json = nlohmann::json;
using ::testing::HasSubstr;
using testing::kBadInput;
using testing::kUsage;
using testing::Outcome;
using testing::run_program;

constexpr double kRequest_s = transformer::constants::kRequestSeconds;
const std::string kAsked =
    "model llama-3.1-8b --serve --input-tokens 1024 --output-tokens 128 --gpu h100-sxm5 ";

json answer_of(const std::string& options) {
  const Outcome outcome = run_program(kAsked + options + " --format json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return json::parse(outcome.out);
}

double number(const json& answer, const char* key) {
  return answer.at(key).get<double>();
}

TEST(Serving, PromptsTakeTurnsWithDecoding) {
  const json spread = answer_of("--concurrency 32");
  const double decode = number(spread, "decode_s"), prefill = number(spread, "prefill_s");
  const double joined = number(spread, "joined_s"), software = 32 * kRequest_s;
  const double between = number(spread.at("between_tokens"), "expected_s");
  EXPECT_NEAR(number(spread, "software_s"), software, 1e-12);
  // One step in four has a prompt in its batch.
  EXPECT_NEAR(between, 0.75 * decode + 0.25 * joined + software, 1e-9 * between);
  EXPECT_NEAR(number(spread, "tokens_per_s"), 32 / between, 1e-6 * 32 / between);
  const json together = answer_of("--concurrency 32 --prompts together");
  EXPECT_NEAR(number(together.at("between_tokens"), "expected_s"),
              decode + 16 * prefill / 128 + software, 1e-9 * between);
  EXPECT_NEAR(number(together, "to_first_token_s"), 16 * prefill, 1e-9);
  // Weights that decoding reads anyway are read once for both.
  EXPECT_LT(joined, decode + prefill);
  EXPECT_GT(joined, std::max(decode, prefill));
  EXPECT_GT(number(spread, "tokens_per_s"), number(together, "tokens_per_s"));
}

// 128 prompts in 64 steps: two of them in each.
TEST(Serving, AStepHoldsSeveralPrompts) {
  const Outcome outcome = run_program(
      "model llama-3.1-8b --serve --input-tokens 512 --output-tokens 64 --concurrency 128 --gpu "
      "h200-sxm --format json");
  const json answer = json::parse(outcome.out);
  EXPECT_GT(number(answer, "joined_s"), number(answer, "decode_s") + number(answer, "prefill_s"));
}

TEST(Serving, AStepIsThatOfDecodeHalfWayThroughTheAnswers) {
  const Outcome step = run_program(
      "model llama-3.1-8b --decode --batch 32 --context 1088 --framework compiled --gpu h100-sxm5 "
      "--format json");
  const json answer = json::parse(step.out);
  EXPECT_DOUBLE_EQ(number(answer.at("time"), "expected_s"),
                   number(answer_of("--concurrency 32"), "decode_s"));
}

TEST(Serving, MemoryHoldsTheLargestConcurrencyAndNoMore) {
  const auto largest = answer_of("--concurrency 1").at("largest_concurrency").get<std::int64_t>();
  EXPECT_TRUE(answer_of("--concurrency " + std::to_string(largest)).at("fits").get<bool>());
  const std::string one_more = "--concurrency " + std::to_string(largest + 1);
  EXPECT_FALSE(answer_of(one_more).at("fits").get<bool>());
  EXPECT_THAT(run_program(kAsked + one_more).out,
              HasSubstr("--concurrency " + std::to_string(largest) + " fits"));
}

TEST(Serving, ANoteSaysThatRequestsAreLongerThanTheLearnedPositions) {
  const auto notes = [](const char* output) {
    const Outcome outcome = run_program(
        std::string("model gpt2 --serve --concurrency 4 --input-tokens 1000 --gpu h100-sxm5 ") +
        "--format json --output-tokens " + output);
    return json::parse(outcome.out).at("notes").size();
  };
  EXPECT_EQ(notes("25"), 0U);
  EXPECT_EQ(notes("26"), 1U);
}

TEST(Serving, RefusalsSayWhatToDo) {
  const auto refused = [](const std::string& options, int code, const std::string& said) {
    const Outcome outcome = run_program(options);
    EXPECT_EQ(static_cast<int>(outcome.code), code) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(said));
  };
  refused(kAsked, kUsage, "--concurrency");
  refused(kAsked + "--concurrency 4 --batch 2", kUsage, "--batch belongs to a step");
  refused(kAsked + "--concurrency 4 --prefetch post", kUsage, "--prefetch belongs to a step");
  refused(kAsked + "--concurrency 0", kBadInput, "'concurrency'");
  refused(kAsked + "--concurrency 5000000", kBadInput, "'concurrency'");
  refused(kAsked + "--concurrency 4 --dtype fp9", kBadInput, "fp9");
  refused("model llama-3.1-8b --serve --concurrency 4 --gpu h100-sxm5", kUsage, "--input-tokens");
}

}  // namespace
}  // namespace roofcast::cli
