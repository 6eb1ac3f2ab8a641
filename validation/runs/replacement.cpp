#include "validation/runs/replacement.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>
#include <system_error>

#include "model/types/problem.hpp"

namespace roofcast::validation {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kNewFileMode = 0666;  // less the umask
constexpr mode_t kModeBits = 07777;
constexpr int kMostLinks = 40;  // as Linux follows

[[noreturn]] void fail(int error = errno) {
  throw std::system_error(error, std::generic_category());
}

/// A name of fixed length beside the target, which may itself have the 255 bytes that a name takes.
std::string beside(const std::string& target, std::uint64_t number, const char* ending) {
  const fs::path name = fmt::format(".roofcast-{:016x}.{}", number, ending);
  return (fs::path(target).parent_path() / name).string();
}

std::uint64_t random_number() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

}  // namespace

std::string target_of(const std::string& path) {
  fs::path target = path;
  std::error_code none;
  for (int links = 0; fs::is_symlink(target, none); ++links) {
    if (links == kMostLinks) fail(ELOOP);
    target = target.parent_path() / fs::read_symlink(target);
  }
  return target.string();
}

Replacement::Replacement(const std::string& path) : target_(target_of(path)) {
  struct stat old = {};
  const bool replaces = stat(target_.c_str(), &old) == 0;
  if (replaces && access(target_.c_str(), W_OK) != 0) fail();
  if (replaces && S_ISDIR(old.st_mode)) fail(EISDIR);
  if (fs::path(target_).filename().empty()) fail(ENOENT);
  const mode_t mode = replaces ? old.st_mode & kModeBits : kNewFileMode;
  do {
    beside_ = beside(target_, random_number(), "tmp");
    descriptor_ = open(beside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) fail();
  if (replaces && fchmod(descriptor_, mode) != 0) {
    const int error = errno;
    close(descriptor_);
    unlink(beside_.c_str());
    fail(error);
  }
}

Replacement::~Replacement() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!beside_.empty()) unlink(beside_.c_str());
}

void Replacement::commit() {
  // Some file systems report a full disk only on close.
  const bool closed = close(descriptor_) == 0;
  descriptor_ = -1;
  if (!closed || std::rename(beside_.c_str(), target_.c_str()) != 0) fail();
  beside_.clear();
}

WriteLock::WriteLock(const std::string& path) {
  // The file itself cannot carry the lock: each save puts another in its place.
  const fs::path target = target_of(path);
  lock_file_ =
      beside(target.string(), std::hash<std::string>()(target.filename().string()), "lock");
  const auto refuse = [&](const std::string& why, const std::string& mend) {
    if (descriptor_ >= 0) close(descriptor_);
    throw InputError(fmt::format("{}: {}. Mend: {}.", path, why, mend));
  };
  while (true) {
    descriptor_ = open(lock_file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kNewFileMode);
    if (descriptor_ < 0) {
      refuse(fmt::format("cannot be written: {}", std::generic_category().message(errno)),
             "choose a file in a directory that exists and lets you write");
    }
    if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      const bool taken = errno == EWOULDBLOCK;
      refuse(taken ? "another process is writing this run"
                   : fmt::format("cannot be locked: {}", std::generic_category().message(errno)),
             taken ? "wait for it, or write to another file" : "write to another file system");
    }
    // Whoever had it may have removed the file between open and flock.
    struct stat held = {};
    struct stat named = {};
    if (fstat(descriptor_, &held) == 0 && stat(lock_file_.c_str(), &named) == 0 &&
        held.st_ino == named.st_ino && held.st_dev == named.st_dev) {
      return;
    }
    close(descriptor_);
  }
}

WriteLock::~WriteLock() {
  unlink(lock_file_.c_str());
  close(descriptor_);
}

}  // namespace roofcast::validation
