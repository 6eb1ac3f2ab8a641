#pragma once
// The loops of a function's machine code.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "validation/sass/instruction.hpp"

namespace roofcast::sass {

/// A natural loop: a branch back to an instruction that every way to the branch has passed, and
/// what leads from there to the branch. Blocks far off that come back belong to it.
struct Loop {
  std::uint64_t first = 0, last = 0;    ///< addresses of the head and of the last branch back to it
  std::optional<std::size_t> parent{};  ///< the innermost loop around it
  std::size_t depth = 1;
  /// Instructions by position, those of loops inside left out.
  std::vector<std::size_t> own;
};

/// By the addresses of their heads. Loops that only wait for a barrier or that serialize the lanes
/// of a warp run once or not at all where nothing is late: their instructions are those around
/// them.
std::vector<Loop> loops_of(std::span<const Instruction> code);

}  // namespace roofcast::sass
