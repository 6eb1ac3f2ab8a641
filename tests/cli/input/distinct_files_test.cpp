#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;
using testing::contents;
using testing::expect_refusal;
using testing::Folder;
using testing::kUsage;
using testing::run_program;

const std::string kRun = ROOFCAST_SPECS "/../validation/measured/h200-sxm-random11-2026-11-22.json";
const std::string kSpecification = ROOFCAST_SPECS "/h200-sxm.json";

TEST(DistinctFiles, AnOutputThatIsAnInputIsRefusedAndTheInputStays) {
  const Folder folder;
  const std::string run = folder.write("run.json", contents(kRun));
  const std::string device = folder.write("device.json", contents(kSpecification));
  const std::string shape = " stream.copy --n 1024 --gpu ";
  const std::string commands[] = {
      "compare " + run + " -o " + run,
      "compare --datasheet " + run + " --format json --output=" + run,
      "report " + run + " -o " + run,
      "merge " + run + " -o " + run,
      "roofline --run " + run + " -o " + run,
      "sweep" + shape + "h200-sxm --run " + run + " --plot time -o " + run,
      "sweep" + shape + "h100-sxm5," + device + " -o " + device,
      "predict" + shape + device + " -o " + device,
      "predict" + shape + "h200-sxm --overlay " + device + " -o " + device,
      "predict --queries " + device + " -o " + device,
      "advise gemm --m 64 --n 64 --k 64 --gpu " + device + " -o " + device,
      "gpus " + device + " -o " + device,
      "occupancy --gpu " + device + " -o " + device,
      "model llama-3.1-8b --prefill --gpu " + device + " -o " + device,
      "validate --list --suite " + device + " -o " + device};
  for (const std::string& words : commands) expect_refusal(words, kUsage, "choose another file");
  EXPECT_EQ(contents(run), contents(kRun));
  EXPECT_EQ(contents(device), contents(kSpecification));
}

TEST(DistinctFiles, WhateverThePathIsSpelledLike) {
  const Folder folder;
  const std::string run = folder.write("run.json", contents(kRun));
  fs::create_symlink(run, folder.file("link.json"));
  fs::create_hard_link(run, folder.file("twin.json"));
  fs::create_directory(folder.file("inner"));
  for (const char* name : {"link.json", "twin.json", "./run.json", "inner/../run.json"}) {
    expect_refusal("compare " + run + " -o " + folder.file(name), kUsage, "choose another file");
    expect_refusal("compare " + folder.file(name) + " -o " + run, kUsage, "choose another file");
  }
  EXPECT_EQ(contents(run), contents(kRun));
}

// Each answer would be the next question.
TEST(DistinctFiles, ABatchAppendedToItselfEnds) {
  const Folder folder;
  const std::string line = R"({"kernel":"stream.copy","n":1024,"gpu":"h200-sxm"})"
                           "\n";
  const std::string batch = folder.write("b", line);
  for (const std::string& input : {batch, std::string("- < ") + batch}) {
    const std::string words = "timeout 20 " ROOFCAST_PROGRAM " predict --queries ";
    const int status = std::system((words + input + " >> " + batch + " 2> /dev/null").c_str());
    EXPECT_EQ(WEXITSTATUS(status), kUsage) << input;
    EXPECT_EQ(contents(batch), line) << input;
  }
}

TEST(DistinctFiles, OtherFilesArePassed) {
  const Folder folder;
  const std::string run = folder.write("run.json", contents(kRun));
  const std::string old = folder.write("old.json", "old");
  EXPECT_NE(run_program("compare " + run + " -o " + old).code, kUsage);
  EXPECT_NE(contents(old), "old");
  EXPECT_EQ(run_program("predict stream.copy --n 1024 --gpu h200-sxm -o /dev/null").code, 0);
}

}  // namespace
}  // namespace roofcast::cli
