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

  /// The text that is not written yet; append to it, then call flush_if_large.
  fmt::memory_buffer& buffer() { return buffer_; }
  void write(std::string_view text);
  void flush_if_large();
  void flush();
  /// Writes the rest of the text and gives a regular file its name, under which nothing appears
  /// before.
  void commit();

 private:
  std::string name_;                             ///< for messages
  std::optional<validation::Replacement> file_;  ///< none for standard output, pipes and devices
  int descriptor_ = 1;
  fmt::memory_buffer buffer_;
};

/// Writes a whole regular file atomically, or standard output, a pipe or a device.
void write_output(const std::optional<std::string>& path, std::string_view text);

}  // namespace roofcast::cli
