#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/cli/run_program.hpp"

namespace roofcast::cli::testing {

namespace fs = std::filesystem;

Outcome run_program(const std::string& words, const std::string& input,
                    const std::string& environment) {
  const Folder folder;
  const std::string in = folder.write("in", input);
  const std::string out = folder.file("out");
  const std::string err = folder.file("err");
  std::string command = environment;
  command.append(" " ROOFCAST_PROGRAM " ").append(words);
  command.append(" < ").append(in).append(" > ").append(out).append(" 2> ").append(err);
  const int status = std::system(command.c_str());
  Outcome outcome;
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  outcome.out = contents(out);
  outcome.err = contents(err);
  return outcome;
}

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "roofcast-cli-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return file(name);
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(path_)) {
    found.push_back(entry.path().filename().string());
  }
  return found;
}

std::string contents(const std::string& path) {
  const std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_refusal(const std::string& words, int code, const std::string& part) {
  const Outcome outcome = run_program(words);
  EXPECT_EQ(outcome.code, code) << words << "\n" << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::HasSubstr(part)) << words;
  EXPECT_THAT(outcome.err, ::testing::StartsWith("roofcast: ")) << words;
  EXPECT_THAT(outcome.out, ::testing::IsEmpty()) << words;
}

}  // namespace roofcast::cli::testing
