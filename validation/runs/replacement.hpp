#pragma once
#include <string>

namespace roofcast::validation {

/// The target of `path`, which need not exist, with symbolic links followed. Throws
/// std::system_error for a cycle of links.
std::string target_of(const std::string& path);

/// Replaces a file atomically: writes a file with a random name beside the target, with the
/// target's mode, and renames it over the target at commit(). Without commit() it is removed and
/// the old file stays. First removes temporary files of the same target that no process has locked:
/// their writers were killed. Throws std::system_error.
class Replacement {
 public:
  explicit Replacement(const std::string& path);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement(Replacement&&) = delete;
  Replacement& operator=(const Replacement&) = delete;
  Replacement& operator=(Replacement&&) = delete;

  int descriptor() const { return descriptor_; }
  void commit();

 private:
  std::string target_;
  std::string beside_;
  int descriptor_ = -1;
};

/// Keeps other processes from writing a file during its lifetime: their WriteLock throws
/// InputError.
class WriteLock {
 public:
  explicit WriteLock(const std::string& path);
  ~WriteLock();
  WriteLock(const WriteLock&) = delete;
  WriteLock(WriteLock&&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;
  WriteLock& operator=(WriteLock&&) = delete;

 private:
  std::string lock_file_;
  int descriptor_ = -1;
};

}  // namespace roofcast::validation
