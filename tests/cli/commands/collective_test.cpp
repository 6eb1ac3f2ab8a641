// Collectives by the names of kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::expect_refusal;
using ::testing::HasSubstr;
using testing::kBadInput;
using testing::kUsage;
using testing::lines_of;
using ::testing::Not;
using testing::Outcome;
using testing::run_program;

const std::string kAsked = "predict collective.all_reduce --bytes 64MiB --gpus 8 --gpu h100-sxm5";

TEST(CollectiveCommand, AnswersInBothFormats) {
  const Outcome text = run_program(kAsked);
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("collective.all_reduce  67.11 MB among 8 GPUs"));
  const json object = json::parse(run_program(kAsked + " --format json").out);
  EXPECT_EQ(object.at("schema_version"), 1);
  EXPECT_EQ(object.at("problem").at("bytes"), 67108864);
  EXPECT_EQ(object.at("time").at("bound"), "link");
  const double expected = object.at("time").at("expected_s");
  double parts = 0;
  for (const json& part : object.at("waterfall")) parts += part.at("time_s").get<double>();
  EXPECT_NEAR(parts, expected, 1e-12);
  EXPECT_GE(expected, object.at("limit").at("time_s").get<double>());
}

TEST(CollectiveCommand, AnswersALineForALine) {
  const std::string lines =
      "{\"kernel\":\"collective.all_reduce\",\"gpu\":\"h100-sxm5\",\"bytes\":67108864,\"gpus\":8}\n"
      "{\"kernel\":\"collective.all_reduce\",\"gpu\":\"h100-sxm5\",\"bits\":1,\"gpus\":8}\n"
      "{\"kernel\":\"collective.alltoal\",\"gpu\":\"h100-sxm5\",\"bytes\":1,\"gpus\":8}\n";
  const Outcome outcome = run_program("predict --queries -", lines);
  EXPECT_EQ(outcome.code, kBadInput);
  const auto answers = lines_of(outcome.out);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(json::parse(answers[0]), json::parse(run_program(kAsked + " --format json").out));
  EXPECT_THAT(answers[1], HasSubstr("'bits'"));
  EXPECT_THAT(answers[2], HasSubstr("collective.alltoall"));
}

// Cards without NVLink reach one another over PCIe; how, the machine decides.
TEST(CollectiveCommand, SaysWhatPcieLeavesOpen) {
  const std::string asked = "predict collective.all_reduce --bytes 64MiB --gpus 4 --gpu ";
  EXPECT_THAT(run_program(asked + "l40s").out, HasSubstr("note: l40s: transfers over PCIe"));
  EXPECT_THAT(run_program(asked + "b200").out, Not(HasSubstr("note")));
  const json card = json::parse(run_program(asked + "l40s --format json").out);
  EXPECT_EQ(card.at("notes").size(), 1U);
  const json time = card.at("time");
  EXPECT_NEAR(time.at("high_s").get<double>() / time.at("expected_s").get<double>(), 1.5, 1e-9);
  const std::string step = "model llama-3.1-8b --decode --tp 2 --context 100 --gpu l40s";
  EXPECT_THAT(run_program(step).out, HasSubstr("transfers over PCIe"));
}

TEST(CollectiveCommand, RefusalsSayWhatToDo) {
  expect_refusal("predict collective.alltoal --bytes 1 --gpus 2 --gpu h100-sxm5", kUsage,
                 "collective.alltoall");
  expect_refusal("predict collective.all_reduce --gpus 2 --gpu h100-sxm5", kUsage, "--bytes");
  expect_refusal("predict collective.all_reduce --bytes 1XB --gpus 2 --gpu h100-sxm5", kUsage,
                 "64MiB");
  expect_refusal("predict collective.all_reduce --bytes 1e6 --gpus 9 --gpu h100-sxm5", kBadInput,
                 "'gpus'");
  expect_refusal("predict collective.all_reduce --bytes 1e6 --gpus 8 --gpu k80", kBadInput,
                 "link_bytes_per_s");
}

}  // namespace
}  // namespace roofcast::cli
