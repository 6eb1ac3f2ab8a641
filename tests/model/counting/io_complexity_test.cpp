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

TEST(IoComplexity, StreamingMovesWhatItMust) {
  EXPECT_EQ(streaming_io(1000, 64).lower_bound_bytes, 1000);
  EXPECT_EQ(streaming_io(1000, 64).on_chip_bytes, 64);
}

}  // namespace
}  // namespace roofcast
