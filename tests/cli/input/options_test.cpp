#include "cli/input/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Option>& table() {
  static const std::vector<Option> options = {{"gpu", "NAME", "the device"},
                                              {"set", "K=V", "override", true},
                                              {"output,o", "FILE", "where to"},
                                              {"datasheet", "", "no calibration"},
                                              {"m", "N", "rows"}};
  return options;
}

std::string refusal(const Arguments& arguments) {
  try {
    parse_options(arguments, table());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Options, WordsAndOptionsInAnyOrder) {
  const auto split = split_words({"gemm", "--gpu", "x", "--datasheet", "tiled", "-o", "f", "--m=4",
                                  "last", "--other", "value"},
                                 table());
  EXPECT_THAT(split.words, ElementsAre("gemm", "tiled", "last"));
  EXPECT_THAT(split.options,
              ElementsAre("--gpu", "x", "--datasheet", "-o", "f", "--m=4", "--other", "value"));
}

TEST(Options, ADashAloneIsAWordAndTwoEndTheOptions) {
  const auto split = split_words({"-", "--", "--gpu"}, table());
  EXPECT_THAT(split.words, ElementsAre("-", "--gpu"));
}

TEST(Options, NoValueBeginsWithTwoDashes) {
  const auto split = split_words({"gemm", "--m", "--n", "4"}, table());
  EXPECT_THAT(split.words, ElementsAre("gemm"));
  EXPECT_THAT(split.options, ElementsAre("--m", "--n", "4"));
}

TEST(Options, Values) {
  const Options options = parse_options(
      {"--set", "a=1", "--set", "b=2", "-o", "f", "--m", "-5", "--datasheet"}, table());
  EXPECT_THAT(options.all("set"), ElementsAre("a=1", "b=2"));
  EXPECT_EQ(options.get("output", ""), "f");
  EXPECT_EQ(options.get("m", ""), "-5");
  EXPECT_TRUE(options.has("datasheet"));
  EXPECT_FALSE(options.has("gpu"));
  EXPECT_EQ(parse_options({"--m", "=n"}, table()).get("m", ""), "=n");
}

TEST(Options, Refusals) {
  EXPECT_THAT(refusal({"--gpuu", "x"}), HasSubstr("Did you mean '--gpu'?"));
  EXPECT_THAT(refusal({"--gp", "x"}), HasSubstr("there is no option '--gp'"));
  EXPECT_THAT(refusal({"--gpu", "a", "--gpu", "b"}), HasSubstr("given 2 times"));
  EXPECT_THAT(refusal({"--gpu"}), HasSubstr("gpu"));
  EXPECT_THAT(refusal({"stray"}), HasSubstr("word too many"));
  EXPECT_THAT(refusal({"--datasheet=yes"}), HasSubstr("datasheet"));
  EXPECT_EQ(refusal({"--gpu", ""}), "--gpu is empty: give NAME or leave it out");
  EXPECT_THAT(refusal({"--set", "a=1", "--set="}), HasSubstr("--set"));
}

TEST(Options, HelpLeadsWithExamples) {
  const std::string text = help_text({"  roofcast x\n", "roofcast x", "Does x.", table()});
  EXPECT_TRUE(text.starts_with("Examples:\n"));
  EXPECT_LT(text.find("Does x."), text.find("--gpu"));
}

TEST(Words, OneOfAFewWords) {
  constexpr std::array<std::string_view, 2> known = {"table", "json"};
  EXPECT_EQ(one_of("--format", "json", known), "json");
  EXPECT_THROW(one_of("--format", "jsn", known), UsageError);
  EXPECT_EQ(did_you_mean("jsn", known), " Did you mean 'json'?");
  EXPECT_EQ(did_you_mean("completely else", known), "");
}

TEST(Words, Lists) {
  EXPECT_THAT(split_list("a,b,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split_list("", ','), ElementsAre(""));
  EXPECT_THAT(distinct("--x", {"b", "a"}), ElementsAre("b", "a"));
  EXPECT_THROW((void)distinct("--x", {"a", "b", "a"}), UsageError);
}

}  // namespace
}  // namespace roofcast::cli
