#include "reports/text.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace roofcast::reports {

std::string si(double value, std::string_view unit) {
  if (!std::isfinite(value)) return "–";
  struct Prefix {
    double factor;
    std::string_view symbol;
  };
  constexpr std::array<Prefix, 10> prefixes = {{{1e-12, "p"},
                                                {1e-9, "n"},
                                                {1e-6, "µ"},
                                                {1e-3, "m"},
                                                {1, ""},
                                                {1e3, "k"},
                                                {1e6, "M"},
                                                {1e9, "G"},
                                                {1e12, "T"},
                                                {1e15, "P"}}};
  const Prefix* prefix = &prefixes[4];
  if (value != 0) {
    prefix = &prefixes.front();
    for (const Prefix& p : prefixes) {
      // 999.6 would be written as 1e+03: three digits round up to the next prefix from 999.5.
      if (std::abs(value) >= 0.9995 * p.factor) prefix = &p;
    }
  }
  const double scaled = value / prefix->factor;
  const int decimals = std::abs(scaled) >= 99.95 ? 0 : std::abs(scaled) >= 9.995 ? 1 : 2;
  std::string digits = fmt::format("{:.{}f}", scaled, decimals);
  if (decimals > 0) {
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
  }
  if (prefix->symbol.empty() && unit.empty()) return digits;
  return fmt::format("{} {}{}", digits, prefix->symbol, unit);
}

std::string percent(double fraction) {
  if (!std::isfinite(fraction)) return "–";
  return fmt::format("{:.1f}%", 100 * fraction);
}

std::string signed_percent(double fraction) {
  if (!std::isfinite(fraction)) return "–";
  const std::string digits = percent(std::abs(fraction));
  if (digits == "0.0%") return digits;
  return (fraction < 0 ? "−" : "+") + digits;
}

std::string escape_html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string script_json(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    // "</script" and "<!--" end or change a script element wherever they stand.
    if (c == '<') {
      escaped += "\\u003c";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string json_text(const Json& value) {
  return value.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace roofcast::reports
