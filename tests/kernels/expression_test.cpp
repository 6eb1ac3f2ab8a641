// The code that elementwise.expr generates compiles for every architecture of interest; no GPU.
#include <gtest/gtest.h>

#include "kernels/catalog.hpp"
#include "kernels/expression/compile.hpp"
#include "kernels/expression/reference.hpp"
#include "kernels/expression/row_source.hpp"
#include "kernels/expression/source.hpp"
#include "kernels/families.hpp"
#include "model/expression/chain.hpp"
#include "model/kernels/expression/expression.hpp"

namespace roofcast::cuda::expr {
namespace {

Configuration configuration_of(const Problem& p, DType dtype) {
  return {dtype, static_cast<int>(p[1]), static_cast<int>(p[2]), static_cast<int>(p[3])};
}

TEST(ExpressionSource, Compiles) {
  if (!cannot_compile().empty()) GTEST_SKIP() << cannot_compile();
  for (const Problem& p : entries().front().configurations) {
    const expression::Expression e = roofcast::elementwise::expression_of(p);
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
      for (const char* architecture : {"sm_80", "sm_90"}) {
        EXPECT_FALSE(machine_code(source(e, configuration_of(p, dtype)), architecture).empty())
            << p.text.view() << " " << name(dtype) << " " << architecture;
      }
    }
  }
}

TEST(ExpressionSource, OfRowsCompiles) {
  if (!cannot_compile().empty()) GTEST_SKIP() << cannot_compile();
  for (const char* text :
       {"exp(x - amax(x))/sum(exp(x - amax(x)))", "t = x + r; w = 2*t; y = t*rsqrt(mean(t^2))*g",
        "m = mean(x); y = x - m; z = 2*m", "amin(x) < amax(y)"}) {
    for (const std::int64_t cols : {100, 4096, 4097}) {
      for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
        Problem p{.dtype = dtype, .values = {3 * cols, 256, 16, 2, 0, cols}, .text = Text(text)};
        const expression::Expression e = roofcast::elementwise::expression_of(p);
        const std::string code = row_source(
            e, configuration_of(p, dtype),
            {cols, roofcast::elementwise::row_threads(p), roofcast::elementwise::row_width(p),
             std::vector<bool>(e.inputs.size(), false)});
        EXPECT_FALSE(machine_code(code, "sm_90").empty()) << text;
      }
    }
  }
}

TEST(ExpressionSource, AnErrorShowsTheCompilersLog) {
  if (!cannot_compile().empty()) GTEST_SKIP() << cannot_compile();
  try {
    (void)machine_code("not a kernel", "sm_90");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("expression.cu(1)"), std::string::npos)
        << error.what();
  }
}

TEST(ExpressionEntry, SaysWhatItDoesNotTake) {
  const KernelEntry& fused = *find("elementwise.expr.fused");
  Problem p = fused.configurations.front();
  p[0] = 1000;
  EXPECT_EQ(fused.unsupported(p), cannot_compile());
  p.text = Text("x +");
  EXPECT_NE(fused.unsupported(p).find("column"), std::string::npos);
  p.text = Text("2*x");
  p[1] = 100;
  EXPECT_NE(fused.unsupported(p).find("multiple of 32"), std::string::npos);
}

TEST(ExpressionEntry, LaunchesOneKernelAnOperation) {
  const KernelEntry& unfused = *find("elementwise.expr.unfused");
  Problem p = unfused.configurations.front();
  p[0] = 1000;
  p.text = Text("sin(x)^2 + cos(x)^2");
  EXPECT_EQ(unfused.tensors(p).scratch.size(), 3U);
  EXPECT_EQ(expression::eager(roofcast::elementwise::expression_of(p)).steps.size(), 5U);
}

TEST(ExpressionEntry, AnOutputOfRowsHasAnElementARow) {
  const KernelEntry& fused = *find("elementwise.expr.fused");
  Problem p = fused.configurations.front();
  p[0] = 1024;
  p[5] = 64;
  p.text = Text("y = x - mean(x); s = sum(x)");
  const Tensors arrays = fused.tensors(p);
  ASSERT_EQ(arrays.outputs.size(), 2U);
  EXPECT_EQ(arrays.outputs[0].elements, 1024U);
  EXPECT_EQ(arrays.outputs[1].elements, 16U);
  EXPECT_EQ(fused.launches(p).front().grid.x, 16U);
}

TEST(ExpressionTolerance, GrowsWithRoundingAndNotWithoutReason) {
  const auto of = [](const char* text, DType dtype, bool rounds) {
    return tolerance(expression::parse(text), dtype, rounds);
  };
  EXPECT_LT(of("x*sigmoid(x)", DType::fp32, false), 2e-5);
  EXPECT_LT(of("x*sigmoid(x)", DType::bf16, true), 0.06);
  EXPECT_GT(of("x*sigmoid(x)", DType::bf16, true), of("x*sigmoid(x)", DType::bf16, false));
  // The first output is exact but for its rounding; a longer row rounds more often.
  const expression::Expression two = expression::parse("y = 2*x; z = exp(sin(x))");
  EXPECT_LT(tolerance(two, DType::fp32, false, 0), tolerance(two, DType::fp32, false, 1));
  const expression::Expression sum = expression::parse("sum(x*x)");
  EXPECT_LT(tolerance(sum, DType::fp32, false, 0, 100),
            tolerance(sum, DType::fp32, false, 0, 100000));
}

}  // namespace
}  // namespace roofcast::cuda::expr
