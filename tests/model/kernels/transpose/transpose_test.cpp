#include "model/kernels/transpose/transpose.hpp"

#include <gtest/gtest.h>

#include "model/counting/coalescing.hpp"
#include "model/predict.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

Plan plan_of(const char* name, std::int64_t rows, std::int64_t columns, DType type) {
  const Problem problem{.dtype = type, .values = {rows, columns}};
  return find_kernel(name).kernel->plan(problem, testing::hopper_like()).front().plan;
}

// y has four rows of 33 fp32, 132 B apart: pieces of 128 B and of one element. The first row begins
// on a sector boundary, so only its last element fills a sector in part; the others begin 4, 8 and
// 12 B into one: two in part, and the last element. Two pieces share each.
TEST(Transpose, RowsOffSectorBoundariesAreWrittenInPart) {
  const AccessPattern odd = plan_of("transpose.padded", 33, 4, DType::fp32).arrays.back().pattern;
  EXPECT_EQ(odd.partial_writes, 1 + 3 * (2 + 1));
  EXPECT_EQ(odd.open_write_bytes, 5 * 32);
  EXPECT_EQ(odd.open_for_blocks, 1);  // the tile below is the next one
  const AccessPattern even =
      plan_of("transpose.padded", 1 << 10, 1 << 10, DType::fp32).arrays.back().pattern;
  EXPECT_EQ(even.partial_writes, 0);
  EXPECT_EQ(even.write_run_bytes, 0);  // blocks go down the rows of x
}

// A patch kernel's block reads 256 bytes of each of its rows of x.
TEST(Transpose, PatchesReadPiecesOfRows) {
  const auto density = [](std::int64_t columns) {
    return plan_of("transpose.padded", 1024, columns, DType::fp32)
        .arrays.front()
        .pattern.read_density;
  };
  EXPECT_DOUBLE_EQ(density(1024), density_of_pieces(256, 4096));
  EXPECT_DOUBLE_EQ(density(1028), density_of_pieces(256, 4112));
  EXPECT_EQ(density(1023), 1);  // element by element, along the rows
}

// Tiles of 32 × 32, stored element by element, run along the rows of x: the next run of a row of y
// is 32 tiles later.
TEST(Transpose, TilesWriteRowsPieceByPiece) {
  for (const char* name : {"transpose.naive", "transpose.padded"}) {
    const AccessPattern pattern = plan_of(name, 1023, 1023, DType::fp64).arrays.back().pattern;
    EXPECT_EQ(pattern.write_run_bytes, 32 * 8) << name;
    EXPECT_EQ(pattern.blocks_to_next_run, 32) << name;
    EXPECT_EQ(
        pattern.shared_run_ends,
        plan_of("transpose.padded", 1023, 1023, DType::fp64).arrays.back().pattern.partial_writes)
        << name;
  }
}

// Instructions of a warp of whole tiles, as an H200's counters gave them.
TEST(Transpose, InstructionsAreThoseCounted) {
  const auto of_warp = [](const char* name, std::int64_t extent, DType type) {
    return testing::first_step(plan_of(name, extent, extent, type)).warp_instructions / 8;
  };
  EXPECT_EQ(of_warp("transpose.naive", 1 << 10, DType::fp16), 94);
  EXPECT_EQ(of_warp("transpose.padded", 1 << 10, DType::fp64), 86);
  EXPECT_EQ(of_warp("transpose.padded", 1 << 10, DType::fp32), 117);
  EXPECT_EQ(of_warp("transpose.tiled", 1 << 10, DType::bf16), 171);
  EXPECT_NEAR(of_warp("transpose.tiled", (1 << 10) + 1, DType::bf16), 231, 0.11 * 231);
  EXPECT_NEAR(of_warp("transpose.swizzled", (1 << 10) + 1, DType::bf16), 258, 0.06 * 258);
}

}  // namespace
}  // namespace roofcast
