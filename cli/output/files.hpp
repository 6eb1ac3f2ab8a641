#pragma once
// Files in and out. Output to a regular file appears under its name only when it is complete.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "validation/runs/replacement.hpp"

namespace roofcast::cli {

/// The whole of a regular file, or of standard input ("-"), of at most 64 MiB. Throws InputError.
std::string read_file(const std::string& path);

class Output {
 public:
  /// Standard output for no path or "-". Throws InputError where the file cannot be created.
  explicit Output(const std::optional<std::string>& path);
  ~Output();
  Output(const Output&) = delete;
  Output(Output&&) = delete;
  Output& operator=(const Output&) = delete;
  Output& operator=(Output&&) = delete;

  /// Text waiting to be written; append to it, then call flush_if_large.
  fmt::memory_buffer& buffer() { return buffer_; }
  void write(std::string_view text);
  void flush_if_large();
  void flush();
  /// Writes what waits and gives the file its name. Without it, nothing stays behind.
  void commit();

 private:
  std::string name_;                             ///< for messages
  std::optional<validation::Replacement> file_;  ///< none where written in place
  int descriptor_ = 1;
  fmt::memory_buffer buffer_;
};

/// Writes a file in one go, atomically, or standard output.
void write_output(const std::optional<std::string>& path, std::string_view text);

}  // namespace roofcast::cli
