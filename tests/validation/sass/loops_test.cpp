#include "validation/sass/loops.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/validation/sass/listings.hpp"
#include "validation/sass/flow.hpp"

namespace roofcast::sass {
namespace {

using testing::code_of;
using ::testing::ElementsAre;
using testing::report;

TEST(SassLoops, ABranchBackIsALoop) {
  // 0x00 … 0x30, the head at 0x10
  const auto loops =
      loops_of(code_of({"MOV R1, R2", "IADD3 R1, R1, 1, RZ", "@P0 BRA 0x10", "EXIT"}));
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].first, 0x10U);
  EXPECT_EQ(loops[0].last, 0x20U);
  EXPECT_THAT(loops[0].own, ElementsAre(1, 2));
  EXPECT_FALSE(loops[0].parent);
}

TEST(SassLoops, NestedLoopsKeepTheirOwnInstructions) {
  const auto loops = loops_of(code_of({"MOV R1, R2", "FADD R1, R1, R2", "FMUL R1, R1, R2",
                                       "@P0 BRA 0x20", "FADD R2, R2, R1", "BRA P1, 0x10", "EXIT"}));
  ASSERT_EQ(loops.size(), 2U);
  EXPECT_THAT(loops[0].own, ElementsAre(1, 4, 5));
  EXPECT_THAT(loops[1].own, ElementsAre(2, 3));
  EXPECT_EQ(loops[1].parent, 0U);
  EXPECT_EQ(loops[1].depth, 2U);
}

// The wait for a barrier stands behind the kernel's end and branches back into it: no loop.
TEST(SassLoops, CodeFarOffThatComesBackIsNoLoop) {
  const auto loops = loops_of(code_of(
      {"MOV R1, R2", "@!P0 BRA 0x40", "FADD R1, R1, R2", "EXIT", "MOV R3, R4", "BRA 0x20"}));
  EXPECT_TRUE(loops.empty());
  const auto around = loops_of(code_of({"MOV R1, R2", "@!P0 BRA 0x50", "FADD R1, R1, R2",
                                        "@P1 BRA 0x10", "EXIT", "MOV R3, R4", "BRA 0x20"}));
  ASSERT_EQ(around.size(), 1U);
  EXPECT_THAT(around[0].own, ElementsAre(1, 2, 3, 5, 6));
}

TEST(SassLoops, WaitsAndElectionsAreNone) {
  EXPECT_TRUE(loops_of(code_of({"MOV R1, R2", "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3",
                                "@!P0 BRA 0x10", "EXIT"}))
                  .empty());
  EXPECT_TRUE(
      loops_of(code_of({"MOV R1, R2", "ELECT P0, URZ, PT", "@P2 BRA.U.ANY 0x10", "EXIT"})).empty());
}

TEST(SassLoops, ThreadsMeetWhereTheBarrierSays) {
  // BSYNC at 0x40 goes on at 0x50, where BSSY says: the branch at 0x60 goes back to 0x10.
  const auto loops =
      loops_of(code_of({"MOV R1, R2", "BSSY B0, 0x50", "@P0 BRA 0x40", "FADD R1, R1, R2",
                        "BSYNC B0", "MOV R2, R3", "@P1 BRA 0x10", "EXIT"}));
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_THAT(loops[0].own, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(SassLoops, ATableOfBranchesStaysInItsLoop) {
  const KernelReport table = report("spills", "table");
  ASSERT_EQ(table.loops.size(), 1U);
  EXPECT_EQ(table.loops[0].own.instructions + table.outside.instructions, table.whole.instructions);
  EXPECT_EQ(table.loops[0].own.accesses.at("STG.32"), 1);
  EXPECT_EQ(table.outside.accesses.count("LDG.32"), 0U);
}

TEST(SassLoops, StoredKernelsHaveTheLoopsOfTheirSource) {
  for (const char* file : {"ampere", "hopper"}) {
    const KernelReport tiled = report(file, "void sample::tiled<float>");
    ASSERT_EQ(tiled.loops.size(), 2U) << file;
    EXPECT_EQ(tiled.loops[1].parent, 0U);
    EXPECT_EQ(tiled.loops[0].own.block_barriers, 2);
    EXPECT_EQ(tiled.loops[1].own.flops[DType::fp32], 4);  // unrolled by 2
  }
  // Unrolled by 4, and the rest; waits for barriers stand behind the end.
  const KernelReport fifth = report("blackwell", "fifth");
  ASSERT_EQ(fifth.loops.size(), 2U);
  EXPECT_EQ(fifth.loops[0].own[Pipe::tensor], 4);
  EXPECT_EQ(fifth.loops[1].own[Pipe::tensor], 1);
  EXPECT_EQ(fifth.loops[0].own.accesses.at("UTMALDG"), 4);
}

TEST(SassFlow, NoCodeHasNoBlocks) {
  EXPECT_TRUE(blocks_of({}).empty());
  EXPECT_TRUE(loops_of({}).empty());
}

}  // namespace
}  // namespace roofcast::sass
