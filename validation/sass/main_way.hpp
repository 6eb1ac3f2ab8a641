#pragma once
// What a warp that has whole vectors to move goes through, outside of loops.
#include <cstdint>
#include <span>

#include "validation/sass/loops.hpp"

namespace roofcast::sass {

/// Instructions outside of loops on the way from begin to end that makes most of the widest
/// accesses to global memory: of such ways the shortest. It leaves out what handles edges, element
/// by element.
std::int64_t main_way_instructions(std::span<const Instruction> code, std::span<const Loop> loops);

}  // namespace roofcast::sass
