#include "validation/profiles/byte_stream.hpp"

#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "hw_specs/loader.hpp"

namespace roofcast::validation {
namespace {

// gzread passes uncompressed files through.
class FileBytes : public ByteStream {
 public:
  explicit FileBytes(const std::string& path)
      : path_(path), file_(gzopen(path.c_str(), "rb"), gzclose) {
    // A folder opens like a file, and fails at the first read.
    std::error_code ignored;
    if (!file_ || std::filesystem::is_directory(path, ignored)) {
      throw specs::SpecError(path, "", "a file that can be read", "check the path");
    }
    constexpr unsigned kBuffer = 1U << 20U;
    gzbuffer(file_.get(), kBuffer);
  }

  std::size_t read(char* to, std::size_t size) override {
    const int got = gzread(file_.get(), to, static_cast<unsigned>(std::min(size, kMost)));
    if (got >= 0) return static_cast<std::size_t>(got);
    throw specs::SpecError(path_, "", "a whole gzip file", "copy it again: it was cut off");
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 30U;
  std::string path_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

class TextBytes : public ByteStream {
 public:
  explicit TextBytes(std::string_view text) : rest_(text) {}
  std::size_t read(char* to, std::size_t size) override {
    const std::size_t got = std::min(size, rest_.size());
    std::copy_n(rest_.data(), got, to);
    rest_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view rest_;
};

}  // namespace

std::unique_ptr<ByteStream> open_bytes(const std::string& path) {
  return std::make_unique<FileBytes>(path);
}

std::unique_ptr<ByteStream> bytes_of(std::string_view text) {
  return std::make_unique<TextBytes>(text);
}

std::string read_all(ByteStream& stream, const std::string& file, std::size_t most) {
  std::string text;
  constexpr std::size_t kChunk = std::size_t{1} << 22U;
  for (;;) {
    const std::size_t before = text.size();
    if (before > most) {
      throw specs::SpecError(file, "", "at most " + std::to_string(most >> 20U) + " MiB",
                             "part the file");
    }
    text.resize(before + kChunk);
    const std::size_t got = stream.read(text.data() + before, kChunk);
    text.resize(before + got);
    if (got == 0) return text;
  }
}

}  // namespace roofcast::validation
