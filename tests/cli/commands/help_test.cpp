// The examples of every help, run as they stand in a folder that holds the files they name.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/commands/command.hpp"
#include "reports/explorer_page.hpp"
#include "tests/cli/run_program.hpp"

namespace roofcast::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::contents;
using testing::Folder;
using testing::lines_of;
using testing::Outcome;
using testing::run_program;

const std::string kProject = ROOFCAST_SPECS "/..";

/// The lines below "Examples:", those that end in a backslash joined with the next.
std::vector<std::string> examples_of(const std::string& help) {
  std::vector<std::string> examples;
  bool inside = false;
  bool goes_on = false;
  for (std::string line : lines_of(help)) {
    if (line.empty()) inside = false;
    if (inside) {
      if (!goes_on) examples.emplace_back();
      goes_on = line.ends_with('\\');
      if (goes_on) line.pop_back();
      examples.back() += line;
    }
    if (line == "Examples:") inside = true;
  }
  return examples;
}

/// Some cases of a run, as measured in one go or as one of two shards.
std::string run_of(std::size_t shard, std::size_t shards) {
  json run =
      json::parse(contents(kProject + "/validation/measured/h200-sxm-random11-2026-11-22.json"));
  json cases = json::array();
  constexpr std::size_t kCases = 6;
  for (std::size_t i = shard; i < kCases; i += shards) cases.push_back(run["cases"][i]);
  run["cases"] = cases;
  run["suite_cases"] = kCases;
  if (shards > 1) run["shard"] = {{"index", shard}, {"count", shards}};
  return run.dump();
}

/// Writes the files that examples name, as a checkout has them.
void fill(const Folder& folder) {
  for (const char* name : {"validation", "hw_specs", "examples"}) {
    fs::create_directory_symlink(kProject + "/" + name, folder.file(name));
  }
  fs::create_directories(folder.file("path/to"));
  (void)folder.write("path/to/config.json", contents(kProject + "/architectures/gpt2-xl.json"));
  (void)folder.write("run.json", run_of(0, 1));
  (void)folder.write("shard-0.json", run_of(0, 2));
  (void)folder.write("shard-1.json", run_of(1, 2));
  (void)folder.write("part-0.csv", "point,kernel,m\n0/2,gemm.tiled,128\n");
  (void)folder.write("part-1.csv", "point,kernel,m\n1/2,gemm.tiled,256\n");
  (void)folder.write("queries.jsonl", R"({"kernel":"stream.copy","gpu":"h200-sxm","n":1048576})"
                                      "\n");
  (void)folder.write("shapes.jsonl", R"({"m":1000,"n":1000,"k":1000})"
                                     "\n");
  (void)folder.write("published.csv",
                     "op,gpu,dtype,rows,cols,time_us\n"
                     "relu,v100-pcie-32gb,fp32,4096,4096,180\n");
}

/// 1: a comparison is out of tolerance. 4: a command that measures finds no GPU.
bool may_end_with(const std::string& example, int code) {
  const bool measures = example.find(" validate ") != std::string::npos ||
                        example.find(" calibrate ") != std::string::npos;
  const bool lists = example.find("--list") != std::string::npos;
  if (measures && !lists) return code == testing::kNoGpu;
  // A build without Emscripten says so.
  if (example.find(" explore ") != std::string::npos && reports::kExplorerTemplate.empty()) {
    return code == 3;
  }
  const bool compares = example.find(" compare ") != std::string::npos ||
                        example.find(" check ") != std::string::npos;
  return code == 0 || (code == 1 && compares);
}

class Help : public ::testing::TestWithParam<std::string> {};

TEST_P(Help, ItsExamplesRun) {
  const Outcome help = run_program(GetParam() + " --help");
  ASSERT_EQ(help.code, 0) << help.err;
  const std::vector<std::string> examples = examples_of(help.out);
  ASSERT_FALSE(examples.empty());
  const std::string program = fs::path(ROOFCAST_PROGRAM).parent_path().string();
  for (const std::string& example : examples) {
    EXPECT_EQ(example.find("  roofcast "), 0U) << example;
    const Folder folder;
    fill(folder);
    if (example.find("--overlay overlay.json") != std::string::npos) {
      (void)folder.write("overlay.json",
                         contents(kProject + "/hw_specs/calibration/h200-sxm.json"));
    }
    const std::string script = folder.write(
        "example", "cd " + folder.file(".") + "\nPATH=" + program + ":$PATH\n" + example + "\n");
    const std::string err = folder.file("err");
    const std::string command =
        "CUDA_VISIBLE_DEVICES= bash -eo pipefail " + script + " > /dev/null 2> " + err;
    const int code = WEXITSTATUS(std::system(command.c_str()));
    EXPECT_TRUE(may_end_with(example, code)) << example << "\nended with " << code << "\n"
                                             << contents(err);
  }
}

std::vector<std::string> pages() {
  std::vector<std::string> names = {"", "predict collective.all_reduce"};
  for (const Command& command : commands()) names.emplace_back(command.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(OfEvery, Help, ::testing::ValuesIn(pages()), [](const auto& tested) {
  std::string name = tested.param.empty() ? "program" : tested.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ' ' || c == '.'; }, '_');
  return name;
});

}  // namespace
}  // namespace roofcast::cli
