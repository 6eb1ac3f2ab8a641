#include "model/expression/expression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

#include "model/expression/chain.hpp"
#include "model/expression/operations.hpp"
#include "model/kernels/elementwise/elementwise.hpp"
#include "model/kernels/expression/expression.hpp"
#include "model/laws/l2_reuse.hpp"
#include "model/predict.hpp"
#include "tests/model/devices.hpp"

namespace roofcast::expression {
namespace {

using Arrays = std::vector<std::size_t>;

// The value of an expression of one input, or of none.
double value_at(std::string_view text, double x) {
  const Expression e = parse(text);
  std::vector<double> values;
  for (const Node& node : e.nodes) {
    if (node.op == Op::number)
      values.push_back(node.value);
    else if (node.op == Op::input)
      values.push_back(x);
    else
      values.push_back(operation_of(node.op).value(values[node.a], values[node.b]));
  }
  return values[e.outputs().front()];
}

std::string error_of(std::string_view text) {
  try {
    (void)parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(Expression, OperatorsHoldAsInArithmetic) {
  EXPECT_EQ(value_at("2 + 3*4", 0), 14);
  EXPECT_EQ(value_at("(2 + 3)*4", 0), 20);
  EXPECT_EQ(value_at("10 - 3 - 2", 0), 5);
  EXPECT_EQ(value_at("16/4/2", 0), 2);
  EXPECT_EQ(value_at("2^3^2", 0), 512);
  EXPECT_EQ(value_at("-2^2", 0), -4);
  EXPECT_EQ(value_at("2^-1", 0), 0.5);
  EXPECT_EQ(value_at("--x", 3), 3);
  EXPECT_EQ(value_at("1.5e2 + .5", 0), 150.5);
}

// The kernels of a chain name their inputs a and b, each once.
TEST(Expression, KernelsOfAChainNameTheirInputs) {
  const auto kernel = [](std::string_view text) {
    return print(eager(parse(text)).steps.front().operation);
  };
  EXPECT_EQ(kernel("y - x"), print(parse("a - b")));
  EXPECT_EQ(kernel("x/x"), print(parse("a/a")));
  EXPECT_EQ(kernel("3 - z"), print(parse("3 - a")));
}

// The memory behind a text is not read.
TEST(Expression, EndsWhereItsTextEnds) {
  const std::string_view text = "2.5e1)";
  EXPECT_EQ(value_at(text.substr(0, 1), 0), 2);
  EXPECT_EQ(value_at(text.substr(0, 3), 0), 2.5);
  EXPECT_EQ(value_at(text.substr(0, 5), 0), 25);
}

TEST(Expression, FunctionsAreTheirNames) {
  EXPECT_DOUBLE_EQ(value_at("sin(x)^2 + cos(x)^2", 0.7), 1);
  EXPECT_DOUBLE_EQ(value_at("sigmoid(x)", 0), 0.5);
  EXPECT_DOUBLE_EQ(value_at("rsqrt(x)*sqrt(x)", 3), 1);
  EXPECT_DOUBLE_EQ(value_at("log(exp(x))", 1.25), 1.25);
  EXPECT_EQ(value_at("relu(x) + min(x, 1) - max(x, -1) + abs(x)", -2), 0 - 2 + 1 + 2);
}

TEST(Expression, NewFunctionsAndComparisons) {
  EXPECT_DOUBLE_EQ(value_at("erf(x)", 0.5), 0.5204998778130465);  // tables of the error function
  EXPECT_NEAR(value_at("silu(x) - x*sigmoid(x)", 1.25), 0, 1e-15);
  EXPECT_EQ(value_at("(x < 2) + 10*(x <= 2) + 100*(x > 2) + 1000*(x >= 2)", 2), 1010);
  EXPECT_EQ(value_at("(x == 2) + 10*(x != 2)", 2), 1);
  EXPECT_EQ(value_at("1 + x < 2*x", 3), 1);  // sums before comparisons
  EXPECT_NE(error_of("1 < x < 3").find("a comparison of a comparison"), std::string::npos);
}

TEST(Expression, StatementsNameResults) {
  const Expression e = parse("t = a*b; y = t + c; z = t*2;");
  EXPECT_EQ(e.inputs, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(e.statements.size(), 3U);
  EXPECT_FALSE(e.statements[0].is_output);
  EXPECT_EQ(e.outputs(), (std::vector<std::uint8_t>{e.statements[1].node, e.statements[2].node}));
  EXPECT_EQ(print(e), "t = a*b; y = t + c; z = t*2");
  EXPECT_EQ(parse(print(e)), e);
  EXPECT_EQ(parse("y = x == 1").statements.front().name, "y");
  EXPECT_NE(error_of("y = x; x = 2").find("x is an input above"), std::string::npos);
  EXPECT_NE(error_of("y = x; y = 2").find("y is computed above"), std::string::npos);
  EXPECT_NE(error_of("sin = x").find("sin is a function"), std::string::npos);
  EXPECT_NE(error_of("x + 1; z = x").find("without a name"), std::string::npos);
  EXPECT_NE(error_of("y = x; 2*x").find("without a name"), std::string::npos);
}

TEST(Expression, ReductionsHaveAValueARow) {
  const Expression softmax = parse("e = exp(x - amax(x)); y = e/sum(e)");
  const std::vector<int> levels = reduction_levels(softmax);
  EXPECT_EQ(levels[softmax.statements[0].node], 1);
  EXPECT_EQ(levels[softmax.statements[1].node], 2);
  const Expression scale = parse("rsqrt(mean(x^2) + 1e-6)");
  EXPECT_TRUE(values_of_rows(scale)[scale.outputs().front()]);
  const Expression norm = parse("x*rsqrt(mean(x^2))");
  EXPECT_FALSE(values_of_rows(norm)[norm.outputs().front()]);
  // A sum of numbers is no number: it depends on the row's length.
  EXPECT_EQ(fold(parse("x*sum(2*3)")).nodes.size(), 4U);
}

TEST(Expression, InputsStandInTheOrderOfTheirFirstAppearance) {
  EXPECT_EQ(parse("b*a_1 + b").inputs, (std::vector<std::string>{"b", "a_1"}));
}

TEST(Expression, ErrorsNameTheColumnAndWhatToDo) {
  EXPECT_NE(error_of("x + )").find("column 5: expected a value, at \"x + ▸)\""), std::string::npos)
      << error_of("x + )");
  EXPECT_NE(error_of("(x + 1").find("close the parenthesis"), std::string::npos);
  EXPECT_NE(error_of("sinh(x)").find("no function is named 'sinh'"), std::string::npos);
  EXPECT_NE(error_of("sin x").find("sin is a function"), std::string::npos);
  EXPECT_NE(error_of("max(x)").find("max takes two operands"), std::string::npos);
  EXPECT_NE(error_of("x y").find("column 3"), std::string::npos);
  EXPECT_NE(error_of("2x").find("column 2"), std::string::npos);
  EXPECT_NE(error_of("1e + x").find("exponent without digits"), std::string::npos);
  EXPECT_NE(error_of("1e999").find("out of range"), std::string::npos);
  EXPECT_NE(error_of("").find("column 1"), std::string::npos);
  EXPECT_NE(error_of(std::string(256, 'x')).find("255 bytes"), std::string::npos);
}

TEST(Expression, NumbersFoldAndEqualPartsAreShared) {
  EXPECT_EQ(fold(parse("2*3*x")), parse("6*x"));
  EXPECT_EQ(fold(parse("x*(1 - 4/2)")).nodes.size(), 3U);
  EXPECT_EQ(share(parse("(x + 1)*(x + 1)")).nodes.size(), 4U);  // x, 1, x + 1, its square
}

// A tree of the operations that parse() builds; its numbers are what a text can say.
Node any_node(std::uint8_t left, std::uint8_t right) {
  const auto op = static_cast<Op>(
      *rc::gen::inRange(static_cast<int>(Op::negate), static_cast<int>(Op::not_equal) + 1));
  return {op, left, operands(op) == 2 ? right : std::uint8_t{0}};
}

std::uint8_t grow(Expression& e, int levels) {
  const auto last = [&e] { return static_cast<std::uint8_t>(e.nodes.size() - 1); };
  if (levels == 0 || *rc::gen::inRange(0, 4) == 0) {
    if (*rc::gen::inRange(0, 2) == 0) {
      e.nodes.push_back({Op::number, 0, 0, *rc::gen::inRange(0, 1000) / 8.0});
      return last();
    }
    const std::string name = *rc::gen::element<std::string>("x", "y2", "_z");
    const auto known = std::find(e.inputs.begin(), e.inputs.end(), name);
    const auto position = static_cast<std::uint8_t>(known - e.inputs.begin());
    if (known == e.inputs.end()) e.inputs.push_back(name);
    e.nodes.push_back({Op::input, position});
    return last();
  }
  const std::uint8_t left = grow(e, levels - 1);
  Node node = any_node(left, 0);
  if (operands(node.op) == 2) node.b = grow(e, levels - 1);
  e.nodes.push_back(node);
  return last();
}

RC_GTEST_PROP(ExpressionProperty, WhatIsPrintedReadsTheSame, ()) {
  Expression e;
  e.statements.push_back({"", grow(e, 4)});
  const std::string text = print(e);
  RC_PRE(text.size() <= Text::kMaxBytes);
  RC_ASSERT(parse(text) == e);
}

RC_GTEST_PROP(ExpressionProperty, AnyTextIsReadOrRefused, (const std::string& text)) {
  try {
    const Expression e = parse(text);
    RC_ASSERT(parse(print(e)) == e);
  } catch (const InputError&) {
    RC_SUCCEED("refused");
  }
}

TEST(Chain, IsWhatAnEagerFrameworkLaunches) {
  const Chain chain = eager(parse("a*b + c"));  // a b c, y, one scratch
  ASSERT_EQ(chain.steps.size(), 2U);
  EXPECT_EQ(chain.scratch, 1U);
  EXPECT_EQ(chain.steps[0].reads, (Arrays{0, 1}));
  EXPECT_EQ(chain.steps[0].writes, 4U);
  EXPECT_EQ(chain.steps[1].reads, (Arrays{4, 2}));
  EXPECT_EQ(chain.steps[1].writes, chain.output());
}

TEST(Chain, NumbersAreFoldedIntoOperationsAndAnArrayIsReadOnce) {
  const Chain chain = eager(parse("0.5*x*(2 - 1) + x^2"));
  ASSERT_EQ(chain.steps.size(), 4U);  // 0.5*x, *1, x^2, +
  for (const Step& step : chain.steps) EXPECT_LE(step.reads.size(), 2U);
  EXPECT_EQ(eager(parse("x*x")).steps.front().reads, (Arrays{0}));
}

TEST(Chain, EqualPartsAreComputedAgain) {
  EXPECT_EQ(eager(parse("sin(x)*sin(x)")).steps.size(), 3U);
}

TEST(Chain, FreedArraysAreHandedOutAgainTheLastFirst) {
  const Chain gelu = eager(parse(elementwise::kGeluUnfused));
  EXPECT_EQ(gelu.steps.size(), 9U);
  EXPECT_EQ(gelu.scratch, 2U);
  const Chain sincos = eager(parse(elementwise::kSincosUnfused));
  EXPECT_EQ(sincos.steps.size(), 5U);
  EXPECT_EQ(sincos.scratch, 3U);  // sin, its square, cos; the square of cos takes a third
}

TEST(Chain, AResultWithANameIsComputedOnceAndStays) {
  const Chain chain = eager(parse("t = a*b; y = t + c; z = t*t"));
  ASSERT_EQ(chain.steps.size(), 3U);
  EXPECT_EQ(chain.outputs, 2U);
  EXPECT_EQ(chain.scratch, 1U);
  EXPECT_EQ(chain.steps[1].writes, 3U);
  EXPECT_EQ(chain.steps[2].writes, 4U);
  EXPECT_EQ(chain.steps[2].reads, (Arrays{5}));
  // An output that is read again keeps its array.
  const Chain kept = eager(parse("t = a*b; y = t; z = t + 1"));
  EXPECT_EQ(kept.scratch, 0U);
  EXPECT_EQ(kept.steps[1].reads, (Arrays{2}));
}

TEST(Chain, KernelsKnowWhatIsOfRows) {
  const Chain chain = eager(parse("x - mean(x)"));
  ASSERT_EQ(chain.steps.size(), 2U);
  EXPECT_TRUE(chain.steps[0].writes_rows);
  EXPECT_TRUE(chain.steps[0].along_rows());
  EXPECT_EQ(chain.steps[1].read_rows, (std::vector<bool>{false, true}));
  EXPECT_TRUE(chain.steps[1].along_rows());
  EXPECT_FALSE(eager(parse("sqrt(sum(x))")).steps[1].along_rows());
}

TEST(Chain, TheSameResultTwiceIsRefused) {
  EXPECT_THROW(eager(parse("t = 2*a; y = t; z = t")), InputError);
  EXPECT_THROW(eager(parse("y = a; z = 2*a")), InputError);
}

TEST(Chain, WithoutAnOperationOrAnInputIsRefused) {
  EXPECT_THROW(eager(parse("x")), InputError);
  EXPECT_THROW(eager(parse("2*3")), InputError);
}

}  // namespace
}  // namespace roofcast::expression
