#include "validation/runs/run_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "tests/validation/sample_run.hpp"

namespace roofcast::validation {
namespace {

using RunData = Run;  // inside a test Run is a member of its base class

namespace fs = std::filesystem;
using testing::case_of;
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

TEST_F(RunFile, AFailingWriteLeavesTheOldFile) {
  put("old");
  fs::create_directory(path_ + ".tmp");  // the file beside cannot be opened
  EXPECT_THAT(error_of([&] { write_run(path_, sample_run()); }), HasSubstr("cannot be written"));
  EXPECT_EQ(content(), "old");
}

TEST_F(RunFile, AFailingRenameLeavesTheOldAndCleansUp) {
  fs::create_directory(path_);  // a file cannot be renamed over a directory
  std::ofstream(path_ + "/inside") << "old";
  EXPECT_THAT(error_of([&] { write_run(path_, sample_run()); }), HasSubstr("Mend: "));
  EXPECT_TRUE(fs::exists(path_ + "/inside"));
  EXPECT_FALSE(fs::exists(path_ + ".tmp"));
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

TEST(Holds, AsksForKernelProblemAndCache) {
  const RunData run = sample_run();
  const Case& measured = run.cases[0];
  EXPECT_TRUE(holds(run, {measured.kernel, measured.problem, std::nullopt}));
  EXPECT_TRUE(holds(run, {measured.kernel, measured.problem, CacheState::steady}));
  EXPECT_FALSE(holds(run, {measured.kernel, measured.problem, CacheState::cold}));
  EXPECT_FALSE(holds(run, {"gemm.naive", measured.problem, std::nullopt}));
  Problem other = measured.problem;
  ++other[0];
  EXPECT_FALSE(holds(run, {measured.kernel, other, std::nullopt}));
}

TEST(Merge, JoinsShardsOfOneRun) {
  RunData a = sample_run();
  RunData b = sample_run();
  b.date = "2025-01-01T00:00:00Z";
  b.cases = {case_of("stream.copy", {2000}, 4e-6)};
  b.failures.clear();
  const RunData joined = merge({{"a", a}, {"b", b}});
  EXPECT_EQ(joined.cases.size(), 3U);
  EXPECT_EQ(joined.failures.size(), 1U);
  EXPECT_EQ(joined.date, b.date);
  EXPECT_EQ(to_json(merge({{"a", a}})), to_json(a));
}

TEST(Merge, RefusesDuplicatesAndStrangers) {
  const RunData run = sample_run();
  EXPECT_THAT(error_of([&] {
                (void)merge({{"a.json", run}, {"b.json", run}});
              }),
              ::testing::AllOf(HasSubstr("a.json and b.json"), HasSubstr("gemm.tiled"),
                               HasSubstr("m=512")));
  RunData other = run;
  other.cases.clear();
  other.suite = "default";
  EXPECT_THAT(error_of([&] { (void)merge({{"a", run}, {"b", other}}); }), HasSubstr("suite"));
  other = run;
  other.cases.clear();
  other.device.device = "NVIDIA L40S";
  EXPECT_THAT(error_of([&] { (void)merge({{"a", run}, {"b", other}}); }), HasSubstr("NVIDIA L40S"));
  EXPECT_THROW((void)merge({}), InputError);
}

TEST(Merge, TheSameProblemColdAndSteadyAreTwoCases) {
  RunData a = sample_run();
  RunData b = sample_run();
  b.cases = {a.cases[0]};
  b.cases[0].cache = CacheState::cold;
  EXPECT_EQ(merge({{"a", a}, {"b", b}}).cases.size(), 3U);
}

}  // namespace
}  // namespace roofcast::validation
