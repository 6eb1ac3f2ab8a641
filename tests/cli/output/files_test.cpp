#include "cli/output/files.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "cli/exit_code.hpp"
#include "model/types/problem.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using testing::contents;
using testing::Folder;

TEST(Output, AppearsOnlyWhenCommitted) {
  const Folder folder;
  const std::string path = folder.write("a.csv", "old");
  {
    Output output(path);
    output.write("half");
    output.flush();
    EXPECT_EQ(contents(path), "old");
  }
  EXPECT_EQ(contents(path), "old");
  EXPECT_EQ(folder.names().size(), 1U) << "nothing is left behind";
  write_output(path, "new");
  EXPECT_EQ(contents(path), "new");
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(Output, WritesThroughASymbolicLink) {
  const Folder folder;
  const std::string target = folder.write("target", "old");
  const std::string link = folder.file("link");
  std::filesystem::create_symlink(target, link);
  write_output(link, "new");
  EXPECT_EQ(contents(target), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(Output, KeepsTheTargetsModeAndLinksWithoutATarget) {
  namespace fs = std::filesystem;
  const Folder folder;
  const std::string target = folder.write("target", "old");
  fs::permissions(target, fs::perms::owner_all);
  write_output(target, "new");
  EXPECT_EQ(fs::status(target).permissions(), fs::perms::owner_all);

  fs::create_directory(folder.file("inner"));
  const std::string link = folder.file("link");
  fs::create_symlink("inner/later", link);  // relative to the link, and not there yet
  write_output(link, "new");
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(contents(folder.file("inner/later")), "new");

  fs::create_symlink("circle", folder.file("circle"));
  EXPECT_THROW(write_output(folder.file("circle"), "x"), InputError);
}

TEST(Output, NamesOf255Bytes) {
  const Folder folder;
  const std::string path = folder.file(std::string(255, 'n'));
  write_output(path, "first");
  write_output(path, "second");
  EXPECT_EQ(contents(path), "second");
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(Output, SeveralAtOnceForOneFile) {
  const Folder folder;
  const std::string path = folder.file("a.csv");
  Output first(path);
  Output second(path);
  first.write("first");
  second.write("second");
  first.commit();
  EXPECT_EQ(contents(path), "first");
  second.commit();
  EXPECT_EQ(contents(path), "second");
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(Output, SaysWhatItCannotWrite) {
  EXPECT_THROW(write_output("/nowhere/at/all.csv", "x"), InputError);
  EXPECT_THROW(write_output("/dev/full", "x"), WriteError);
}

TEST(ReadFile, WholeOrARefusal) {
  const Folder folder;
  const std::string text(5 << 20, 'y');
  EXPECT_EQ(read_file(folder.write("f", text)), text);
  EXPECT_THROW(read_file(folder.file("missing")), InputError);
  EXPECT_THROW(read_file(folder.file("")), InputError) << "a folder";
}

}  // namespace
}  // namespace roofcast::cli
