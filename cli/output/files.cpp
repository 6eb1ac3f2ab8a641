#include "cli/output/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "cli/exit_code.hpp"
#include "cli/output/terminal.hpp"
#include "hw_specs/text_file.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;

std::size_t read_standard_input(char* to, std::size_t size) {
  while (true) {
    const ssize_t got = read(STDIN_FILENO, to, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) {
      throw InputError(fmt::format("cannot read standard input: {}", std::strerror(errno)));
    }
    stop_if_interrupted();
  }
}

}  // namespace

std::string read_file(const std::string& path) {
  if (path != "-") return specs::read_text(path);
  std::string text;
  while (true) {
    const std::size_t size = text.size();
    text.resize(size + kBlock);
    const std::size_t got = read_standard_input(text.data() + size, kBlock);
    text.resize(size + got);
    if (got == 0) return text;
    if (text.size() > specs::kMostFileBytes) {
      throw InputError("standard input has more than 64 MiB: name a file of at most that");
    }
  }
}

Output::Output(const std::optional<std::string>& path) {
  if (!path || *path == "-") {
    name_ = "standard output";
    return;
  }
  name_ = *path;
  try {
    struct stat status = {};
    if (stat(path->c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
      // A file cannot be renamed over a pipe or a device such as /dev/stdout.
      descriptor_ = open(path->c_str(), O_WRONLY | O_CLOEXEC);
      if (descriptor_ < 0) throw std::system_error(errno, std::generic_category());
    } else {
      file_.emplace(*path);
      descriptor_ = file_->descriptor();
    }
  } catch (const std::system_error& error) {
    throw InputError(fmt::format("cannot write {}: {}", name_, error.code().message()));
  }
}

Output::~Output() {
  if (!file_ && descriptor_ > STDERR_FILENO) close(descriptor_);
}

void Output::write(std::string_view text) {
  buffer_.append(text.data(), text.data() + text.size());
  flush_if_large();
}

void Output::flush_if_large() {
  if (buffer_.size() >= kBlock) flush();
}

void Output::flush() {
  const char* from = buffer_.data();
  std::size_t left = buffer_.size();
  while (left > 0) {
    const ssize_t wrote = ::write(descriptor_, from, left);
    if (wrote < 0) {
      if (errno == EINTR) {
        stop_if_interrupted();
        continue;
      }
      const std::string reason = errno == EPIPE ? "its reader went away" : std::strerror(errno);
      throw WriteError(fmt::format("cannot write all of {}: {}", name_, reason));
    }
    from += wrote;
    left -= static_cast<std::size_t>(wrote);
  }
  buffer_.clear();
}

void Output::commit() {
  flush();
  if (!file_) return;
  try {
    file_->commit();
  } catch (const std::system_error& error) {
    throw WriteError(fmt::format("cannot write {}: {}", name_, error.code().message()));
  }
}

void write_output(const std::optional<std::string>& path, std::string_view text) {
  Output output(path);
  output.write(text);
  output.commit();
}

}  // namespace roofcast::cli
