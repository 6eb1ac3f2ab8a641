#include "model/counting/shared_banks.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "model/counting/coalescing.hpp"

namespace roofcast {
namespace {

constexpr std::size_t kBanks = 32;
constexpr std::int64_t kWordBytes = 4;

// Of a warp, served one after the other.
constexpr std::int64_t lanes_together(std::int64_t access_bytes) {
  constexpr std::int64_t kWidestWhole = 8;
  return access_bytes > kWidestWhole ? kWarpLanes / 2 : kWarpLanes;
}

// Of lanes served together.
std::int64_t wavefronts_of_part(std::span<const std::int64_t> starts, std::int64_t access_bytes) {
  std::vector<std::int64_t> words;
  words.reserve(starts.size());
  for (const std::int64_t start : starts) {
    const std::int64_t end = (start + access_bytes - 1) / kWordBytes;
    for (std::int64_t word = start / kWordBytes; word <= end; ++word) words.push_back(word);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<std::int64_t, kBanks> in_bank{};
  for (const std::int64_t word : words) ++in_bank[static_cast<std::size_t>(word) % kBanks];
  return *std::max_element(in_bank.begin(), in_bank.end());
}

}  // namespace

std::int64_t shared_wavefronts(std::span<const std::int64_t> starts, std::int64_t access_bytes) {
  const auto lanes = static_cast<std::size_t>(lanes_together(access_bytes));
  std::int64_t sum = 0;
  for (std::size_t first = 0; first < starts.size(); first += lanes) {
    sum += wavefronts_of_part(starts.subspan(first, std::min(lanes, starts.size() - first)),
                              access_bytes);
  }
  return sum;
}

std::int64_t shared_wavefronts(std::int64_t stride_bytes, std::int64_t access_bytes,
                               std::int64_t offset_bytes, std::int64_t lanes) {
  const std::int64_t together = lanes_together(access_bytes);
  std::int64_t sum = 0;
  for (std::int64_t first = 0; first < lanes; first += together) {
    sum += bank_wavefronts({.stride_bytes = stride_bytes,
                            .access_bytes = access_bytes,
                            .offset_bytes = offset_bytes + first * stride_bytes,
                            .lanes = std::min(together, lanes - first)});
  }
  return sum;
}

}  // namespace roofcast
