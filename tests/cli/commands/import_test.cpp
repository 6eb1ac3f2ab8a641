#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using testing::expect_refusal;
using ::testing::HasSubstr;
using testing::Outcome;
using testing::run_program;

const std::string kStep = "import " ROOFCAST_EXAMPLE_TRACES "/gpt2_step.json.gz --gpu h100-sxm5";

TEST(Import, SaysTheUnknownShareAndWhatToChangeFirst) {
  const Outcome outcome = run_program(kStep);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_LT(outcome.out.find("no forecast"), outcome.out.find("what to change first"));
  EXPECT_THAT(outcome.out, HasSubstr("pad 50257 to 50304"));
}

TEST(Import, TheJsonHasEveryOperator) {
  const Outcome outcome = run_program(kStep + " --format json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = nlohmann::json::parse(outcome.out);
  double sum = 0;
  for (const auto& one : answer.at("operators")) sum += one.at("measured_s").get<double>();
  EXPECT_NEAR(sum, answer.at("busy_s").get<double>(), 1e-9);
}

TEST(Import, RefusesWhatItCannotRead) {
  expect_refusal("import nosuch.json --gpu h100-sxm5", testing::kBadInput, "nosuch.json");
  expect_refusal("import --gpu h100-sxm5", testing::kUsage, "which trace");
  expect_refusal("import " ROOFCAST_EXAMPLE_TRACES "/gpt2_step.json.gz", testing::kUsage, "--gpu");
}

}  // namespace
}  // namespace roofcast::cli
