// Standard streams that take nothing, and signals: no command aborts, hangs or leaves files behind.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "cli/measure/measuring_program.hpp"
#include "cli/output/signals.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;
using testing::contents;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kBadInput;
using testing::kBrokenPipe;
using testing::kNoGpu;
using testing::kUsage;
using ::testing::Not;

/// The exit code as a shell reports it.
int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int shell(const std::string& command) {
  return code_of(std::system(("bash -o pipefail -c '" + command + "'").c_str()));
}

const std::string kProgram = ROOFCAST_PROGRAM;

TEST(Streams, AnErrorThatCannotBeWrittenKeepsItsCode) {
  for (const char* stream : {"2>&-", "2>/dev/full", "2>&1 | true", "2>&1 >&- | true"}) {
    EXPECT_EQ(shell(kProgram + " predct " + stream), kUsage) << stream;
    EXPECT_EQ(shell(kProgram + " predict gemm.tiled --m 0 --n 1 --k 1 --gpu k80 " + stream),
              kBadInput)
        << stream;
    EXPECT_EQ(shell("echo {} | " + kProgram + " predict --queries - -o /dev/null " + stream),
              kBadInput)
        << stream;
    EXPECT_EQ(shell(kProgram + " " + stream), kUsage) << stream;
  }
}

TEST(Streams, AReaderThatLeavesIsNoFault) {
  const Folder folder;
  const std::string err = folder.file("err");
  const std::string sweep = " sweep stream.copy --n 1:200000:1 --gpu h200-sxm";
  EXPECT_EQ(shell(kProgram + sweep + " 2>" + err + " | head -1 >/dev/null"), kBrokenPipe);
  EXPECT_THAT(contents(err), IsEmpty());
}

TEST(Streams, AFileOpenedWhereAStreamIsClosedTakesNoMessages) {
  const Folder folder;
  const std::string out = folder.file("answers");
  EXPECT_EQ(shell("echo {} | " + kProgram + " predict --queries - -o " + out + " 2>&-"), kBadInput);
  EXPECT_THAT(contents(out), Not(HasSubstr("roofcast:")));
  EXPECT_EQ(shell(kProgram + " gpus >&- 2>/dev/null"), kBadInput);
}

struct Ended {
  int code;
  double seconds;  ///< from the signal on
};

/// Starts the program with an open, silent pipe as its standard input, and signals it.
Ended signalled(std::vector<std::string> words, int number, const std::string& program = kProgram) {
  int input[2];
  EXPECT_EQ(pipe(input), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(input[0], STDIN_FILENO);
    close(input[0]);
    close(input[1]);
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    words.insert(words.begin(), program);
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    execv(program.c_str(), pointers.data());
    _exit(127);
  }
  close(input[0]);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto begin = std::chrono::steady_clock::now();
  kill(child, number);
  int status = 0;
  waitpid(child, &status, 0);
  close(input[1]);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return {code_of(status), took.count()};
}

void expect_end(const std::vector<std::string>& words, const std::string& program = kProgram) {
  // A second is promised; a machine that builds at the same time takes longer to wake a process.
  constexpr double kSeconds = 3;
  for (const int number : {SIGINT, SIGTERM}) {
    const Ended ended = signalled(words, number, program);
    EXPECT_EQ(ended.code, 128 + number) << words.front();
    EXPECT_LT(ended.seconds, kSeconds) << words.front();
  }
}

TEST(Signals, EndEveryCommandThatReads) {
  expect_end({"predict", "--queries", "-", "--gpu", "h200-sxm"});
  expect_end({"advise", "--queries", "-", "--gpu", "h200-sxm"});
  expect_end({"compare", "-"});
  expect_end({"merge", "-"});
  expect_end({"report", "-"});
  expect_end({"roofline", "--run", "-"});
  expect_end(
      {"predict", "gemm", "--m", "1", "--n", "1", "--k", "1", "--gpu", "k80", "--overlay", "-"});
}

TEST(Signals, EndASweepAndLeaveNothing) {
  const Folder folder;
  expect_end({"sweep", "gemm.tiled", "--m", "1:1000:1", "--n", "1:1000:1", "--k", "64", "--gpu",
              "h200-sxm", "-o", folder.file("sweep.csv")});
  EXPECT_THAT(folder.names(), IsEmpty());
}

/// A folder on PATH whose `node` runs this shell script.
std::string fake_node(const Folder& folder, const std::string& script) {
  const std::string path = folder.write("node", "#!/bin/sh\n" + script + "\n");
  chmod(path.c_str(), 0755);
  return fs::path(path).parent_path().string();
}

/// An installed copy of the program, with its own share/.
struct Installation {
  Folder folder;
  fs::path root = folder.file("");
  std::string program = (root / "bin/roofcast").string();
  std::string scripts = (root / "share/roofcast/reports").string();

  Installation() {
    fs::create_directories(root / "bin");
    fs::create_directories(scripts + "/node_modules/vega-lite");
    std::ofstream(scripts + "/render.mjs") << "";
    fs::copy_file(kProgram, program);
  }
  void add_program(const fs::path& path, const std::string& script) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "#!/bin/sh\n" + script + "\n";
    fs::permissions(path, fs::perms::owner_all);
  }
};

TEST(Signals, EndADrawingAndItsProcess) {
  const Installation installed;
  const Folder output;
  const Folder path;
  const std::string process = output.file("process");
  fake_node(path, "echo $$ > " + process + "\nexec sleep 60");
  const std::string old = std::getenv("PATH");
  setenv("PATH", (path.file("") + ":" + old).c_str(), 1);
  expect_end({"roofline", "--gpu", "h200-sxm", "-o", output.file("roof.svg")}, installed.program);
  setenv("PATH", old.c_str(), 1);
  EXPECT_THAT(output.names(), ::testing::ElementsAre("process"));
  const int node = std::atoi(contents(process).c_str());
  ASSERT_GT(node, 0);
  EXPECT_NE(kill(node, 0), 0) << "the process that draws is gone too";
}

TEST(Signals, EndAMeasurement) {
  const Installation installed;
  installed.add_program(installed.root / "bin" / kMeasuringProgram, "exec sleep 60");
  expect_end({"validate", "--suite", "quick"}, installed.program);
  expect_end({"calibrate", "-o", installed.folder.file("overlay.json")}, installed.program);
}

TEST(SignalsDeathTest, EndWorkThatNeverLooks) {
  const auto work = [](int number) {
    prepare_process();
    raise(number);
    while (true) std::this_thread::yield();
  };
  EXPECT_EXIT(work(SIGINT), ::testing::ExitedWithCode(130), "");
  EXPECT_EXIT(work(SIGTERM), ::testing::ExitedWithCode(143), "");
}

TEST(MeasuringProgram, IsTakenOnlyFromBesideTheRealProgram) {
  const Installation installed;
  const std::string found = (installed.root / "found").string();
  const std::string script = "touch " + found;
  installed.add_program(installed.root / "path" / kMeasuringProgram, script);
  installed.add_program(installed.root / "here" / kMeasuringProgram, script);
  fs::create_symlink(installed.program, installed.root / "here/roofcast");
  const std::string root = installed.root.string();
  const std::string in_place = "cd " + root + "/here && PATH=" + root + "/path:.:$PATH ";
  EXPECT_EQ(shell(in_place + "./roofcast validate 2>/dev/null"), kNoGpu);
  EXPECT_FALSE(fs::exists(found));
  installed.add_program(installed.root / "bin" / kMeasuringProgram, script);
  EXPECT_EQ(shell(in_place + "./roofcast validate 2>/dev/null"), 0);
  EXPECT_TRUE(fs::exists(found));
}

TEST(MeasuringProgram, IsNowhereWhereTheRealProgramCannotBeTold) {
  const Folder folder;
  EXPECT_THROW(beside_program(folder.file("missing")), NoGpuError);
  fs::create_symlink("relative/roofcast", folder.file("link"));
  EXPECT_THROW(beside_program(folder.file("link")), NoGpuError);
}

TEST(Render, AnInstalledCopyTakesItsOwnScripts) {
  const Installation installed;
  const Folder path;
  fake_node(path, "printf %s \"$1\"");
  const std::string picture = installed.folder.file("roof.svg");
  EXPECT_EQ(shell("PATH=" + path.file("") + ":$PATH " + installed.program +
                  " roofline --gpu h200-sxm -o " + picture),
            0);
  EXPECT_EQ(contents(picture), installed.scripts + "/render.mjs");
}

}  // namespace
}  // namespace roofcast::cli
