// The program as a user meets it: exit codes, which stream says what, files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/command.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

using nlohmann::json;
using testing::contents;
using testing::expect_refusal;
using testing::Folder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::lines_of;
using ::testing::Not;
using testing::Outcome;
using testing::run_program;
using ::testing::StartsWith;

constexpr const char* kTiled = "predict gemm.tiled --m 1024 --n 1024 --k 1024 --gpu h200-sxm";

TEST(Program, HelpOfEveryCommandStartsWithExamples) {
  std::vector<std::string> words = {"--help", "predict gemm --help", "sweep gemm.tiled --help"};
  for (const Command& command : commands()) words.push_back(std::string(command.name) + " --help");
  for (const std::string& word : words) {
    const Outcome outcome = run_program(word);
    EXPECT_EQ(outcome.code, 0) << word;
    EXPECT_THAT(outcome.out, StartsWith("Examples:\n  roofcast ")) << word;
    EXPECT_THAT(outcome.out, Not(HasSubstr(" \n"))) << word;
    EXPECT_THAT(outcome.err, IsEmpty()) << word;
    // Boost aligns the meanings by bytes: a letter of two bytes would shift one.
    const auto lines = lines_of(outcome.out);
    const auto help = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
      return line.starts_with("  -h ");
    });
    if (word == "--help") continue;  // lists commands, no options
    ASSERT_NE(help, lines.end()) << word;
    const std::size_t column = help->find("this text");
    for (const std::string& line : lines) {
      if (!line.starts_with("  -")) continue;
      const std::string option = line.substr(0, column);
      EXPECT_TRUE(std::all_of(option.begin(), option.end(), [](char c) { return c > 0; })) << line;
    }
  }
  EXPECT_THAT(run_program("predict gemm.tiled --help").out, HasSubstr("--tile_m"));
  EXPECT_EQ(run_program("help sweep").out, run_program("sweep --help").out);
  EXPECT_EQ(run_program("help predict gemm").out, run_program("predict gemm --help").out);
  EXPECT_EQ(run_program("help help").out, run_program("--help").out);
  expect_refusal("help swep", 2, "Did you mean 'sweep'?");
}

TEST(Program, Version) {
  const Outcome outcome = run_program("--version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, StartsWith("roofcast "));
}

TEST(Program, TyposMeetASuggestion) {
  expect_refusal("predct", 2, "Did you mean 'predict'?");
  expect_refusal("predict gemm.tild --m 1", 2, "gemm.tiled");
  expect_refusal("predict gemm.tiled --m 1 --n 1 --k 1 --gpu h200-sx", 2, "'h200-sxm'");
  expect_refusal("predict gemm.tiled --mm 1 --gpu h200-sxm", 2, "'--m'");
  expect_refusal(std::string(kTiled) + " --dtype fp33", 2, "fp32");
  expect_refusal(std::string(kTiled) + " --format jsn", 2, "'json'");
  expect_refusal("show h200-smx", 2, "'h200-sxm'");
}

TEST(Program, WithoutACommandShowsTheHelpAsAnError) {
  const Outcome outcome = run_program("");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, StartsWith("Examples:"));
}

TEST(Program, SizesOutOfRangeAreRefused) {
  for (const char* size : {"0", "-1", "99999999999", "99999999999999999999"}) {
    expect_refusal(std::string("predict gemm.tiled --n 1 --k 1 --gpu h200-sxm --m ") + size, 3,
                   "m");
  }
  expect_refusal("predict gemm.tiled --m 4k --n 1 --k 1 --gpu h200-sxm", 2, "whole number");
  expect_refusal("predict gemm.tiled --m 1 --n 1 --gpu h200-sxm", 2, "--k");
  expect_refusal("predict gemm.tiled --m 1 --n 1 --k 1", 2, "--gpu");
  expect_refusal("predict", 2, "which kernel");
  expect_refusal(std::string(kTiled) + " --dtype fp16", 3, "fp32");
}

TEST(Program, FilesThatAreNotThere) {
  expect_refusal("predict gemm.tiled --m 1 --n 1 --k 1 --gpu ./missing.json", 3, "missing.json");
  expect_refusal(std::string(kTiled) + " --overlay missing.json", 3, "missing.json");
  expect_refusal("predict --queries missing.jsonl", 3, "missing.jsonl");
  expect_refusal("compare missing.json", 3, "missing.json");
  expect_refusal("report missing.json", 3, "missing.json");
  expect_refusal("merge missing.json", 3, "missing.json");
  expect_refusal("roofline --run missing.json", 3, "missing.json");
  expect_refusal("validate --suite missing.json", 3, "missing.json");
  expect_refusal(std::string(kTiled) + " --set sm_count", 2, "key=value");
  expect_refusal(std::string(kTiled) + " --overlay a.json --datasheet", 2, "choose one");
}

/// Every command that reads a file as JSON, with that file.
std::vector<std::string> readers_of(const std::string& file) {
  return {"compare " + file,
          "report " + file,
          "merge " + file,
          "roofline --run " + file,
          "sweep stream.copy --n 1000:4000:*2 --gpu h200-sxm -o " + file + ".html --run " + file,
          "validate --suite " + file,
          std::string(kTiled) + " --overlay " + file,
          "predict gemm.tiled --m 1 --n 1 --k 1 --gpu " + file};
}

TEST(Program, FilesNestedDeepAreRefused) {
  const Folder folder;
  std::string objects;
  for (int i = 0; i < 60'000; ++i) objects += "{\"a\":";
  for (const std::string& text : {std::string(60'000, '['), objects}) {
    const std::string path = folder.write("deep.json", text);
    for (const std::string& words : readers_of(path)) expect_refusal(words, 3, "64 deep");
  }
}

TEST(Program, FilesThatMayHaveNoEndAreRefused) {
  const Folder folder;
  const std::string pipe = folder.file("pipe.json");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string zeros = folder.file("zeros.json");
  std::filesystem::create_symlink("/dev/zero", zeros);
  const std::string directory = folder.file("directory.json");
  std::filesystem::create_directory(directory);
  const std::string huge = folder.write("huge.json", "");
  std::filesystem::resize_file(huge, std::uintmax_t{1} << 36);  // sparse
  for (const std::string& path : {pipe, zeros, directory, huge}) {
    for (const std::string& words : readers_of(path)) expect_refusal(words, 3, path);
  }
}

TEST(Program, ABinaryZeroEndsNoFile) {
  const Folder folder;
  const std::string path = folder.write("run.json", std::string("{}\0{}", 5));
  for (const std::string& words : readers_of(path)) expect_refusal(words, 3, "NUL");
}

std::string committed(const std::string& name) {
  return ROOFCAST_SPECS "/../validation/measured/" + name;
}

TEST(Program, ARunNamesADeviceAndNeverAFile) {
  const Folder folder;
  json run = json::parse(contents(committed("h200-sxm-random1-2026-11-22.json")));
  run["cases"].erase(run["cases"].begin() + 1, run["cases"].end());
  run["suite_cases"] = 1;
  for (const char* name : {"./evil.json", "/dev/zero", "h200-smx"}) {
    run["device"]["gpu"] = name;
    const std::string path = folder.write("run.json", run.dump());
    for (const char* words : {"compare ", "report ", "roofline --run "}) {
      expect_refusal(words + path, 3, "/device/gpu");
    }
  }
  // --gpu names the specification in place of the run's wrong name.
  EXPECT_EQ(run_program("compare --gpu h200-sxm " + folder.file("run.json")).code, 0);
}

TEST(Compare, AnIncompleteRunIsSaidAndEndsWithOne) {
  const Folder folder;
  json run = json::parse(contents(committed("h200-sxm-random1-2026-11-22.json")));
  run["cases"].erase(run["cases"].begin() + 1, run["cases"].end());
  const Outcome outcome = run_program("compare " + folder.write("run.json", run.dump()));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("599 cases of the suite"));
  EXPECT_THAT(outcome.err, HasSubstr("the run is incomplete, 599"));
  const json data =
      json::parse(run_program("compare --format json " + folder.file("run.json")).out);
  EXPECT_EQ(data.at("comparisons").at(0).at("missing_cases"), 599);
}

TEST(Merge, ShardsOfASweepJoinToWhatOneProcessPrints) {
  const Folder folder;
  const std::string sweep =
      "sweep stream.copy gemm.tiled --gpu h100-sxm5 --set sm_count=66:132:66 --format csv";
  const std::string shape = " --n 1024:65536:*2 --m 512 --k 512";
  std::string parts;
  for (int shard = 0; shard < 4; ++shard) {
    const std::string file = folder.file("part-" + std::to_string(shard) + ".csv");
    const Outcome part =
        run_program(sweep + shape + " --shard " + std::to_string(shard) + "/4 -o " + file);
    ASSERT_EQ(part.code, 0) << part.err;
    parts += " " + file;
  }
  const Outcome joined = run_program("merge" + parts);
  EXPECT_EQ(joined.code, 0) << joined.err;
  EXPECT_EQ(joined.out, run_program(sweep + shape).out);
}

TEST(Merge, ACommittedRunIsReadByItselfAndJoinsNoOther) {
  const std::string run = committed("h200-sxm-products20-2026-11-23.json");
  const Outcome outcome = run_program("merge " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const json merged = json::parse(outcome.out).at("cases");
  const json cases = json::parse(contents(run)).at("cases");
  ASSERT_EQ(merged.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(merged[i].at("timing"), cases[i].at("timing"));
    for (const auto& [name, value] : cases[i].at("problem").items()) {
      EXPECT_EQ(merged[i].at("problem").at(name), value) << name;
    }
  }
  expect_refusal("merge " + run + " " + committed("h200-sxm-random2-2026-11-22.json"), 3,
                 "is a whole run");
}

TEST(Program, OutputThatCannotBeWritten) {
  expect_refusal(std::string(kTiled) + " -o /nowhere/x.txt", 3, "/nowhere/x.txt");
  expect_refusal(std::string(kTiled) + " -o /dev/full", 3, "/dev/full");
  const Outcome closed = run_program(std::string(kTiled) + " --format json | true; exit 0");
  EXPECT_EQ(closed.code, 0);
}

TEST(Program, TablesForPeopleHaveNoColourInAFile) {
  for (const char* environment : {"", "NO_COLOR=1"}) {
    const Outcome outcome = run_program(kTiled, "", environment);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, StartsWith("gemm.tiled"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

TEST(Program, ColourOnATerminalAlone) {
  if (std::system("command -v script > /dev/null") != 0) GTEST_SKIP() << "needs script(1)";
  const auto on_terminal = [](const std::string& environment) {
    const std::string quoted = std::string(" -c \"" ROOFCAST_PROGRAM " ") + kTiled + "\" /dev/null";
    return run_program("--version > /dev/null; " + environment + " script -qe" + quoted).out;
  };
  EXPECT_THAT(on_terminal("NO_COLOR= TERM=xterm"), HasSubstr("\x1b["));
  EXPECT_THAT(on_terminal("NO_COLOR=1 TERM=xterm"), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(on_terminal("NO_COLOR= TERM=dumb"), Not(HasSubstr("\x1b[")));
}

TEST(Program, AnInterruptLeavesNoHalfWrittenFile) {
  const Folder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Outcome outcome = run_program("predict --queries " + pipe + " -o " + folder.file("answers"),
                                      "", "timeout --preserve-status -s INT 0.5");
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  EXPECT_THAT(folder.names(), ::testing::ElementsAre("pipe"));
}

TEST(Program, AFamilyShowsItsLimitAndEveryVariant) {
  const Outcome outcome = run_program("predict gemm --m 1024 --n 1024 --k 1024 --gpu h200-sxm");
  EXPECT_EQ(outcome.code, 0);
  for (const char* part : {"limit", "gemm.naive", "gemm.tiled", "gemm.vectorized"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST(Program, SeveralKernelsAndDevicesStandSideBySide) {
  const std::string shape = " --m 1024 --n 1024 --k 1024 --gpu h200-sxm,v100-sxm2";
  const Outcome table = run_program("predict gemm.tiled gemm.vectorized" + shape);
  EXPECT_EQ(lines_of(table.out).size(), 5U) << table.out;
  const Outcome rows = run_program("predict gemm.tiled gemm.vectorized --format json" + shape);
  EXPECT_EQ(lines_of(rows.out).size(), 4U);
  for (const std::string& line : lines_of(rows.out)) EXPECT_TRUE(json::accept(line));
}

TEST(Program, OneValueOfTheSpecificationMayBeOverridden) {
  const auto limit = [](const std::string& more) {
    return json::parse(run_program(std::string(kTiled) + " --format json" + more).out)
        .at("limit")
        .at("time_s")
        .get<double>();
  };
  EXPECT_DOUBLE_EQ(limit(" --set sm_count=66"), 2 * limit(""));
  expect_refusal(std::string(kTiled) + " --set sm_cuont=66", 3, "sm_c");
}

TEST(Batch, ABadLineInTheMiddleAnswersInItsPlace) {
  const std::string good = R"({"kernel":"gemm.tiled","gpu":"h200-sxm","m":64,"n":64,"k":64})";
  const Outcome outcome = run_program("predict --queries -", good + "\n{oops\n" + good);
  EXPECT_EQ(outcome.code, 3);
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], lines[2]);
  EXPECT_EQ(json::parse(lines[1]).at("line"), 2);
  EXPECT_THAT(outcome.err, HasSubstr("1 of 3 lines"));
  EXPECT_EQ(run_program("predict --queries -", good + "\n").code, 0);
  EXPECT_EQ(run_program("predict --queries -", "").code, 0);
}

TEST(Batch, FilesInAndOut) {
  const Folder folder;
  const std::string in = folder.write(
      "q.jsonl",
      "{\"kernel\":\"stream.copy\",\"n\":1000000}\n{\"kernel\":\"stream.add\",\"n\":5}\n");
  const std::string out = folder.file("a.jsonl");
  EXPECT_EQ(run_program("predict --gpu h200-sxm --queries " + in + " -o " + out).code, 0);
  EXPECT_EQ(lines_of(contents(out)).size(), 2U);
}

TEST(Sweep, TiedAxesAndRangesGiveARowEach) {
  const Folder folder;
  const std::string path = folder.file("sweep.csv");
  const Outcome outcome =
      run_program("sweep gemm.tiled --m 256:1024:256 --n =m --k 64,128 --gpu h200-sxm -o " + path);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, IsEmpty());
  const auto lines = lines_of(contents(path));
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_THAT(lines[0], StartsWith("kernel,gpu,m,n,k,"));
  EXPECT_THAT(lines[1], StartsWith("gemm.tiled,h200-sxm,256,256,64,"));
  EXPECT_THAT(lines[8], StartsWith("gemm.tiled,h200-sxm,1024,1024,128,"));
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(Sweep, JsonIsOneArray) {
  const Outcome outcome =
      run_program("sweep stream.copy stream.add --n 1000:100000:*10 --gpu h200-sxm --format json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).size(), 6U);
}

TEST(Sweep, PointsWithoutAForecastSayWhy) {
  const Outcome outcome =
      run_program("sweep gemm.tiled --m 0,64 --n 64 --k 64 --gpu h200-sxm --format json");
  EXPECT_EQ(outcome.code, 3);
  const json points = json::parse(outcome.out);
  EXPECT_TRUE(points[0].contains("error"));
  EXPECT_TRUE(points[1].contains("limit"));
}

TEST(Sweep, RefusesWhatNobodyMeans) {
  expect_refusal("sweep gemm.tiled --m 1:10000:1 --n 1:10000:1 --k 1 --gpu h200-sxm", 3, "points");
  expect_refusal("sweep gemm.tiled --m 1 --n =q --k 1 --gpu h200-sxm", 2, "--q");
  expect_refusal("sweep gemm.tiled --m 1 --n 1:2 --k 1 --gpu h200-sxm", 2, "lo:hi:step");
}

}  // namespace
}  // namespace roofcast::cli
