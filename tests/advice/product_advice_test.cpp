#include "advice/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "model/libraries/gemm.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast {
namespace {

using testing::gpu_named;

Problem product(const KernelRef& kernel, std::int64_t m, std::int64_t n, std::int64_t k,
                DType type = DType::bf16) {
  Problem problem;
  problem.dtype = type;
  problem.values = {m, n, k};
  check(kernel, problem, 0b111);
  return problem;
}

struct Shape {
  std::int64_t m, n, k;
};

ShapeAdvice advise(const Shape& shape, const AdviceOptions& options = {},
                   std::string_view gpu = "h200-sxm") {
  const KernelRef library = find_kernel("gemm.library");
  return advise_shapes({library, product(library, shape.m, shape.n, shape.k), gpu_named(gpu)},
                       options);
}

std::vector<AdvisedShape> of_kind(const ShapeAdvice& advised, AdviceKind kind) {
  std::vector<AdvisedShape> found;
  std::copy_if(advised.shapes.begin(), advised.shapes.end(), std::back_inserter(found),
               [kind](const AdvisedShape& one) { return one.kind == kind; });
  return found;
}

std::int64_t extent(const AdvisedShape& one, std::size_t i) {
  return one.prediction.problem[i];
}

constexpr std::array kShapes = {Shape{4096, 50257, 768}, Shape{1793, 1793, 1793},
                                Shape{17, 11008, 4096},  Shape{2300, 2300, 2304},
                                Shape{1, 33, 65},        Shape{8192, 8192, 8192}};

TEST(ProductAdvice, NamesWhatThePaddingOfAVocabularyBuys) {
  const ShapeAdvice advised = advise({4096, 50257, 768}, {}, "h100-sxm5");
  const auto faster = of_kind(advised, AdviceKind::faster);
  ASSERT_FALSE(faster.empty());
  EXPECT_EQ(extent(faster.front(), gemm::kN) % 8, 0);
  EXPECT_GE(extent(faster.front(), gemm::kN), 50264);
  EXPECT_LE(extent(faster.front(), gemm::kN), 50304);
  EXPECT_LT(faster.front().time_change, -0.3);
  EXPECT_EQ(faster.front().product->weight_bytes,
            2.0 * 768 * static_cast<double>(extent(faster.front(), gemm::kN) - 50257));
  EXPECT_NE(faster.front().why.find("rows aligned to 16 B"), std::string::npos);
}

TEST(ProductAdvice, NamesTheWaveThatASmallerShapeSaves) {
  // Tiles of 128x128: 196 of 1792 rows and columns fit 108 SMs at once, two each, 225 of 1800 do
  // not.
  const ShapeAdvice advised = advise({1800, 1800, 1792}, {}, "a100-sxm4-80gb");
  const auto smaller = of_kind(advised, AdviceKind::smaller);
  ASSERT_FALSE(smaller.empty());
  EXPECT_LE(smaller.front().prediction.waves->count, 1);
  EXPECT_GT(advised.asked.prediction.waves->count, 1);
  EXPECT_EQ(smaller.front().why.find("1 wave of tiles 128x256, not "), 0U) << smaller.front().why;
}

TEST(ProductAdvice, EveryShapeIsForecastAsItSays) {
  const KernelRef library = find_kernel("gemm.library");
  for (const char* gpu : {"h200-sxm", "a100-sxm4-80gb", "b200"}) {
    for (const Shape& shape : kShapes) {
      const ShapeAdvice advised = advise(shape, {}, gpu);
      const Problem asked = product(library, shape.m, shape.n, shape.k);
      for (const AdvisedShape& one : advised.shapes) {
        const Problem near = product(library, extent(one, 0), extent(one, 1), extent(one, 2));
        const Prediction again = predict(library, near, gpu_named(gpu));
        EXPECT_EQ(again.time->expected_s, one.time_s());
        EXPECT_EQ(one.time_change, again.time->expected_s / advised.asked.time_s() - 1);
        EXPECT_FALSE(one.why.empty());
        const bool up = one.kind != AdviceKind::smaller;
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_TRUE(up ? near[i] >= asked[i] : near[i] <= asked[i]);
          const auto change = static_cast<double>(std::abs(near[i] - asked[i]));
          EXPECT_TRUE(change <= 0.05 * static_cast<double>(asked[i]) || change < 8) << near[i];
        }
        if (one.kind != AdviceKind::room) {
          EXPECT_LE(one.time_change, -kWorthNaming);
        }
        if (one.kind == AdviceKind::smaller) {
          EXPECT_GT(one.rate_change, kWorthNaming);
          EXPECT_LE(one.product->weight_bytes, 0);
        }
      }
    }
  }
}

TEST(ProductAdvice, RoomCostsNothing) {
  for (const Shape& shape : kShapes) {
    const ShapeAdvice advised = advise(shape);
    const auto faster = of_kind(advised, AdviceKind::faster);
    const double base_s = faster.empty() ? advised.asked.time_s() : faster.front().time_s();
    for (const AdvisedShape& one : of_kind(advised, AdviceKind::room)) {
      EXPECT_LE(one.time_s(), base_s * (1 + kFreeTime));
    }
  }
  // 50 rows and 56 take the same tiles.
  const auto rows = of_kind(advise({50, 4096, 4096}, {.within = 0.2}), AdviceKind::room);
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(extent(rows.front(), gemm::kM), 56);
}

TEST(ProductAdvice, MissesNothingThatASearchOfEveryShapeFinds) {
  const KernelRef library = find_kernel("gemm.library");
  const Gpu& gpu = gpu_named("h200-sxm");
  for (const Shape& shape : {Shape{300, 515, 250}, Shape{130, 1025, 96}, Shape{520, 264, 333}}) {
    const AdviceOptions options;
    const auto most = [&](std::int64_t asked) {
      return static_cast<std::int64_t>(static_cast<double>(asked) * (1 + options.within));
    };
    const ShapeAdvice advised = advise(shape, options);
    double least_s = advised.asked.time_s();
    for (std::int64_t m = shape.m; m <= most(shape.m); ++m) {
      for (std::int64_t n = shape.n; n <= most(shape.n); ++n) {
        for (std::int64_t k = shape.k; k <= most(shape.k); ++k) {
          const Prediction one = predict(library, product(library, m, n, k), gpu);
          least_s = std::min(least_s, one.time->expected_s);
        }
      }
    }
    const auto faster = of_kind(advised, AdviceKind::faster);
    const double named_s = faster.empty() ? advised.asked.time_s() : faster.front().time_s();
    EXPECT_LE(named_s * (1 - kWorthNaming), least_s) << shape.m << " " << shape.n << " " << shape.k;
  }
}

TEST(ProductAdvice, WellChosenShapesNeedNone) {
  for (const AdviceKind kind : {AdviceKind::faster, AdviceKind::smaller}) {
    EXPECT_TRUE(of_kind(advise({4096, 4096, 4096}), kind).empty()) << name(kind);
  }
}

TEST(ProductAdvice, ChangesOnlyWhatMayChange) {
  AdviceOptions options;
  options.varied = {{gemm::kN}};
  options.smaller = false;
  const ShapeAdvice advised = advise({1793, 1793, 1792}, options);
  ASSERT_FALSE(advised.shapes.empty());
  for (const AdvisedShape& one : advised.shapes) {
    EXPECT_EQ(extent(one, gemm::kM), 1793);
    EXPECT_GT(extent(one, gemm::kN), 1793);
    EXPECT_EQ(extent(one, gemm::kK), 1792);
    EXPECT_NE(one.kind, AdviceKind::smaller);
  }
  options.varied = std::vector<std::size_t>{};
  EXPECT_TRUE(advise({1793, 1793, 1793}, options).shapes.empty());
}

TEST(ProductAdvice, CountsTheBlocksThatMultiply) {
  const KernelRef library = find_kernel("gemm.library");
  const auto asked = [&](std::int64_t quantize) {
    Problem problem = product(library, 4096, 4096, 4096, DType::fp8);
    problem[gemm::kQuantize] = quantize;
    problem[gemm::kTileM] = 128;
    problem[gemm::kTileN] = 256;
    return advise_shapes({library, problem, gpu_named("h200-sxm")}, {}).asked;
  };
  const AdvisedShape alone = asked(gemm::kNothing), converted = asked(gemm::kActivations);
  EXPECT_EQ(alone.prediction.launch->blocks(), 32 * 16);
  EXPECT_EQ(converted.prediction.launch->blocks(), alone.prediction.launch->blocks());
  EXPECT_EQ(converted.prediction.waves->count, alone.prediction.waves->count);
  EXPECT_GT(converted.time_s(), alone.time_s());
}

TEST(ProductAdvice, KeepsTheTileThatIsAskedFor) {
  const KernelRef library = find_kernel("gemm.library");
  Problem problem = product(library, 1800, 1800, 1792);
  problem[gemm::kTileM] = 128;
  problem[gemm::kTileN] = 256;
  const ShapeAdvice advised = advise_shapes({library, problem, gpu_named("a100-sxm4-80gb")}, {});
  ASSERT_FALSE(advised.shapes.empty());
  for (const AdvisedShape& one : advised.shapes) {
    EXPECT_EQ(extent(one, gemm::kTileM), 128);
    EXPECT_EQ(extent(one, gemm::kTileN), 256);
  }
}

TEST(ProductAdvice, AnyKernelOfTheFamilyIsAsked) {
  for (const KernelModel& kernel : find_kernel("gemm").family->variants) {
    const KernelRef found = find_kernel(kernel.name);
    const std::int64_t rows = kernel.name == "gemm.skinny" ? 16 : 1000;
    const Problem problem = product(found, rows, 1000, 1000, found.dtypes().back());
    EXPECT_NO_THROW((void)advise_shapes({found, problem, gpu_named("h200-sxm")}, {}))
        << kernel.name;
  }
}

TEST(ProductAdvice, RefusesWhatHasNoAnswer) {
  const auto asked = [](std::string_view kernel, std::string_view gpu) {
    const KernelRef found = find_kernel(kernel);
    Problem problem;
    problem.dtype = found.dtypes().front();
    problem.values = {1000, 1000, 1000};
    check(found, problem, 0b111);
    return advise_shapes({found, problem, gpu_named(gpu)}, {});
  };
  EXPECT_THROW((void)asked("gemm.library", "k80"), InputError);
  EXPECT_THROW((void)asked("gemm.library", "tpu-v5e"), InputError);
  EXPECT_THROW((void)asked("gemm", "h200-sxm"), InputError);
}

}  // namespace
}  // namespace roofcast
