#pragma once
// What a framework's kernels over rows have in common: a block a row, later passes that count on
// the caches, and a binary that holds a compilation for each generation of devices.
#include <cstdint>
#include <span>
#include <string_view>

#include "model/types/gpu.hpp"

namespace roofcast::library {

/// Rows that one resident block moves through L2 between its first pass over its row and its
/// second. Where DRAM sets the pace the first pass takes most of a block's life: until its second
/// pass every other block has read a row and written one.
inline constexpr double kFirstReread = 2;
/// The same from there to a third pass: passes that miss take equal time, a third of the blocks
/// are in each, and one in three also writes.
inline constexpr double kNextReread = 4.0 / 3;

/// Registers of one of the compilations in a framework's binary.
struct Compilation {
  int from_major;  ///< of the compute capability
  std::int64_t registers;
};

/// Of the compilation that a device runs: the last one that is not too new for it. `all` begins
/// with the oldest, which also serves a device without a compute capability.
inline std::int64_t registers_for(std::span<const Compilation> all, const Gpu& gpu) {
  const int major = gpu.compute_capability ? gpu.compute_capability->major : 0;
  std::int64_t registers = all.front().registers;
  for (const Compilation& one : all) {
    if (one.from_major <= major) registers = one.registers;
  }
  return registers;
}

}  // namespace roofcast::library
