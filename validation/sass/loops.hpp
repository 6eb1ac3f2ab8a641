#pragma once
// The loops of a function's machine code.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "validation/sass/instruction.hpp"

namespace roofcast::sass {

/// A natural loop: a branch back to a head that dominates it, and all blocks on paths from the head
/// to the branch, even if they lie far away.
struct Loop {
  std::uint64_t first = 0, last = 0;    ///< addresses of the head and of the last branch to it
  std::optional<std::size_t> parent{};  ///< innermost enclosing loop
  std::size_t depth = 1;
  /// Positions of its instructions, without those of inner loops.
  std::vector<std::size_t> own;
};

/// The loops by address of their heads. Loops that only wait for a barrier or serialize the lanes
/// of a warp are left out, since they normally run at most once: their instructions count to the
/// code around them.
std::vector<Loop> loops_of(std::span<const Instruction> code);

}  // namespace roofcast::sass
