#include "cli/output/text_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "cli/output/utf8.hpp"

namespace roofcast::cli {
namespace {

using ::testing::HasSubstr;

TEST(TextTable, AlignsByWhatIsSeenNotByBytes) {
  TextTable table({{"a"}, {"n", Align::right}});
  table.add({"µ", "10"});
  table.add({"xyz", "7"});
  EXPECT_EQ(table.text(Style(false)), "a     n\nµ    10\nxyz   7\n");
}

TextTable reasons() {
  TextTable table({{"kernel"}, {"time", Align::right}, {"reason"}});
  table.add(
      {"gemm.tiled", "12.345 ms", "µµµµ blocks wait for each other and too little is in flight"});
  table.add({"gemm.naive", "1 s", ""});
  return table;
}

TEST(TextTable, WrapsTheWidestTextToTheWidth) {
  EXPECT_EQ(reasons().text(Style(false, 50), "  "),
            "  kernel           time  reason\n"
            "  gemm.tiled  12.345 ms  µµµµ blocks wait for each\n"
            "                         other and too little is\n"
            "                         in flight\n"
            "  gemm.naive        1 s\n");
}

TEST(TextTable, LosesNothingHoweverNarrow) {
  for (const std::size_t width : {1U, 20U, 40U, 60U, 200U}) {
    std::string text = reasons().text(Style(false, width));
    for (const char* part : {"gemm.", "12.345 ms", "blocks", "flight", "1 s"}) {
      EXPECT_THAT(text, HasSubstr(part)) << width;
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      // Lines exceed the width only where the numbers and the narrowest texts do.
      EXPECT_LE(display_width(line), std::max<std::size_t>(width, 6 + 2 + 9 + 2 + 6)) << line;
    }
  }
}

TEST(TextTable, BreaksNamesAtTheirPartsFirst) {
  TextTable table({{"kernel"}, {"n", Align::right}});
  table.add({"softmax.three_pass", "1"});
  EXPECT_EQ(table.text(Style(false, 15)), "kernel        n\nsoftmax.      1\nthree_pass\n");
}

TEST(TextTable, CutsAWordThatIsWiderThanItsColumn) {
  TextTable table({{"path"}});
  table.add({std::string(30, 'x')});
  EXPECT_EQ(table.text(Style(false, 12)), "path\n" + std::string(12, 'x') + "\n" +
                                              std::string(12, 'x') + "\n" + std::string(6, 'x') +
                                              "\n");
}

TEST(TextTable, ShowsWhatATerminalWouldObey) {
  TextTable table({{"name"}});
  table.add({"\x1b[2Jgone"});
  EXPECT_EQ(table.text(Style(false)), "name\n\\x1b[2Jgone\n");
}

TEST(Style, PlainWithoutColour) {
  EXPECT_EQ(Style(false).binding("dram"), "dram");
  EXPECT_EQ(Style(true).heading("x"), "\x1b[1mx\x1b[0m");
}

}  // namespace
}  // namespace roofcast::cli
