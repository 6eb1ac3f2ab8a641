#pragma once
#include <cstdint>
#include <random>

namespace roofcast::validation {

/// Random draws that are the same on every platform: the standard fixes each bit of
/// std::mt19937_64 and std::seed_seq, and leaves its distributions open.
class PortableRandom {
 public:
  /// A stream of its own for each position: what one case draws moves no other.
  PortableRandom(std::uint64_t seed, std::uint64_t position);

  /// One of 0 … count - 1, all equally likely; count is at least 1.
  std::uint64_t below(std::uint64_t count);

  /// ⌊x⌋ of an x whose logarithm is uniform; 1 ≤ from ≤ ⌊x⌋ ≤ to ≤ 2^53.
  std::int64_t log_uniform(std::int64_t from, std::int64_t to);

 private:
  std::mt19937_64 bits_;
};

}  // namespace roofcast::validation
