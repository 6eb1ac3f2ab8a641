#include "cli/input/cuda_tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> lines_of_shell(const std::string& script, const ToolLimits& limits = {}) {
  std::vector<std::string> lines;
  run_tool(
      "/bin/sh", {"-c", script}, [&](std::string_view line) { lines.emplace_back(line); }, limits);
  return lines;
}

std::string refusal(const std::string& script, const ToolLimits& limits = {}) {
  try {
    lines_of_shell(script, limits);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RunTool, GivesLinesWhateverTheirPieces) {
  EXPECT_THAT(lines_of_shell("printf 'a\\n\\nb'; sleep 0.1; printf 'c\\nd'"),
              ElementsAre("a", "", "bc", "d"));
  EXPECT_THAT(lines_of_shell(""), ElementsAre());
}

TEST(RunTool, StandardInputIsEmptyAndErrorsStayApart) {
  EXPECT_THAT(lines_of_shell("cat; echo warning >&2; echo done"), ElementsAre("done"));
}

TEST(RunTool, ArgumentsPassNoShell) {
  std::vector<std::string> lines;
  run_tool("/bin/echo", {"a b; touch $HOME 'x'"},
           [&](std::string_view line) { lines.emplace_back(line); });
  EXPECT_THAT(lines, ElementsAre("a b; touch $HOME 'x'"));
}

TEST(RunTool, AProgramThatFailsIsQuoted) {
  EXPECT_EQ(refusal("echo no device code >&2; echo more >&2; exit 7"),
            "sh ended with 7: no device code");
  EXPECT_EQ(refusal("kill -KILL $$"), "sh ended with 137: it said nothing");
  EXPECT_THAT(refusal("echo \"Cannot decode architecture 'SM999'\" >&2; exit 1"),
              HasSubstr("A newer CUDA Toolkit"));
  EXPECT_THROW(run_tool("/no/such/program", {}, [](std::string_view) {}), InputError);
}

TEST(RunTool, LongOutputEndsTheProgram) {
  ToolLimits limits;
  limits.output_bytes = 1 << 16;
  EXPECT_THAT(refusal("while :; do echo line; done", limits), HasSubstr("longer than 65536 bytes"));
  limits.line_bytes = 100;
  EXPECT_THAT(refusal("while :; do printf x; done", limits), HasSubstr("longer than 100 bytes"));
}

TEST(RunTool, ALineThatIsRefusedEndsTheProgram) {
  EXPECT_THROW(run_tool("/bin/sh", {"-c", "while :; do echo line; done"},
                        [](std::string_view) { throw InputError("enough"); }),
               InputError);
}

}  // namespace
}  // namespace roofcast::cli
