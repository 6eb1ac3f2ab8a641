#include "model/counting/io_complexity.hpp"

#include <gtest/gtest.h>

namespace roofcast {
namespace {

TEST(IoComplexity, MatrixProduct) {
  // S = 16384 words: 2·8192³/128 words of 4 B.
  const IoComplexity io = matrix_product_io(8192, 8192, 8192, 4, 1, 65536);
  EXPECT_DOUBLE_EQ(io.lower_bound_bytes, 2.0 * 8192 * 8192 * 8192 / 128 * 4);
  EXPECT_EQ(io.on_chip_bytes, 65536);
  EXPECT_DOUBLE_EQ(matrix_product_io(8, 8, 8, 4, 768, 1e9).lower_bound_bytes, 768);
  EXPECT_DOUBLE_EQ(matrix_product_io(8, 8, 8, 4, 768, 0).lower_bound_bytes, 768);
}

// 4096² scores, d = 64, words of 2 B: backward keeps and passes twice as many matrices as forward.
TEST(IoComplexity, AttentionWithoutScoresInMemory) {
  const double scores = 4096.0 * 4096, bytes = 65536, words = bytes / 2;
  EXPECT_DOUBLE_EQ(attention_io(scores, 64, 2, 1, bytes).lower_bound_bytes,
                   4 * scores * 64 * 64 / words * 2);
  EXPECT_DOUBLE_EQ(attention_io(scores, 64, 2, 1, bytes, kBackwardRows).lower_bound_bytes,
                   16 * scores * 64 * 64 / words * 2);
  EXPECT_EQ(attention_io(scores, 64, 2, 1, 0).lower_bound_bytes, 1);
}

// Where 4·N²d²/M words are as many as S and P take, 4·N²: at d = √M.
TEST(IoComplexity, HeadsTooWideForTheFastMemoryGainNothing) {
  const double scores = 4096.0 * 4096, bytes = 131072;
  EXPECT_DOUBLE_EQ(attention_io(scores, 256, 2, 0, bytes).lower_bound_bytes, 4 * scores * 2);
}

}  // namespace
}  // namespace roofcast
