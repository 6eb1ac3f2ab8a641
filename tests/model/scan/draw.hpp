#pragma once
// Draws that stay as they are when a kernel, a question or a device is added elsewhere.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace roofcast::testing {

/// A hash that is the same on every machine: FNV-1a over the bytes, then MurmurHash3's finalizer,
/// which lets every bit depend on every other.
constexpr std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  hash = (hash ^ (hash >> 33U)) * 0xff51afd7ed558ccdU;
  hash = (hash ^ (hash >> 33U)) * 0xc4ceb9fe1a85ec53U;
  return hash ^ (hash >> 33U);
}

/// Rendezvous hashing (Thaler, Ravishankar 1998): the name with the largest hash of question and
/// name. Another name takes its own share of the questions and moves none between the others.
inline std::string_view drawn_name(const std::string& question,
                                   const std::vector<std::string_view>& names) {
  std::string_view drawn;
  std::uint64_t largest = 0;
  for (const std::string_view name : names) {
    const std::uint64_t hash = stable_hash(question + '\n' + std::string(name));
    if (drawn.empty() || hash > largest) {
      drawn = name;
      largest = hash;
    }
  }
  return drawn;
}

}  // namespace roofcast::testing
