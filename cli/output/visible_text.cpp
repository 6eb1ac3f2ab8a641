#include "cli/output/visible_text.hpp"

#include <fmt/format.h>

#include <iterator>

#include "cli/output/utf8.hpp"

namespace roofcast::cli {
namespace {

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

/// The code point of a valid UTF-8 character of two or three bytes.
unsigned code_point(std::string_view letter) {
  const auto low_bits = [&](std::size_t i) {
    return static_cast<unsigned char>(letter[i]) & 0x3fU;
  };
  const unsigned first = static_cast<unsigned char>(letter[0]);
  if (letter.size() == 2) return (first & 0x1fU) << 6 | low_bits(1);
  return (first & 0x0fU) << 12 | low_bits(1) << 6 | low_bits(2);
}

/// Whether a terminal obeys the code point: C1 controls, line and paragraph separators, and the
/// marks of the Unicode bidirectional algorithm (UAX #9), which can make a text read as another.
bool is_obeyed(unsigned code) {
  return (code >= 0x80 && code <= 0x9f) || code == 0x61c || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string visible(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  const auto out = std::back_inserter(shown);
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view letter = text.substr(0, length > 0 ? length : 1);
    text.remove_prefix(letter.size());
    const auto byte = static_cast<unsigned char>(letter[0]);
    const bool stays = kept.find(letter[0]) != std::string_view::npos;
    if (letter == "\n" && !stays) {
      shown += "\\n";
    } else if (letter == "\t" && !stays) {
      shown += "\\t";
    } else if ((length == 0 || is_control(letter[0])) && !stays) {
      fmt::format_to(out, "\\x{:02x}", byte);
    } else if ((length == 2 || length == 3) && is_obeyed(code_point(letter))) {
      fmt::format_to(out, "\\u{:04x}", code_point(letter));
    } else {
      shown += letter;
    }
  }
  return shown;
}

}  // namespace roofcast::cli
