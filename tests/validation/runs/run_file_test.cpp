#include "validation/runs/run_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "tests/validation/sample_run.hpp"
#include "validation/runs/replacement.hpp"

namespace roofcast::validation {
namespace {

using RunData = Run;  // inside a test Run is a member of its base class

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::sample_run;

class RunFile : public ::testing::Test {
 protected:
  RunFile() {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::path(::testing::TempDir()) / ("roofcast_run_file_" + name);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = (folder_ / "run.json").string();
  }
  ~RunFile() override { fs::remove_all(folder_); }

  std::string content() const {
    std::ifstream in(path_);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void put(const std::string& text) const { std::ofstream(path_) << text; }

  fs::path folder_;
  std::string path_;
};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(RunFile, IsReadAsWrittenAndLeavesNothingBeside) {
  EXPECT_FALSE(read_run(path_).has_value());
  write_run(path_, sample_run());
  EXPECT_EQ(to_json(*read_run(path_)), to_json(sample_run()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(RunFile, ANameAsLongAsNamesMayBe) {
  path_ = (folder_ / (std::string(250, 'r') + ".json")).string();
  const WriteLock lock(path_);
  write_run(path_, sample_run());
  EXPECT_EQ(to_json(*read_run(path_)), to_json(sample_run()));
}

TEST_F(RunFile, ASecondWriterIsRefusedUntilTheFirstIsDone) {
  {
    const WriteLock first(path_);
    EXPECT_THAT(error_of([&] { const WriteLock second(path_); }),
                ::testing::AllOf(HasSubstr("another process"), HasSubstr("another file")));
    const WriteLock other(path_ + "2");
    fs::create_symlink(path_, folder_ / "link");
    EXPECT_THAT(error_of([&] { const WriteLock link((folder_ / "link").string()); }),
                HasSubstr("another process"));
  }
  EXPECT_EQ(error_of([&] { const WriteLock again(path_); }), "no error");
  fs::remove(folder_ / "link");
  EXPECT_TRUE(fs::is_empty(folder_)) << "no lock file stays";
}

TEST_F(RunFile, ASecondProcessIsRefused) {
  const WriteLock held(path_);
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = error_of([&] { const WriteLock lock(path_); }) != "no error";
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(RunFile, WritersAtOnceLeaveAWholeRun) {
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back([&] {
      for (int j = 0; j < 25; ++j) write_run(path_, sample_run());
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(to_json(*read_run(path_)), to_json(sample_run()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(RunFile, PipesAndFoldersAreRefusedAtOnce) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { (void)read_run(path_); }), HasSubstr("no regular file"));
  EXPECT_THAT(error_of([&] { (void)read_run(folder_.string()); }), HasSubstr("folder"));
  EXPECT_THAT(error_of([&] { (void)read_run("/dev/zero"); }), HasSubstr("no regular file"));
}

TEST_F(RunFile, AHugeFileIsRefusedBeforeItIsRead) {
  put("");
  fs::resize_file(path_, std::uintmax_t{1} << 36);  // sparse
  EXPECT_THAT(error_of([&] { (void)read_run(path_); }), HasSubstr("at most 64 MiB"));
}

TEST_F(RunFile, AFailingRenameLeavesTheOldAndCleansUp) {
  fs::create_directory(path_);  // a file cannot be renamed over a directory
  std::ofstream(path_ + "/inside") << "old";
  EXPECT_THAT(error_of([&] { write_run(path_, sample_run()); }), HasSubstr("Mend: "));
  EXPECT_TRUE(fs::exists(path_ + "/inside"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(RunFile, AMissingFolderIsAnError) {
  EXPECT_THROW(write_run((folder_ / "no" / "run.json").string(), sample_run()), InputError);
}

TEST_F(RunFile, ResumesItsOwnRunOnly) {
  RunData fresh = sample_run();
  fresh.cases.clear();
  fresh.date = "2027-01-01T00:00:00Z";
  EXPECT_EQ(resume_run(path_, fresh).cases.size(), 0U);
  write_run(path_, sample_run());
  const RunData resumed = resume_run(path_, fresh);
  EXPECT_EQ(resumed.cases.size(), 2U);
  EXPECT_EQ(resumed.date, sample_run().date);

  const std::string before = content();
  for (std::string RunData::*member : {&RunData::suite, &RunData::build}) {
    RunData other = fresh;
    other.*member = "other";
    EXPECT_THAT(error_of([&] { (void)resume_run(path_, other); }), HasSubstr("\"other\""));
  }
  for (std::string DeviceRecord::*member :
       {&DeviceRecord::gpu, &DeviceRecord::device, &DeviceRecord::driver}) {
    RunData other = fresh;
    other.device.*member = "other";
    EXPECT_THAT(error_of([&] { (void)resume_run(path_, other); }), HasSubstr("another file"));
  }
  RunData shard = fresh;
  shard.shard = {1, 4};
  EXPECT_THAT(error_of([&] { (void)resume_run(path_, shard); }), HasSubstr("\"1/4\""));
  RunData slower = fresh;
  slower.device.power_limit_w = 350;
  EXPECT_THAT(error_of([&] { (void)resume_run(path_, slower); }), HasSubstr("power limit"));
  EXPECT_EQ(content(), before);
}

TEST_F(RunFile, RefusesForeignAndHalfWrittenFilesUntouched) {
  const std::string whole = to_json(sample_run());
  for (const std::string& text : {std::string("{\"name\":\"h200-sxm\"}"), std::string("notes"),
                                  std::string(), whole.substr(0, whole.size() / 2)}) {
    put(text);
    EXPECT_THAT(error_of([&] { (void)resume_run(path_, sample_run()); }), HasSubstr(path_));
    EXPECT_EQ(content(), text);
  }
}

TEST(FindCase, AsksForKernelProblemAndCache) {
  RunData run = sample_run();
  Case& measured = run.cases[0];
  EXPECT_EQ(find_case(run, {measured.kernel, measured.problem, std::nullopt}), &measured);
  EXPECT_EQ(find_case(run, {measured.kernel, measured.problem, CacheState::steady}), &measured);
  EXPECT_EQ(find_case(run, {measured.kernel, measured.problem, CacheState::cold}), nullptr);
  EXPECT_EQ(find_case(run, {"gemm.naive", measured.problem, std::nullopt}), nullptr);
  Problem other = measured.problem;
  ++other[0];
  EXPECT_EQ(find_case(run, {measured.kernel, other, std::nullopt}), nullptr);
}

TEST(Failed, AsksForThePositionWhereTheRunHasOne) {
  RunData run = sample_run();
  const SuiteCase cold{run.failures[0].kernel, run.failures[0].problem, CacheState::cold, 3};
  EXPECT_TRUE(failed(run, cold));
  run.failures[0].position = 4;  // the same problem, steady
  EXPECT_FALSE(failed(run, cold));
}

}  // namespace
}  // namespace roofcast::validation
