#include "validation/sass/main_way.hpp"

#include <gtest/gtest.h>

#include "tests/validation/sass/listings.hpp"

namespace roofcast::sass {
namespace {

std::int64_t main_way(const std::vector<std::string>& lines) {
  const auto code = testing::code_of(lines);
  return main_way_instructions(code, loops_of(code));
}

TEST(SassMainWay, IsAllOfStraightCode) {
  EXPECT_EQ(main_way({"MOV R1, R2", "FADD R1, R1, R2", "EXIT"}), 3);
  EXPECT_EQ(main_way({}), 0);
}

// An early end, and a branch around an edge of single elements: 0x00 to 0x40, then 0x70.
TEST(SassMainWay, MovesWholeVectorsAndGoesPastTheirEdges) {
  EXPECT_EQ(main_way({"MOV R1, R2", "@P0 EXIT", "LDG.E.128 R4, desc[UR4][R2.64]",
                      "STG.E.128 desc[UR4][R2.64], R4", "@P1 BRA 0x70",
                      "LDG.E R4, desc[UR4][R2.64]", "STG.E desc[UR4][R2.64], R4", "EXIT"}),
            6);
}

// The loop at 0x10 is counted apart, and a longer way without a wide access is none.
TEST(SassMainWay, LeavesLoopsOut) {
  EXPECT_EQ(main_way({"MOV R1, R2", "LDG.E.128 R4, desc[UR4][R2.64]", "@P0 BRA 0x10",
                      "@P1 BRA 0x60", "STG.E.128 desc[UR4][R2.64], R4", "EXIT", "EXIT"}),
            4);
}

// Of two ways with equally many accesses, the shorter.
TEST(SassMainWay, IsShort) {
  EXPECT_EQ(main_way({"@P0 BRA 0x30", "FADD R1, R1, R2", "FADD R1, R1, R2",
                      "STG.E desc[UR4][R2.64], R4", "EXIT"}),
            3);
}

}  // namespace
}  // namespace roofcast::sass
