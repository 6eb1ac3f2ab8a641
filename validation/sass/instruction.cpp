#include "validation/sass/instruction.hpp"

#include <algorithm>
#include <charconv>

#include "model/types/problem.hpp"

namespace roofcast::sass {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::optional<std::uint64_t> hexadecimal(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// Takes the leading address, "/*0130*/"; an encoding has a blank after the slash and star.
std::optional<std::uint64_t> take_address(std::string_view& line) {
  if (!line.starts_with("/*")) return std::nullopt;
  const std::size_t end = line.find("*/");
  if (end == std::string_view::npos) return std::nullopt;
  const auto address = hexadecimal(line.substr(2, end - 2));
  if (address) line = trimmed(line.substr(end + 2));
  return address;
}

std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

bool is_opcode(std::string_view word) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  return !word.empty() && word.front() >= 'A' && word.front() <= 'Z' &&
         std::all_of(word.begin(), word.end(), is_letter);
}

std::optional<std::uint64_t> target_of(std::string_view operands) {
  const std::size_t comma = operands.rfind(',');
  const std::string_view last =
      trimmed(comma == std::string_view::npos ? operands : operands.substr(comma + 1));
  if (!last.starts_with("0x")) return std::nullopt;
  return hexadecimal(last.substr(2));
}

}  // namespace

std::string_view base(std::string_view opcode) {
  return opcode.substr(0, opcode.find('.'));
}

bool has_modifier(std::string_view opcode, std::string_view word) {
  std::size_t dot = opcode.find('.');
  while (dot != std::string_view::npos) {
    const std::size_t next = opcode.find('.', dot + 1);
    if (opcode.substr(dot + 1, next - dot - 1) == word) return true;
    dot = next;
  }
  return false;
}

std::optional<Instruction> parse_instruction(std::string_view line) {
  line = trimmed(line);
  const auto address = take_address(line);
  if (!address) return std::nullopt;
  Instruction result;
  result.address = *address;
  std::string_view rest = trimmed(line.substr(0, line.find(';')));
  std::string_view word = take_word(rest);
  if (word.starts_with('@')) {
    result.guard = word.substr(1);
    word = take_word(rest);
  }
  if (!is_opcode(word)) {
    throw InputError("no instruction stands after its address in '" +
                     std::string(line.substr(0, 60)) + "'");
  }
  result.opcode = word;
  result.operands = rest;
  result.target = target_of(rest);
  return result;
}

}  // namespace roofcast::sass
