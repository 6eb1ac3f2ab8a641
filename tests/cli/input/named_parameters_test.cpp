// Choices and texts on the command line and in what it prints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/input/kernel_options.hpp"
#include "cli/input/sweep_axis.hpp"
#include "cli/output/answer.hpp"
#include "tests/model/named_kernel.hpp"

namespace roofcast::cli {
namespace {

using roofcast::testing::kNamed;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Parameter& pass() {
  return kNamed.parameters()[1];
}

Problem problem_of(const Arguments& arguments) {
  const std::array kernels = {kNamed};
  std::vector<Option> known = parameter_options(kernels, "N");
  known.push_back({"dtype", "TYPE", ""});
  return read_problem(parse_options(arguments, known), kNamed);
}

std::string refusal(const Arguments& arguments) {
  try {
    problem_of(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(NamedParameters, AreReadFromOptions) {
  const Problem problem = problem_of({"--n", "8", "--pass", "backward", "--expression", "x=1,y"});
  EXPECT_THAT(std::span(problem.values).first(4), ElementsAre(8, 1, 0, 256));
  EXPECT_EQ(problem.text.view(), "x=1,y");
  EXPECT_EQ(problem_text(kNamed, problem),
            "n=8 pass=backward expression=\"x=1,y\" threads=256 fp32");
  EXPECT_EQ(problem_of({"--n", "8", "--expression=-x"}).text.view(), "-x");
}

TEST(NamedParameters, AreRefusedWithTheChoices) {
  EXPECT_EQ(refusal({"--n", "8", "--expression", "x", "--pass", "forwrd"}),
            "--pass is 'forwrd': give forward or backward. Did you mean 'forward'?");
  EXPECT_THAT(refusal({"--n", "8"}), HasSubstr("needs --expression"));
  EXPECT_THAT(refusal({"--n", "8", "--expression", std::string(300, 'x')}),
              HasSubstr("--expression has 300 bytes"));
}

TEST(NamedParameters, TheHelpShowsWhatTheyTake) {
  const std::array kernels = {kNamed};
  const auto options = parameter_options(kernels, "N");
  ASSERT_EQ(options.size(), 4U);
  EXPECT_EQ(options[1].value_name, "NAME");
  EXPECT_EQ(options[1].meaning, "which way, forward or backward, default forward");
  EXPECT_EQ(options[2].value_name, "TEXT");
  EXPECT_EQ(options[3].meaning, "threads a block, 32 to 1024, default 256");
}

TEST(NamedParameters, AreStringsInJsonAndFieldsInCsv) {
  const Problem problem =
      problem_of({"--n", "8", "--pass", "backward", "--expression", "max(x, \"y\")"});
  fmt::memory_buffer out;
  JsonWriter json(out);
  write_refusal(json, kNamed, problem, Gpu{}, "no");
  const auto written = nlohmann::json::parse(fmt::to_string(out)).at("problem");
  EXPECT_EQ(written.at("pass"), "backward");
  EXPECT_EQ(written.at("expression"), "max(x, \"y\")");
  EXPECT_EQ(written.at("n"), 8);
  out.clear();
  CsvWriter csv(out, {"pass", "expression", "n"});
  csv.refused(kNamed, problem, Gpu{}, "no");
  EXPECT_THAT(fmt::to_string(out), HasSubstr("named.one,,backward,\"max(x, \"\"y\"\")\",8,fp32,"));
}

TEST(NamedParameters, AreAxesOfASweep) {
  EXPECT_THAT(parse_axis(pass(), "backward,forward").values, ElementsAre(1, 0));
  EXPECT_THROW(parse_axis(pass(), "backward,sideward"), UsageError);
  EXPECT_THROW(parse_axis(pass(), "0:1:1"), UsageError);
  EXPECT_THAT(parse_axis(kNamed.parameters()[0], "1,2").values, ElementsAre(1, 2));
  const std::array axes = {parse_axis("n", "=pass"), parse_axis(pass(), "forward")};
  EXPECT_THROW(Points(axes, 1), UsageError);
}

}  // namespace
}  // namespace roofcast::cli
