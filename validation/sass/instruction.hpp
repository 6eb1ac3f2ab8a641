#pragma once
// One machine instruction as cuobjdump -sass prints it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace roofcast::sass {

struct Instruction {
  std::uint64_t address = 0;            ///< bytes from the begin of the function
  std::string guard;                    ///< "P0", "!UP1"; empty: always executed
  std::string opcode;                   ///< with its modifiers: "LDG.E.128.CONSTANT"
  std::string operands;                 ///< as printed: "R12, desc[UR6][R4.64]"
  std::optional<std::uint64_t> target;  ///< address in the last operand, as in branches

  bool operator==(const Instruction&) const = default;
};

/// "LDG" of "LDG.E.128".
std::string_view base(std::string_view opcode);

/// Whether `word` is one of the modifiers, the dotted parts after the base.
bool has_modifier(std::string_view opcode, std::string_view word);

/// Parses "/*0130*/ @!P0 BRA 0xd0 ; /* 0x… */". Nothing for a line without an address: a header or
/// the second half of an encoding. Throws InputError for an address without an instruction.
std::optional<Instruction> parse_instruction(std::string_view line);

}  // namespace roofcast::sass
