#include "model/counting/coalescing.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <vector>

namespace roofcast {

// Offsets rise with the lane (stride ≥ 0), so a unit is new exactly when it lies past the last one.
// No unit fits between lanes that are closer than it is long.
std::int64_t distinct_units(const WarpAccess& access, std::int64_t unit_bytes) {
  if (access.lanes > 0 && access.stride_bytes - access.access_bytes < unit_bytes) {
    const std::int64_t end =
        access.offset_bytes + (access.lanes - 1) * access.stride_bytes + access.access_bytes;
    return (end - 1) / unit_bytes - access.offset_bytes / unit_bytes + 1;
  }
  std::int64_t count = 0;
  std::int64_t last = -1;
  for (std::int64_t lane = 0; lane < access.lanes; ++lane) {
    const std::int64_t first_byte = access.offset_bytes + lane * access.stride_bytes;
    const std::int64_t first = first_byte / unit_bytes;
    const std::int64_t end = (first_byte + access.access_bytes - 1) / unit_bytes;
    const std::int64_t fresh = first > last ? first : last + 1;
    if (end >= fresh) {
      count += end - fresh + 1;
      last = end;
    }
  }
  return count;
}

// A flag for each unit of the range that the accesses lie in, or, where that is long, their sorted
// numbers.
std::int64_t distinct_units(std::span<const std::int64_t> starts, std::int64_t access_bytes,
                            std::int64_t unit_bytes) {
  if (starts.empty()) return 0;
  const auto [least, most] = std::minmax_element(starts.begin(), starts.end());
  const std::int64_t lowest = *least / unit_bytes;
  const auto for_each_unit = [&](auto&& take) {
    for (const std::int64_t start : starts) {
      const std::int64_t end = (start + access_bytes - 1) / unit_bytes;
      for (std::int64_t unit = start / unit_bytes; unit <= end; ++unit) take(unit);
    }
  };
  constexpr std::size_t kMostFlags = 16384;
  if ((*most + access_bytes - 1) / unit_bytes - lowest < std::int64_t{kMostFlags}) {
    std::bitset<kMostFlags> touched;
    for_each_unit([&](std::int64_t unit) { touched.set(static_cast<std::size_t>(unit - lowest)); });
    return static_cast<std::int64_t>(touched.count());
  }
  std::vector<std::int64_t> units;
  units.reserve(starts.size());
  for_each_unit([&](std::int64_t unit) { units.push_back(unit); });
  std::sort(units.begin(), units.end());
  return std::unique(units.begin(), units.end()) - units.begin();
}

double expected_distinct(double units, double draws) {
  return units > 1 ? -units * std::expm1(draws * std::log1p(-1 / units)) : std::min(units, draws);
}

std::int64_t bank_wavefronts(const WarpAccess& access) {
  constexpr std::int64_t kWord = 4;
  constexpr std::size_t kBanks = 32;
  std::array<std::int64_t, kBanks> words{};
  std::int64_t last = -1;
  for (std::int64_t lane = 0; lane < access.lanes; ++lane) {
    const std::int64_t first_byte = access.offset_bytes + lane * access.stride_bytes;
    const std::int64_t end = (first_byte + access.access_bytes - 1) / kWord;
    for (std::int64_t word = std::max(last + 1, first_byte / kWord); word <= end; ++word) {
      ++words[static_cast<std::size_t>(word) % kBanks];
      last = word;
    }
  }
  return *std::max_element(words.begin(), words.end());
}

std::int64_t shared_wavefronts(std::int64_t stride_bytes, std::int64_t access_bytes,
                               std::int64_t offset_bytes, std::int64_t lanes) {
  const std::int64_t together = access_bytes > 8 ? kWarpLanes / 2 : kWarpLanes;
  std::int64_t sum = 0;
  for (std::int64_t first = 0; first < lanes; first += together) {
    sum += bank_wavefronts({.stride_bytes = stride_bytes,
                            .access_bytes = access_bytes,
                            .offset_bytes = offset_bytes + first * stride_bytes,
                            .lanes = std::min(together, lanes - first)});
  }
  return sum;
}

std::string waste_text(const std::string& pattern, double moved_bytes, double used_bytes) {
  const auto tenths = [](double value) {
    const auto n = static_cast<std::int64_t>(std::llround(value * 10));
    return std::to_string(n / 10) + (n % 10 != 0 ? '.' + std::to_string(n % 10) : "");
  };
  return pattern + ": " + tenths(moved_bytes) + " B moved for " + tenths(used_bytes) + " B used";
}

}  // namespace roofcast
