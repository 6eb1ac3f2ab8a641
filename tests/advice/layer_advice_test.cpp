#include "advice/advice.hpp"

#include <gtest/gtest.h>

#include "tests/model/scan/questions.hpp"

namespace roofcast {
namespace {

using testing::gpu_named;

TEST(LayerAdvice, AVocabularyOfOddLengthIsPaddedFirst) {
  const LayerAdvice advice =
      advise_layer({8192, 768, 50257}, DType::bf16, gpu_named("h100-sxm5"), {});
  ASSERT_FALSE(advice.padded.empty());
  const LayerForecast& best = advice.padded.front();
  EXPECT_EQ(best.layer.out % 8, 0);
  EXPECT_GT(best.layer.out, 50257);
  EXPECT_EQ(best.layer.tokens, 8192);
  EXPECT_LT(best.time_s(), 0.3 * advice.asked.time_s());
}

TEST(LayerAdvice, EachProductHasTheOperandsOfTheLayer) {
  const LayerAdvice advice =
      advise_layer({512, 1024, 2048}, DType::bf16, gpu_named("h100-sxm5"), {});
  const auto extents = [&](std::size_t product) {
    const Problem& p = advice.asked.products[product].problem;
    return std::array{p[0], p[1], p[2]};
  };
  EXPECT_EQ(extents(0), (std::array<std::int64_t, 3>{512, 2048, 1024}));
  EXPECT_EQ(extents(1), (std::array<std::int64_t, 3>{512, 1024, 2048}));
  EXPECT_EQ(extents(2), (std::array<std::int64_t, 3>{2048, 1024, 512}));
}

TEST(LayerAdvice, AlignedLayersAreLeftAlone) {
  const LayerAdvice advice =
      advise_layer({8192, 4096, 4096}, DType::bf16, gpu_named("h100-sxm5"), {});
  EXPECT_TRUE(advice.padded.empty());
}

}  // namespace
}  // namespace roofcast
