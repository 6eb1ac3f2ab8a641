// What completions and manual pages are made from is what --help shows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/completion/offers.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using testing::expect_refusal;
using ::testing::HasSubstr;
using testing::lines_of;
using testing::run_program;
using ::testing::StartsWith;

TEST(Manual, IsTheHelpOfEveryCommand) {
  for (const Command& command : commands()) {
    const Manual manual = command.manual();
    EXPECT_EQ(run_program(std::string(command.name) + " --help").out, help_text(manual))
        << command.name;
  }
}

const OfferedOption& option_of(const OfferedCommand& command, const std::string& name) {
  for (const OfferedOption& option : command.options) {
    if (option.name == name) return option;
  }
  throw std::logic_error("no option " + name);
}

TEST(Offers, ComeFromTheOptionsPlaceholders) {
  const std::vector<OfferedCommand> all = offered_commands();
  ASSERT_EQ(all.size(), commands().size());
  const OfferedCommand& predict = all.front();
  ASSERT_EQ(predict.name, "predict");
  EXPECT_EQ(predict.words, Offer::kernels);
  EXPECT_TRUE(predict.takes_parameters);
  EXPECT_EQ(option_of(predict, "gpu").value, Offer::gpus);
  EXPECT_EQ(option_of(predict, "relative").value, Offer::measured_gpus);
  EXPECT_EQ(option_of(predict, "dtype").value, Offer::types);
  EXPECT_EQ(option_of(predict, "output").value, Offer::files);
  EXPECT_EQ(option_of(predict, "output").letter, "o");
  EXPECT_EQ(option_of(predict, "sm-clock").value, Offer::nothing);
  EXPECT_FALSE(option_of(predict, "datasheet").takes_value);
  EXPECT_EQ(option_of(predict, "cache").value, Offer::some_words);
  EXPECT_THAT(option_of(predict, "cache").words,
              ::testing::ElementsAre("cold", "warm", "steady", "repeated"));
  for (const OfferedCommand& command : all) {
    if (command.name == "kernels" || command.name == "show") {
      EXPECT_FALSE(command.takes_parameters) << command.name;
    }
  }
}

TEST(Offers, ListsAreNotEmptyAndHaveNames) {
  for (const OfferedList& list : offered_lists()) {
    EXPECT_FALSE(list_name(list.offer).empty());
    EXPECT_FALSE(list.words.empty()) << list_name(list.offer);
  }
}

TEST(Offers, QuotesHoldForAShell) {
  EXPECT_EQ(shell_quoted("it's"), R"('it'\''s')");
}

TEST(Completion, ParametersComeALineEach) {
  const auto outcome = run_program("completion parameters attention gemm.tiled");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(lines_of(outcome.out),
              ::testing::Contains(::testing::AllOf(StartsWith("pass\tforward, or backward"),
                                                   ::testing::EndsWith("\tforward backward"))));
  EXPECT_THAT(lines_of(outcome.out), ::testing::Contains("m\trows of A and C (elements)\t"));
}

TEST(Completion, Refusals) {
  expect_refusal("completion", testing::kUsage, "which shell?");
  expect_refusal("completion csh", testing::kUsage, "bash, zsh, fish");
  expect_refusal("completion bash zsh", testing::kUsage, "'zsh'");
  expect_refusal("completion parameters", testing::kUsage, "which kernel?");
  expect_refusal("completion parameters gemm.tild", testing::kUsage, "gemm.tiled");
  expect_refusal("man predct", testing::kUsage, "'predict'");
  expect_refusal("man predict sweep", testing::kUsage, "'sweep'");
}

TEST(ManPage, OptionsAndExamplesStandAsTheyAre) {
  const auto outcome = run_program("man predict");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, StartsWith(".TH ROOFCAST\\-PREDICT 1 \"\" \"roofcast "));
  EXPECT_THAT(outcome.out, HasSubstr("\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFILE\\fR\n"));
  EXPECT_THAT(outcome.out, HasSubstr("  roofcast predict gemm \\-\\-m 4096"));
}

}  // namespace
}  // namespace roofcast::cli
