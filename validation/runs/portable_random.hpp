#pragma once
#include <cstdint>
#include <random>

namespace roofcast::validation {

/// Random draws that are the same on every platform: the standard fixes each bit of
/// std::mt19937_64 and std::seed_seq, and leaves its distributions open.
class PortableRandom {
 public:
  /// Each position has its own stream, so that the draws of one case do not change another's.
  PortableRandom(std::uint64_t seed, std::uint64_t position);

  /// A uniform draw from 0 … count - 1; count is at least 1.
  std::uint64_t below(std::uint64_t count);

  /// ⌊x⌋ of a log-uniform x, in [from, to]; 1 ≤ from ≤ to ≤ 2^53.
  std::int64_t log_uniform(std::int64_t from, std::int64_t to);

 private:
  std::mt19937_64 bits_;
};

}  // namespace roofcast::validation
