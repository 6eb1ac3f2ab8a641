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
#include <string_view>
#include <system_error>

#include "model/types/problem.hpp"

namespace roofcast::validation {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kNewFileMode = 0666;  // less the umask
constexpr mode_t kModeBits = 07777;
constexpr int kMostLinks = 40;  // as in Linux
constexpr std::string_view kTemporary = ".tmp";

[[noreturn]] void fail(int error = errno) {
  throw std::system_error(error, std::generic_category());
}

/// Prefix of the names of a target's temporary files. Its length is fixed, since the target's name
/// may already have the maximum of 255 bytes.
std::string prefix_of(const fs::path& target) {
  return fmt::format(".roofcast-{:016x}", std::hash<std::string>()(target.filename().string()));
}

std::string new_name(const fs::path& target) {
  std::random_device source;
  const std::uint64_t number = std::uint64_t{source()} << 32 | source();
  const fs::path name = fmt::format("{}-{:016x}{}", prefix_of(target), number, kTemporary);
  return (target.parent_path() / name).string();
}

/// Whether the file still has a name: another process may have removed it before the lock.
bool is_named(int descriptor) {
  struct stat status = {};
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

/// Removes a file that nobody has locked: its writer was killed.
void remove_if_stale(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return;
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) unlink(path.c_str());
  close(descriptor);
}

void remove_stale(const fs::path& target) {
  const std::string prefix = prefix_of(target) + '-';
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(kTemporary))
      remove_if_stale(at->path().string());
  }
}

/// Creates a file beside the target, locked while it is open; a negative number on failure.
int create_beside(const fs::path& target, mode_t mode, std::string& path) {
  while (true) {
    path = new_name(target);
    const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor < 0 && (errno == EEXIST || errno == EINTR)) continue;
    if (descriptor < 0) return descriptor;
    // On file systems without locks no file counts as stale.
    while (flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
    }
    if (is_named(descriptor)) return descriptor;
    close(descriptor);
  }
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
  remove_stale(target_);
  descriptor_ = create_beside(target_, mode, beside_);
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
  // A second descriptor keeps the lock while the first is closed.
  const int lock = fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  // Some file systems report a full disk only on close.
  const bool closed = close(descriptor_) == 0;
  descriptor_ = -1;
  const bool renamed = closed && std::rename(beside_.c_str(), target_.c_str()) == 0;
  const int error = errno;
  if (lock >= 0) close(lock);
  if (!renamed) fail(error);
  beside_.clear();
}

WriteLock::WriteLock(const std::string& path) {
  // The file itself cannot carry the lock, since each save replaces it.
  const fs::path target = target_of(path);
  lock_file_ = (target.parent_path() / (prefix_of(target) + ".lock")).string();
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
    // The previous holder may have removed the file between open and flock.
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
