#pragma once
// What a framework's kernels over rows have in common: a block a row, and later passes that count
// on the caches.

namespace roofcast::library {

/// Rows that one resident block moves through L2 between its first pass over its row and its
/// second. Where DRAM sets the pace the first pass takes most of a block's life: until its second
/// pass every other block has read a row and written one.
inline constexpr double kFirstReread = 2;
/// The same from there to a third pass: passes that miss take equal time, a third of the blocks
/// are in each, and one in three also writes.
inline constexpr double kNextReread = 4.0 / 3;

}  // namespace roofcast::library
