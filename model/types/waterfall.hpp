#pragma once
#include <array>
#include <cstddef>
#include <string_view>

namespace roofcast {

/// Where the expected time goes, part by part.
enum class Part : unsigned char {
  launch,        ///< until the first instruction, and between the launches of a chain
  host,          ///< of a chain: while the device waits for the host to submit the next launch
  first_access,  ///< until the first data come: cold translations
  tensor,        ///< the pipe that an SM waits for, as in Resource, by phase of its blocks
  vector,
  special,
  conversion,
  issue,
  shared,
  l1,
  l2,
  dram,
  latency,      ///< dependent waits that nothing hides
  block_start,  ///< the SM's launch unit
  tail,         ///< places that stay empty while the last blocks run
  limit         ///< up to the limit, where the parts before would stay below it
};
inline constexpr std::size_t kParts = 16;

constexpr std::string_view name(Part part) {
  constexpr std::array<std::string_view, kParts> names = {
      "launch", "host", "first_access", "tensor", "vector",  "special",     "conversion", "issue",
      "shared", "l1",   "l2",           "dram",   "latency", "block_start", "tail",       "limit"};
  return names[static_cast<std::size_t>(part)];
}

/// Seconds by part; they add up to the time.
class Waterfall {
 public:
  double& operator[](Part part) { return seconds_[static_cast<std::size_t>(part)]; }
  double operator[](Part part) const { return seconds_[static_cast<std::size_t>(part)]; }
  void add(double times, const Waterfall& other) {
    for (std::size_t i = 0; i < kParts; ++i) seconds_[i] += times * other.seconds_[i];
  }

 private:
  std::array<double, kParts> seconds_{};
};

}  // namespace roofcast
