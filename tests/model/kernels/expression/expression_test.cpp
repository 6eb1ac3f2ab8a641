// What one element of an expression costs: the generated code (kernels/expression/source.cpp),
// counted by hand. A multiply-add is 2 FLOP and one instruction.
#include "model/kernels/expression/expression.hpp"

#include <gtest/gtest.h>

#include <ostream>

#include "model/expression/expression.hpp"

namespace roofcast::elementwise {
namespace {

struct Cost {
  const char* text;
  double flops, special, conversions, instructions;
};

void PrintTo(const Cost& cost, std::ostream* out) {
  *out << cost.text;
}

void expect(const Cost& cost, DType type) {
  const map::Operation found = operation_of(expression::parse(cost.text), type);
  EXPECT_EQ(found.flops, cost.flops) << cost.text;
  EXPECT_EQ(found.special, cost.special) << cost.text;
  EXPECT_EQ(found.conversions, cost.conversions) << cost.text;
  EXPECT_EQ(found.instructions, cost.instructions) << cost.text;
}

class OfEveryType : public ::testing::TestWithParam<Cost> {};

TEST_P(OfEveryType, Costs) {
  for (const DType type : {DType::fp32, DType::fp16, DType::bf16}) expect(GetParam(), type);
}

INSTANTIATE_TEST_SUITE_P(
    ExpressionCost, OfEveryType,
    ::testing::Values(Cost{"-x", 0, 0, 0, 1}, Cost{"x + y", 1, 0, 0, 1}, Cost{"x - y", 1, 0, 0, 1},
                      Cost{"x*y", 1, 0, 0, 1},
                      // No FLOP by the counters.
                      Cost{"relu(x)", 0, 0, 0, 1}, Cost{"abs(x)", 0, 0, 0, 1},
                      Cost{"min(x, y)", 0, 0, 0, 1}, Cost{"max(x, y)", 0, 0, 0, 1},
                      Cost{"rsqrt(x)", 0, 1, 0, 1},
                      // -log2(e)·x, ex2, 1 +, rcp.
                      Cost{"sigmoid(x)", 2, 2, 0, 4},
                      // 2·log2(e)·x, ex2, 1 +, rcp, 1 - 2·that.
                      Cost{"tanh(x)", 4, 2, 0, 5},
                      // A sum takes in one product; one that is used again stays.
                      Cost{"a*b + c", 2, 0, 0, 1}, Cost{"a*b + c*d", 3, 0, 0, 2},
                      Cost{"a*b - c", 2, 0, 0, 1}, Cost{"relu(x*y) + x*y", 2, 0, 0, 3},
                      // By products; by rsqrt.
                      Cost{"x^2", 1, 0, 0, 1}, Cost{"x^3", 2, 0, 0, 2},
                      Cost{"x^-0.5", 0, 1, 0, 1}));

class OfSixteenBits : public ::testing::TestWithParam<Cost> {};

TEST_P(OfSixteenBits, Costs) {
  for (const DType type : {DType::fp16, DType::bf16}) expect(GetParam(), type);
}

INSTANTIATE_TEST_SUITE_P(
    ExpressionCost, OfSixteenBits,
    ::testing::Values(
        // x · rcp y; ex2(log2(e)·x); ln(2)·lg2 x.
        Cost{"x/y", 1, 1, 0, 2}, Cost{"exp(x)", 1, 1, 0, 2}, Cost{"log(x)", 1, 1, 0, 2},
        Cost{"sqrt(x)", 0, 1, 0, 1}, Cost{"x^0.5", 0, 1, 0, 1}, Cost{"x^-1", 1, 1, 0, 2},
        Cost{"x^-2", 2, 1, 0, 3},
        // Whole turns by a multiply-add and a difference, taken off by two; the unit takes x ÷ 2π.
        // The counters of the H100's run say 11 for sin(x)^2 + cos(x)^2, which shares all but the
        // unit: 8 and 3.
        Cost{"sin(x)", 8, 1, 0, 6}, Cost{"cos(x)", 8, 1, 0, 6}));

class OfThirtyTwoBits : public ::testing::TestWithParam<Cost> {};

TEST_P(OfThirtyTwoBits, Costs) {
  expect(GetParam(), DType::fp32);
}

INSTANTIATE_TEST_SUITE_P(
    ExpressionCost, OfThirtyTwoBits,
    ::testing::Values(
        // rcp; 1 - y·r, r += e·r (4); q = x·r (1); x - y·q, q += that·r (4); x - y·q once more (2);
        // the test for operands out of range, 2 more instructions and a branch.
        Cost{"x/y", 11, 1, 0, 10},
        // Four multiply-adds, a difference, a product; saturation, negation and shift.
        Cost{"exp(x)", 10, 1, 0, 10},
        // rsqrt; s = x·r, h = r/2 (2); x - s·s, s += that·h (4); range test.
        Cost{"sqrt(x)", 6, 1, 0, 8}, Cost{"x^0.5", 6, 1, 0, 8}, Cost{"x^-1", 11, 1, 0, 10},
        Cost{"x^-2", 12, 1, 0, 11},
        // Scaling of small numbers, eleven multiply-adds, a difference and a product.
        Cost{"log(x)", 25, 0, 1, 25}));

}  // namespace
}  // namespace roofcast::elementwise
