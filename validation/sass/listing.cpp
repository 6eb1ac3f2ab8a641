#include "validation/sass/listing.hpp"

#include <algorithm>

#include "model/types/problem.hpp"
#include "validation/sass/header_lines.hpp"

namespace roofcast::sass {
namespace {

bool jumps_to_itself(const Instruction& instruction) {
  return base(instruction.opcode) == "BRA" && instruction.guard.empty() &&
         instruction.target == instruction.address;
}

/// The assembler ends a function with a branch to itself and pads it with NOPs.
void remove_padding(std::vector<Instruction>& code) {
  while (!code.empty() && base(code.back().opcode) == "NOP") code.pop_back();
  if (!code.empty() && jumps_to_itself(code.back())) code.pop_back();
}

}  // namespace

void ListingReader::line(std::string_view text) {
  ++lines_;
  if (is_binary_header(text)) {
    finish();
    ++binaries_;
    architecture_.clear();
  } else if (const auto architecture = after(text, "code for ")) {
    finish();
    architecture_ = *architecture;
  } else if (const auto symbol = after(text, "Function : ")) {
    begin_function(*symbol);
  } else if (kept_ || !open_) {
    try {
      if (auto instruction = parse_instruction(text)) add(std::move(*instruction));
    } catch (const InputError& error) {
      fail(error.what());
    }
  }
}

void ListingReader::begin_function(std::string_view symbol) {
  finish();
  if (symbol.empty()) fail("a function has no name");
  function_.name = {std::max<std::int64_t>(binaries_ - 1, 0), architecture_, std::string(symbol)};
  open_ = true;
  kept_ = wanted_(function_.name);
}

void ListingReader::add(Instruction instruction) {
  if (!open_) fail("an instruction stands outside of a function");
  if (!function_.code.empty() && instruction.address <= function_.code.back().address) {
    fail("the addresses of " + function_.name.symbol + " do not ascend");
  }
  function_.code.push_back(std::move(instruction));
}

void ListingReader::finish() {
  if (open_ && kept_) {
    remove_padding(function_.code);
    sink_(std::move(function_));
  }
  function_ = {};
  open_ = kept_ = false;
}

void ListingReader::fail(const std::string& what) const {
  throw InputError("line " + std::to_string(lines_) + " of the disassembly: " + what);
}

}  // namespace roofcast::sass
