#include "cli/output/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace roofcast::cli {

std::string with_prefix(double value, std::string_view unit) {
  struct Prefix {
    double scale;
    std::string_view sign;
  };
  constexpr std::array<Prefix, 10> prefixes = {{{1e18, "E"},
                                                {1e15, "P"},
                                                {1e12, "T"},
                                                {1e9, "G"},
                                                {1e6, "M"},
                                                {1e3, "k"},
                                                {1, ""},
                                                {1e-3, "m"},
                                                {1e-6, "µ"},
                                                {1e-9, "n"}}};
  if (!std::isfinite(value)) return "–";
  if (value == 0) return fmt::format("0 {}", unit);
  // Half a unit of the fourth digit below a prefix rounds up into it: 999.96 kB is 1 MB.
  constexpr double kRounding = 1 - 5e-5;
  for (const auto& [scale, sign] : prefixes) {
    if (std::abs(value) >= scale * kRounding) {
      return fmt::format("{:.4g} {}{}", value / scale, sign, unit);
    }
  }
  return fmt::format("{:.4g} {}", value, unit);
}

std::string binary_bytes(double bytes) {
  constexpr double kKibi = 1024;
  if (bytes >= kKibi * kKibi) return fmt::format("{:.4g} MiB", bytes / (kKibi * kKibi));
  if (bytes >= kKibi) return fmt::format("{:.4g} KiB", bytes / kKibi);
  return fmt::format("{:.4g} B", bytes);
}

std::string percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.1f}%", share * 100) : "–";
}

std::string plain_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–";
}

}  // namespace roofcast::cli
