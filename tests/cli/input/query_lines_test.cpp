#include "cli/input/query_lines.hpp"

#include <gtest/gtest.h>

#include "model/types/problem.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using testing::Folder;

TEST(QueryLines, LinesOfEveryLength) {
  const Folder folder;
  const std::string longest(QueryLines::kLongestLine, 'x');
  QueryLines lines(folder.write("lines", "\nfirst\r\n\n" + longest + "\nlast without an end"));
  EXPECT_EQ(lines.next(), "");
  EXPECT_EQ(lines.next(), "first\r");
  EXPECT_EQ(lines.next(), "");
  EXPECT_EQ(lines.next(), longest);
  EXPECT_EQ(lines.next(), "last without an end");
  EXPECT_EQ(lines.next(), std::nullopt);
  EXPECT_EQ(lines.next(), std::nullopt);
}

TEST(QueryLines, ALongLineIsCutAndTheNextOneIsWhole) {
  for (const std::size_t more : {1U, 5U << 20U}) {
    const Folder folder;
    const std::string longer(QueryLines::kLongestLine + more, 'x');
    QueryLines lines(folder.write("lines", "a\n" + longer + "\nb\n" + longer));
    EXPECT_EQ(lines.next(), "a");
    EXPECT_EQ(lines.next(), longer.substr(0, QueryLines::kLongestLine));
    EXPECT_EQ(lines.next(), "b");
    EXPECT_EQ(lines.next(), longer.substr(0, QueryLines::kLongestLine));
    EXPECT_EQ(lines.next(), std::nullopt);
  }
}

TEST(QueryLines, AnInputWithoutLinesEnds) {
  QueryLines lines("/dev/zero");
  EXPECT_TRUE(lines.next().has_value());
  EXPECT_THROW(lines.next(), InputError);
}

TEST(QueryLines, SaysWhatItCannotRead) {
  const Folder folder;
  EXPECT_THROW(QueryLines(folder.file("missing")), InputError);
  QueryLines lines(folder.file(""));
  EXPECT_THROW(lines.next(), InputError) << "a folder";
}

}  // namespace
}  // namespace roofcast::cli
