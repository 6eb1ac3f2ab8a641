#include "cli/output/units.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "cli/output/text_table.hpp"

namespace roofcast::cli {
namespace {

TEST(Units, PrefixKeepsTheNumberBetweenOneAndAThousand) {
  EXPECT_EQ(with_prefix(137438953472.0, "FLOP"), "137.4 GFLOP");
  EXPECT_EQ(with_prefix(0, "B"), "0 B");
  EXPECT_EQ(with_prefix(2.05e-3, "s"), "2.05 ms");
  EXPECT_EQ(with_prefix(1.5e-6, "s"), "1.5 µs");
  EXPECT_EQ(with_prefix(999.96e3, "B"), "1 MB");
  EXPECT_EQ(with_prefix(989.4e12, "FLOP/s"), "989.4 TFLOP/s");
  EXPECT_EQ(with_prefix(1e-12, "s"), "1e-12 s");
  EXPECT_EQ(with_prefix(std::numeric_limits<double>::quiet_NaN(), "s"), "–");
}

TEST(Units, MemoriesOfPowersOfTwo) {
  EXPECT_EQ(binary_bytes(48 * 1024), "48 KiB");
  EXPECT_EQ(binary_bytes(50 * 1024 * 1024), "50 MiB");
  EXPECT_EQ(binary_bytes(16), "16 B");
}

TEST(TextTable, AlignsByWhatIsSeenNotByBytes) {
  TextTable table({{"a"}, {"n", Align::right}});
  table.add({"µ", "10"});
  table.add({"xyz", "7"});
  EXPECT_EQ(table.text(Style(false)), "a     n\nµ    10\nxyz   7\n");
}

TEST(Style, PlainWithoutColour) {
  EXPECT_EQ(Style(false).binding("dram"), "dram");
  EXPECT_EQ(Style(true).heading("x"), "\x1b[1mx\x1b[0m");
}

}  // namespace
}  // namespace roofcast::cli
