#pragma once
#include <string>

namespace roofcast::validation {

/// What `path` points to, symbolic links followed, whether the target is there or not. Throws
/// std::system_error for a circle of links.
std::string target_of(const std::string& path);

/// A file that takes the place of another once it is complete: written under a random name of its
/// own beside the target, with the target's mode, and renamed over it. Without commit() it is
/// removed and the old file stands. What a killed process left of the same target is removed first:
/// a file that nobody has locked. Throws std::system_error.
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

/// Keeps other processes from writing a file while it lives: they are refused with InputError.
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
