#include "validation/runs/portable_random.hpp"

#include <bit>
#include <cmath>
#include <limits>

namespace roofcast::validation {
namespace {

// 2^u for the binary fraction u in `bits`, from 1 to 2. Uses only products and square roots, which
// IEEE 754 rounds the same everywhere; exp2 differs in the last bit.
double power_of_two(std::uint64_t bits) {
  double power = 1;
  double root = 2;
  for (; bits != 0; bits <<= 1) {
    root = std::sqrt(root);
    if (bits >> 63 != 0) power *= root;
  }
  return power;
}

std::uint32_t half(std::uint64_t value, int shift) {
  return static_cast<std::uint32_t>(value >> shift);
}

}  // namespace

PortableRandom::PortableRandom(std::uint64_t seed, std::uint64_t position) {
  std::seed_seq words = {half(seed, 0), half(seed, 32), half(position, 0), half(position, 32)};
  bits_.seed(words);
}

std::uint64_t PortableRandom::below(std::uint64_t count) {
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t most = kLast - kLast % count;  // a multiple of count: no bias
  std::uint64_t drawn = bits_();
  while (drawn >= most) drawn = bits_();
  return drawn % count;
}

std::int64_t PortableRandom::log_uniform(std::int64_t from, std::int64_t to) {
  const auto octave_of = [](std::int64_t value) {
    return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
  };
  const int first = octave_of(from);
  const auto octaves = static_cast<std::uint64_t>(octave_of(to) - first + 1);
  while (true) {
    const int octave = first + static_cast<int>(below(octaves));
    const auto value = static_cast<std::int64_t>(std::ldexp(power_of_two(bits_()), octave));
    if (value >= from && value <= to) return value;
  }
}

}  // namespace roofcast::validation
