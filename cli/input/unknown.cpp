#include "cli/input/unknown.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/input/options.hpp"

namespace roofcast::cli {

Unknown Unknown::parse(std::string_view text) {
  const std::size_t equal = text.find('=');
  const std::size_t colon = text.find(':', equal);
  if (equal == 0 || equal == std::string_view::npos || colon == std::string_view::npos) {
    throw UsageError(
        "--find takes KEY=from:to, as n=1:65536 or memory/dram_bandwidth_bytes_per_s=1e12:8e12; "
        "found '{}'",
        text);
  }
  Unknown unknown;
  unknown.name_ = text.substr(0, equal);
  unknown.from_ = parse_real("--find", text.substr(equal + 1, colon - equal - 1));
  unknown.to_ = parse_real("--find", text.substr(colon + 1));
  if (!(unknown.from_ > 0 && unknown.from_ < unknown.to_)) {
    throw UsageError("--find {}: the range rises from above 0", text);
  }
  unknown.count();
  return unknown;
}

Unknown Unknown::around(std::string_view name, double value) {
  constexpr double kFactor = 16;
  Unknown unknown;
  unknown.name_ = name;
  const bool whole = whole_of(value).has_value();
  unknown.from_ = whole ? std::ceil(value / kFactor) : value / kFactor;
  unknown.to_ = value * kFactor;
  unknown.count();
  return unknown;
}

void Unknown::count() {
  const auto from = whole_of(from_);
  const auto to = whole_of(to_);
  whole_ = from && to;
  last_ = whole_ ? *to - *from : kFine;
}

std::string Unknown::at(std::int64_t position) const {
  if (whole_) return fmt::to_string(static_cast<std::int64_t>(from_) + position);
  if (position == last_) return fmt::format("{}", to_);
  const double share = static_cast<double>(position) / static_cast<double>(kFine);
  return fmt::format("{:.9g}", from_ * std::pow(to_ / from_, share));
}

std::vector<std::int64_t> Unknown::samples(std::int64_t most) const {
  std::vector<std::int64_t> positions;
  if (last_ < most) {
    for (std::int64_t i = 0; i <= last_; ++i) positions.push_back(i);
    return positions;
  }
  for (std::int64_t i = 0; i < most; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(most - 1);
    const double position =
        whole_ ? from_ * std::pow(to_ / from_, share) - from_ : share * static_cast<double>(last_);
    positions.push_back(std::min(last_, static_cast<std::int64_t>(std::llround(position))));
  }
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

}  // namespace roofcast::cli
