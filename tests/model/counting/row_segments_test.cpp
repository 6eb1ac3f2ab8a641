#include "model/counting/coalescing.hpp"

#include <gtest/gtest.h>

namespace roofcast {
namespace {

TEST(RowSegments, APieceOffASectorBoundaryTouchesOneMore) {
  // One row of 32 fp32 is 128 B. One more element is a piece, and a sector, of its own.
  EXPECT_EQ(sectors_along_rows({1, 32, 4}), 4);
  EXPECT_EQ(sectors_along_rows({1, 33, 4}), 4 + 1);
  // The second row begins at byte 132, 4 into a sector: 128 B in 5 sectors; its last element at
  // byte 132 + 128, again 4 into one.
  EXPECT_EQ(sectors_along_rows({2, 33, 4}), 5 + (5 + 1));
  // Eight rows of 132 B come round to a boundary: 5 + 7·6, and the ninth is as the first.
  EXPECT_EQ(sectors_along_rows({8, 33, 4}), 47);
  EXPECT_EQ(sectors_along_rows({9, 33, 4}), 47 + 5);
  EXPECT_EQ(sectors_along_rows({17, 33, 4}), 2 * 47 + 5);
}

TEST(RowSegments, NarrowPieces) {
  // 20 fp32 in pieces of 8, 32 B each, and one of 16 B. The second row begins at byte 80, 16 into
  // a sector: each piece lies in two, the last in one.
  EXPECT_EQ(sectors_along_rows({1, 20, 4}, 8), 3);
  EXPECT_EQ(sectors_along_rows({2, 20, 4}, 8), 3 + 5);
  // Nine pieces of 12 B from bytes 0, 12, 24, 4, 16, 28, 8, 20, 0 of a sector: the third and the
  // sixth cross into the next. One more element at byte 12 adds a sector.
  EXPECT_EQ(sectors_along_rows({1, 27, 4}, 3), 9 + 2);
  EXPECT_EQ(sectors_along_rows({1, 28, 4}, 3), 9 + 2 + 1);
  // 40 bf16: 64 B in two sectors and 16 B; the second row begins 16 B into one: 3 and 1.
  EXPECT_EQ(sectors_along_rows({1, 40, 2}), 3);
  EXPECT_EQ(sectors_along_rows({2, 40, 2}), 3 + 4);
}

// 33 bytes are one byte of a second sector.
TEST(RowSegments, OneByteOfASectorIsASector) {
  EXPECT_EQ(sectors_along_rows({1, 32, 1}, 64), 1);
  EXPECT_EQ(sectors_along_rows({1, 33, 1}, 64), 2);
}

TEST(RowSegments, PiecesFillTheirFirstAndLastSectorInPart) {
  // 128 B fill four sectors, the 33rd element 4 B of one.
  EXPECT_EQ(partial_sectors_along_rows({1, 32, 4}), 0);
  EXPECT_EQ(partial_sectors_along_rows({1, 33, 4}), 1);
  // The second row begins 4 B into a sector: 28 B of the first and 4 of the last; then one element.
  EXPECT_EQ(partial_sectors_along_rows({2, 33, 4}), 1 + 2 + 1);
  // Pieces of 32 B from 16 B into a sector fill two in part each; one of 16 B lies inside one.
  EXPECT_EQ(partial_sectors_along_rows({1, 20, 4}, 8), 1);
  EXPECT_EQ(partial_sectors_along_rows({2, 20, 4}, 8), 1 + 2 + 2 + 1);
}

TEST(RowSegments, DownLongRowsEachElementIsInASectorOfItsOwn) {
  EXPECT_EQ(sectors_down_columns({64, 8, 4}), 64 * 8);  // rows of 32 B
  EXPECT_EQ(sectors_down_columns({10, 1000, 2}), 10 * 1000);
}

TEST(RowSegments, DownShortRowsTheLanesOfAWarpShareSectors) {
  // Rows of 8 B: four to a sector.
  EXPECT_EQ(sectors_down_columns({64, 2, 4}), 64 * 2 / 4);
  // Rows of 12 B: 384 B are 12 sectors, and every step of 12 B meets each of them.
  EXPECT_EQ(sectors_down_columns({32, 3, 4}), 3 * 12);
  // Rows of 24 B (three fp64): of 96 B each column has four elements, in three sectors.
  EXPECT_EQ(sectors_down_columns({32, 3, 8}), 3 * 24);
}

}  // namespace
}  // namespace roofcast
