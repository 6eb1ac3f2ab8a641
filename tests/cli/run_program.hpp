#pragma once
// The program as a user runs it: in a process of its own, streams apart.
#include <filesystem>
#include <string>
#include <vector>

namespace roofcast::cli::testing {

/// Exit codes, as a shell reports them.
inline constexpr int kUsage = 2;
inline constexpr int kBadInput = 3;
inline constexpr int kNoGpu = 4;
inline constexpr int kBrokenPipe = 141;

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

std::vector<std::string> lines_of(const std::string& text);

/// Expects exit code `code`, a message on standard error that begins with "roofcast: " and holds
/// `part`, and nothing on standard output.
void expect_refusal(const std::string& words, int code, const std::string& part);

}  // namespace roofcast::cli::testing
