#include "model/types/did_you_mean.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace roofcast {
namespace {

// Levenshtein (1966), one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view closest(std::string_view typo, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t least = typo.size() + 1;
  for (const std::string_view word : known) {
    const std::size_t distance = edit_distance(typo, word);
    const std::size_t allowed = std::max<std::size_t>(1, std::max(typo.size(), word.size()) / 3);
    if (distance < least && distance <= allowed) {
      least = distance;
      nearest = word;
    }
  }
  return nearest;
}

}  // namespace roofcast
