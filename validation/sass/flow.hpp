#pragma once
// How control passes from instruction to instruction: basic blocks, and which dominates which.
#include <cstddef>
#include <span>
#include <vector>

#include "validation/sass/instruction.hpp"

namespace roofcast::sass {

struct Block {
  std::size_t first = 0, end = 0;  ///< instructions
  std::vector<std::size_t> next, before;
};

/// In order of their addresses. Calls come back, and the functions that they call begin anew. A
/// branch through a table leads to what nothing else reaches.
std::vector<Block> blocks_of(std::span<const Instruction> code);

class Dominators {
 public:
  explicit Dominators(std::span<const Block> blocks);

  /// Whether every way to `later` passes `earlier`. A block dominates itself.
  bool dominates(std::size_t earlier, std::size_t later) const;

 private:
  void order_from(std::size_t root, std::span<const Block> blocks);
  std::size_t nearest_common(std::size_t a, std::size_t b) const;

  std::vector<std::size_t> order_;   ///< blocks, each after those that it leads to
  std::vector<std::size_t> number_;  ///< of a block in order_; the root of all has the highest
  std::vector<std::size_t> parent_;  ///< nearest dominator, by number
};

}  // namespace roofcast::sass
