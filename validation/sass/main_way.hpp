#pragma once
// The main path through a kernel: that of a warp that moves only whole vectors.
#include <cstdint>
#include <span>

#include "validation/sass/loops.hpp"

namespace roofcast::sass {

/// Number of instructions outside of loops on the path from begin to EXIT with the most of the
/// widest accesses to global memory, the shortest of such paths. This path avoids the code that
/// handles edges element by element.
std::int64_t main_way_instructions(std::span<const Instruction> code, std::span<const Loop> loops);

}  // namespace roofcast::sass
