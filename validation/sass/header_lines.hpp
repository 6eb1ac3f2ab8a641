#pragma once
// Header lines of cuobjdump, the same in listings and in resource usage.
#include <optional>
#include <string_view>

namespace roofcast::sass {

/// The rest of a line that begins with `key`, without surrounding blanks; nothing for other lines.
inline std::optional<std::string_view> after(std::string_view line, std::string_view key) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = line.find_first_not_of(blanks);
  if (begin == std::string_view::npos || !line.substr(begin).starts_with(key)) return std::nullopt;
  line.remove_prefix(begin + key.size());
  const std::size_t end = line.find_last_not_of(blanks);
  return line.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

/// Whether the line begins a binary with machine code; a cubin has no such line.
inline bool is_binary_header(std::string_view line) {
  return after(line, "Fatbin elf code:").has_value();
}

}  // namespace roofcast::sass
