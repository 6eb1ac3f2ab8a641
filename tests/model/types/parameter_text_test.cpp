#include "model/types/parameter_text.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/model/named_kernel.hpp"

namespace roofcast {
namespace {

using testing::kNamed;

constexpr std::size_t kN = 0;
constexpr std::size_t kPass = 1;
constexpr std::size_t kExpression = 2;

const Parameter& parameter(std::size_t i) {
  return kNamed.parameters()[i];
}

std::string refusal(std::size_t i, std::string_view value) {
  Problem problem;
  try {
    set_named_value(parameter(i), problem, i, value);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// The refusal of a problem with every value given.
std::string check_refusal(const Problem& given) {
  Problem problem = given;
  try {
    check(kNamed, problem, ~0U);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ParameterText, ValuesAreReadAsTheyAreWritten) {
  for (const std::string_view name : {"forward", "backward"}) {
    Problem problem;
    set_named_value(parameter(kPass), problem, kPass, name);
    EXPECT_EQ(named_value(parameter(kPass), problem, kPass), name);
    EXPECT_EQ(value_text(parameter(kPass), problem, kPass), name);
    EXPECT_EQ(quoted_value_text(parameter(kPass), problem, kPass), name);
  }
  Problem problem;
  problem[kN] = 4096;
  set_named_value(parameter(kExpression), problem, kExpression, "max(x, \"\\)");
  EXPECT_EQ(value_text(parameter(kExpression), problem, kExpression), "max(x, \"\\)");
  EXPECT_EQ(quoted_value_text(parameter(kExpression), problem, kExpression),
            "\"max(x, \\\"\\\\)\"");
  EXPECT_EQ(problem[kExpression], 0);
  EXPECT_EQ(value_text(parameter(kN), problem, kN), "4096");
}

TEST(ParameterText, SaysWhatIsAllowedAndTheDefault) {
  EXPECT_EQ(allowed_text(parameter(kN)), "1 to 1048576");
  EXPECT_EQ(allowed_text(parameter(kPass)), "forward or backward");
  EXPECT_EQ(allowed_text(parameter(kExpression)), "a text of at most 255 bytes");
  constexpr std::array<std::string_view, 3> three = {"a", "b", "c"};
  EXPECT_EQ(allowed_text(choice("x", "", three, 1)), "a, b or c");
  EXPECT_EQ(fallback_text(parameter(kN)), "");
  EXPECT_EQ(fallback_text(parameter(kPass)), "forward");
  EXPECT_EQ(fallback_text(parameter(kExpression)), "");
  EXPECT_EQ(fallback_text(parameter(3)), "256");
}

TEST(ParameterText, RefusesWithTheChoicesAndTheNearest) {
  EXPECT_EQ(refusal(kPass, "backwrd"),
            "pass is 'backwrd': give forward or backward. Did you mean 'backward'?");
  EXPECT_EQ(refusal(kPass, "7"), "pass is '7': give forward or backward");
  EXPECT_EQ(refusal(kPass, ""), "pass is '': give forward or backward");
  EXPECT_EQ(refusal(kExpression, std::string(255, 'x')), "accepted");
  EXPECT_NE(refusal(kExpression, std::string(256, 'x')).find("256 bytes"), std::string::npos);
  EXPECT_NE(refusal(kExpression, "x\ny").find("control character"), std::string::npos);
}

TEST(Check, NamesTheChoicesAndWantsItsText) {
  Problem problem;
  problem.values = {8, 1, 0, 128};
  problem.text = Text("x");
  EXPECT_EQ(check_refusal(problem), "accepted");
  Problem bad = problem;
  bad[kPass] = 2;
  EXPECT_EQ(check_refusal(bad), "pass is 2: give forward or backward");
  bad = problem;
  bad.text = {};
  EXPECT_EQ(check_refusal(bad), "expression is empty: give what to compute: x + y");
  bad = problem;
  bad[kN] = 0;
  EXPECT_EQ(check_refusal(bad), "n is 0: give a whole number from 1 to 1048576");
}

TEST(Check, FillsInTheDefaultChoiceAndRequiresTheText) {
  Problem problem;
  problem.values = {8};
  problem[kPass] = 1;
  problem.text = Text("x");
  check(kNamed, problem, 1U << kN | 1U << kExpression);
  EXPECT_EQ(problem[kPass], 0);
  EXPECT_THROW(check(kNamed, problem, 1U << kN), InputError);
}

}  // namespace
}  // namespace roofcast
