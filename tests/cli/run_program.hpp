#pragma once
// The program as a user runs it: in a process of its own, streams apart.
#include <filesystem>
#include <string>
#include <vector>

namespace roofcast::cli::testing {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

/// `input` goes to its standard input. The words pass through a shell: quote what needs it.
Outcome run_program(const std::string& words, const std::string& input = "",
                    const std::string& environment = "");

/// A folder of this test's own, removed with it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder& operator=(Folder&&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const;
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

std::string contents(const std::string& path);

}  // namespace roofcast::cli::testing
