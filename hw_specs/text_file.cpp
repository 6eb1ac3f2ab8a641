#include "hw_specs/text_file.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "model/types/problem.hpp"

namespace roofcast::specs {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_read(const std::string& path, const std::string& why,
                              const std::string& mend) {
  throw InputError(path + ": cannot be read: " + why + ". Mend: " + mend + ".");
}

}  // namespace

std::string read_text(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) {
    const auto why = error ? error : std::make_error_code(std::errc::no_such_file_or_directory);
    cannot_read(path, why.message(), "name a file that exists and that you may read");
  }
  if (fs::is_directory(status)) cannot_read(path, "it is a folder", "name a file in it");
  if (!fs::is_regular_file(status)) {
    cannot_read(path, "it is no regular file and may have no end", "copy it to a file first");
  }
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) cannot_read(path, error.message(), "name a file that you may read");
  if (size > kMostFileBytes) {
    cannot_read(path, "it has " + std::to_string(size) + " B, at most 64 MiB were expected",
                "name another file, or split it");
  }
  std::ifstream in(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) {
    cannot_read(path, "reading it failed", "name a file that you may read");
  }
  return text;
}

}  // namespace roofcast::specs
