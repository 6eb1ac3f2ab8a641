#include "cli/input/query_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/output/signals.hpp"
#include "model/types/problem.hpp"

namespace roofcast::cli {
namespace {

/// An input with a longer line (bytes) is taken to have no line ends.
constexpr std::size_t kEndlessLine = std::size_t{1} << 30;

/// Repeats `call` while signals interrupt it, unless one asks to stop.
template <class Call>
auto retried(const std::string& name, const Call& call) {
  while (true) {
    const auto result = call();
    if (result >= 0) return result;
    if (errno != EINTR) {
      throw InputError(fmt::format("cannot read {}: {}", name, std::strerror(errno)));
    }
    stop_if_interrupted();
  }
}

}  // namespace

QueryLines::QueryLines(const std::string& path)
    : name_(path == "-" ? "standard input" : path),
      descriptor_(path == "-"
                      ? STDIN_FILENO
                      : retried(name_, [&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC); })),
      block_(kLongestLine, '\0') {}

QueryLines::~QueryLines() {
  if (descriptor_ != STDIN_FILENO) close(descriptor_);
}

bool QueryLines::needs_read() const {
  return !at_end_ && (cut_ || std::memchr(block_.data() + begin_, '\n', end_ - begin_) == nullptr);
}

bool QueryLines::fill() {
  if (begin_ > 0) {
    std::memmove(block_.data(), block_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const auto got =
      retried(name_, [&] { return read(descriptor_, block_.data() + end_, block_.size() - end_); });
  end_ += static_cast<std::size_t>(got);
  at_end_ = got == 0;
  return got > 0;
}

void QueryLines::skip_cut_line() {
  for (std::size_t skipped = 0; cut_; skipped += end_) {
    if (skipped > kEndlessLine) {
      throw InputError(fmt::format(
          "{} has a line of over {} bytes: one JSON object a line is expected", name_, skipped));
    }
    begin_ = end_ = 0;
    if (!fill()) {
      cut_ = false;
    } else if (const void* found = std::memchr(block_.data(), '\n', end_); found != nullptr) {
      begin_ = static_cast<std::size_t>(static_cast<const char*>(found) - block_.data()) + 1;
      cut_ = false;
    }
  }
}

std::optional<std::string_view> QueryLines::next() {
  skip_cut_line();
  std::size_t searched = 0;
  while (true) {
    const char* from = block_.data() + begin_;
    const void* found = std::memchr(from + searched, '\n', end_ - begin_ - searched);
    if (found != nullptr) {
      const auto length = static_cast<std::size_t>(static_cast<const char*>(found) - from);
      begin_ += length + 1;
      return std::string_view(from, length);
    }
    searched = end_ - begin_;
    cut_ = searched == block_.size();
    if (cut_ || at_end_ || !fill()) {
      if (begin_ == end_) return std::nullopt;
      const std::string_view last(block_.data() + begin_, end_ - begin_);
      begin_ = end_;
      return last;
    }
  }
}

}  // namespace roofcast::cli
