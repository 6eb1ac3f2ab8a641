// What one element of an expression costs: the generated code (kernels/expression/source.cpp),
// counted by hand. A multiply-add is 2 FLOP and one instruction.
#include "model/kernels/expression/expression.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "model/counting/totals.hpp"
#include "model/expression/expression.hpp"

namespace roofcast::elementwise {
namespace {

struct Expected {
  const char* text;
  double flops, special, conversions, instructions;
};

void PrintTo(const Expected& cost, std::ostream* out) {
  *out << cost.text;
}

void expect(const Expected& cost, DType type) {
  const map::Cost found = operation_of(expression::fold(expression::parse(cost.text)), type).cost;
  EXPECT_EQ(found.flops, cost.flops) << cost.text;
  EXPECT_EQ(found.special, cost.special) << cost.text;
  EXPECT_EQ(found.conversions, cost.conversions) << cost.text;
  EXPECT_EQ(found.instructions, cost.instructions) << cost.text;
}

class OfEveryType : public ::testing::TestWithParam<Expected> {};

TEST_P(OfEveryType, Costs) {
  for (const DType type : {DType::fp32, DType::fp16, DType::bf16}) expect(GetParam(), type);
}

INSTANTIATE_TEST_SUITE_P(
    ExpressionCost, OfEveryType,
    ::testing::Values(Expected{"-x", 0, 0, 0, 1}, Expected{"x + y", 1, 0, 0, 1},
                      Expected{"x - y", 1, 0, 0, 1}, Expected{"x*y", 1, 0, 0, 1},
                      // The hardware counters count no FLOP for these.
                      Expected{"relu(x)", 0, 0, 0, 1}, Expected{"abs(x)", 0, 0, 0, 1},
                      Expected{"min(x, y)", 0, 0, 0, 1}, Expected{"max(x, y)", 0, 0, 0, 1},
                      Expected{"rsqrt(x)", 0, 1, 0, 1},
                      // A predicate, and a selection of 1.0 or 0.0.
                      Expected{"x < y", 0, 0, 0, 2}, Expected{"x != y", 0, 0, 0, 2},
                      // The sigmoid and a product.
                      Expected{"silu(x)", 3, 2, 0, 5},
                      // -log2(e)·x, ex2, 1 +, rcp.
                      Expected{"sigmoid(x)", 2, 2, 0, 4},
                      // 2·log2(e)·x, ex2, 1 +, rcp, 1 - 2·that.
                      Expected{"tanh(x)", 4, 2, 0, 5},
                      // Sums and products count one each.
                      Expected{"a*b + c", 2, 0, 0, 2}, Expected{"a*b + c*d", 3, 0, 0, 3},
                      Expected{"a*b - c", 2, 0, 0, 2}, Expected{"relu(x*y) + x*y", 2, 0, 0, 3},
                      // Powers by products; x^-0.5 by rsqrt.
                      Expected{"x^2", 1, 0, 0, 1}, Expected{"x^3", 2, 0, 0, 2},
                      Expected{"x^-0.5", 0, 1, 0, 1}));

class OfSixteenBits : public ::testing::TestWithParam<Expected> {};

TEST_P(OfSixteenBits, Costs) {
  for (const DType type : {DType::fp16, DType::bf16}) expect(GetParam(), type);
}

INSTANTIATE_TEST_SUITE_P(
    ExpressionCost, OfSixteenBits,
    ::testing::Values(
        // x · rcp y; ex2(log2(e)·x); ln(2)·lg2 x.
        Expected{"x/y", 1, 1, 0, 2}, Expected{"exp(x)", 1, 1, 0, 2}, Expected{"log(x)", 1, 1, 0, 2},
        Expected{"sqrt(x)", 0, 1, 0, 1}, Expected{"x^0.5", 0, 1, 0, 1},
        Expected{"x^-1", 1, 1, 0, 2}, Expected{"x^-2", 2, 1, 0, 3},
        // Whole turns by a multiply-add and a difference, subtracted by two multiply-adds; the unit
        // takes x ÷ 2π. The counters of the H100's run say 11 for sin(x)^2 + cos(x)^2, which shares
        // all but the unit: 8 and 3.
        Expected{"sin(x)", 8, 1, 0, 6}, Expected{"cos(x)", 8, 1, 0, 6},
        // 1 + p|x| (2), rcp, four multiply-adds (8), · t, x·x, · log2 e, ex2, 1 - that (2), the
        // sign.
        Expected{"erf(x)", 15, 2, 0, 12}));

class OfThirtyTwoBits : public ::testing::TestWithParam<Expected> {};

TEST_P(OfThirtyTwoBits, Costs) {
  expect(GetParam(), DType::fp32);
}

INSTANTIATE_TEST_SUITE_P(
    ExpressionCost, OfThirtyTwoBits,
    ::testing::Values(
        // rcp; 1 - y·r, r += e·r (4); q = x·r (1); x - y·q, q += that·r (4); x - y·q once more (2);
        // the test for operands out of range, 2 more instructions and a branch.
        Expected{"x/y", 11, 1, 0, 10},
        // Four multiply-adds, a difference, a product; saturation, negation and shift.
        Expected{"exp(x)", 10, 1, 0, 10},
        // rsqrt; s = x·r, h = r/2 (2); x - s·s, s += that·h (4); range test.
        Expected{"sqrt(x)", 6, 1, 0, 8}, Expected{"x^0.5", 6, 1, 0, 8},
        Expected{"x^-1", 11, 1, 0, 10}, Expected{"x^-2", 12, 1, 0, 11},
        // Scaling of small numbers, eleven multiply-adds, a difference and a product.
        Expected{"log(x)", 25, 0, 1, 25},
        // A square or |x|, seven multiply-adds and ex2, 1 - that; nine choices between the two
        // ranges, tests, signs and a branch.
        Expected{"erf(x)", 16, 1, 0, 25}));

Problem rows_of(const char* text, std::int64_t n, std::int64_t cols) {
  Problem p;
  p.values = {n, 256, 16, 1, 0, cols};
  p.text = Text(text);
  return p;
}

TEST(ExpressionOutputs, EachIsWritten) {
  const map::Operation two =
      operation_of(expression::parse("t = a*b; y = t + 1; z = t - 1"), DType::fp32);
  EXPECT_EQ(two.writes, 2);
  EXPECT_EQ(two.cost.instructions, 3);  // the product is used twice: no multiply-add
  Problem p = rows_of("y = a*b; z = a + b", 1000, 0);
  const Plan plan = kExpr.variants[1].plan(p, {}).front().plan;
  EXPECT_EQ(plan.arrays.size(), 4U);
  EXPECT_EQ(total_work(plan).compulsory.write_bytes, 8000);
  p.text = Text("a=x+1; b=x+2; c=x+3; d=x+4; e=x+5");
  EXPECT_THROW(expression_of(p), InputError);
}

// Softmax: the maximum, the sum and the quotient each sweep over the row.
TEST(ExpressionRows, SweepOnceForEachLevel) {
  const auto shared =
      expression::share(expression::parse("exp(x - amax(x))/sum(exp(x - amax(x)))"));
  const std::vector<Sweep> sweeps = sweeps_of(shared, {false});
  ASSERT_EQ(sweeps.size(), 3U);
  EXPECT_EQ(sweeps[0].reduces.size(), 1U);
  EXPECT_TRUE(sweeps[0].writes.empty());
  EXPECT_EQ(sweeps[2].writes.size(), 1U);
  // An output that needs no reduction is written in the first sweep.
  const auto beside = expression::share(expression::parse("y = x + 1; z = sum(x)"));
  EXPECT_EQ(sweeps_of(beside, {false}).size(), 1U);
}

TEST(ExpressionRows, BytesAreThoseOfTheSweeps) {
  const Problem p = rows_of("exp(x - amax(x))/sum(exp(x - amax(x)))", 1 << 20, 1024);
  const Plan plan = kExpr.variants[1].plan(p, {}).front().plan;
  EXPECT_EQ(plan.launch.grid[0], 1024);
  EXPECT_EQ(plan.launch.block[0], 256);
  const Work work = total_work(plan);
  const double bytes = 4.0 * (1 << 20);
  EXPECT_DOUBLE_EQ(work.requested.read_bytes, 3 * bytes);
  EXPECT_DOUBLE_EQ(work.requested.write_bytes, bytes);
  EXPECT_DOUBLE_EQ(work.compulsory.total_bytes(), 2 * bytes);
  EXPECT_DOUBLE_EQ(plan.reuse.front().bytes, 2 * bytes);
  // A difference, an exponential, a sum and a quotient: 1 + 10 + 1 + 11.
  EXPECT_DOUBLE_EQ(work.vector_flops, 23.0 * (1 << 20));
}

TEST(ExpressionRows, ShortRowsTakeFewerThreadsAndRaggedOnesSingleElements) {
  EXPECT_EQ(row_threads(rows_of("sum(x)", 6400, 64)), 32);
  EXPECT_EQ(row_width(rows_of("sum(x)", 6400, 64)), 4);
  EXPECT_EQ(row_width(rows_of("sum(x)", 6500, 65)), 1);
  EXPECT_EQ(row_threads(rows_of("sum(x)", 6500, 65)), 96);
}

TEST(ExpressionRows, AValueOfARowIsWrittenOnceARow) {
  const Plan plan = kExpr.variants[1].plan(rows_of("sum(x)", 1 << 20, 1024), {}).front().plan;
  EXPECT_DOUBLE_EQ(total_work(plan).compulsory.write_bytes, 4.0 * 1024);
  const LaunchSequence chain =
      kExpr.variants[0].plan(rows_of("x*rsqrt(mean(x*x))", 1 << 20, 1024), {});
  ASSERT_EQ(chain.size(), 4U);
  EXPECT_DOUBLE_EQ(total_work(chain[2].plan).compulsory.total_bytes(), 2 * 4.0 * 1024);
  EXPECT_DOUBLE_EQ(total_work(chain[3].plan).compulsory.read_bytes, 4.0 * ((1 << 20) + 1024));
}

TEST(ExpressionRows, SayWhatIsMissing) {
  EXPECT_THROW(expression_of(rows_of("sum(x)", 1000, 0)), InputError);
  EXPECT_THROW(expression_of(rows_of("sum(x)", 1000, 64)), InputError);
  EXPECT_NO_THROW(expression_of(rows_of("2*x", 1000, 64)));
}

}  // namespace
}  // namespace roofcast::elementwise
