#include "validation/runs/problem_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/named_kernel.hpp"
#include "validation/runs/problem_text.hpp"

namespace roofcast::validation {
namespace {

using nlohmann::json;
using roofcast::testing::kNamed;
using ::testing::HasSubstr;

std::string refusal(const json& object) {
  try {
    (void)problem_from_json(kNamed, JsonNode("run.json", object));
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

json object() {
  return {{"n", 8}, {"pass", "backward"}, {"expression", "sin(x)^2"}, {"dtype", "fp32"}};
}

TEST(ProblemJson, ChoicesAndTextsAreStrings) {
  const json written = object();
  const Problem problem = problem_from_json(kNamed, JsonNode("run.json", written));
  EXPECT_EQ(problem[1], 1);
  EXPECT_EQ(problem.text.view(), "sin(x)^2");
  json expected = object();
  expected["threads"] = 256;
  EXPECT_EQ(problem_to_json(kNamed, problem), expected);
  EXPECT_EQ(problem_from_json(kNamed, JsonNode("run.json", expected)), problem);
}

TEST(ProblemJson, OtherValuesAreRefusedWithTheChoices) {
  json bad = object();
  bad["pass"] = "backwards";
  EXPECT_THAT(refusal(bad), HasSubstr("run.json: at /pass: expected forward or backward"));
  EXPECT_THAT(refusal(bad), HasSubstr("Did you mean 'backward'?"));
  bad["pass"] = 1;
  EXPECT_THAT(refusal(bad), HasSubstr("forward or backward"));
  bad = object();
  bad["expression"] = "";
  EXPECT_THAT(refusal(bad), HasSubstr("expression is empty"));
  bad.erase("expression");
  EXPECT_THAT(refusal(bad), HasSubstr("needs expression"));
}

TEST(ProblemText, QuotesTextsAndNamesChoices) {
  Problem problem;
  problem.values = {8, 256, 16, 1, 0};
  problem.text = Text("max(x, \"y\")");
  const KernelRef expr = find_kernel("elementwise.expr.fused");
  check(expr, problem, ~0U);
  EXPECT_THAT(problem_text("elementwise.expr.fused", problem),
              HasSubstr("expression=\"max(x, \\\"y\\\")\" fp32"));
  Problem gather;
  gather.values = {1024, 512, 0};
  EXPECT_THAT(problem_text("access.gather", gather), HasSubstr("distribution=shuffled"));
}

}  // namespace
}  // namespace roofcast::validation
