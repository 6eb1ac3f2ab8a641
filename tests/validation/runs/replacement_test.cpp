#include "validation/runs/replacement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace roofcast::validation {
namespace {

namespace fs = std::filesystem;
using ::testing::UnorderedElementsAre;

class ReplacementFiles : public ::testing::Test {
 protected:
  ReplacementFiles() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(::testing::TempDir()) / ("roofcast_replacement_" + name);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ReplacementFiles() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

  /// A process that begins to write and is killed, as by kill -9.
  static void begin_and_die(const std::string& path) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const Replacement half(path);
      raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

 private:
  fs::path folder_;
};

TEST_F(ReplacementFiles, WhatAKilledProcessLeftIsRemovedByTheNextWrite) {
  begin_and_die(file("run.json"));
  ASSERT_EQ(names().size(), 1U) << "nobody could remove it";
  begin_and_die(file("run.json"));
  ASSERT_EQ(names().size(), 1U) << "the second removed the first";
  Replacement next(file("run.json"));
  EXPECT_EQ(names().size(), 1U) << "its own";
  next.commit();
  EXPECT_THAT(names(), UnorderedElementsAre("run.json"));
}

TEST_F(ReplacementFiles, WhatOthersAreWritingStays) {
  begin_and_die(file("other.json"));
  Replacement first(file("run.json"));
  {
    Replacement second(file("run.json"));
    EXPECT_EQ(names().size(), 3U);
    second.commit();
  }
  first.commit();
  EXPECT_EQ(names().size(), 2U);
  EXPECT_TRUE(fs::exists(file("run.json")));
}

TEST_F(ReplacementFiles, InTheFolderAtHandToo) {
  const fs::path before = fs::current_path();
  fs::current_path(fs::path(file("x")).parent_path());
  begin_and_die("run.json");
  Replacement("run.json").commit();
  fs::current_path(before);
  EXPECT_THAT(names(), UnorderedElementsAre("run.json"));
}

}  // namespace
}  // namespace roofcast::validation
