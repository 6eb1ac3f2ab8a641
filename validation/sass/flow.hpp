#pragma once
// The control flow graph: basic blocks and dominators.
#include <cstddef>
#include <span>
#include <vector>

#include "validation/sass/instruction.hpp"

namespace roofcast::sass {

struct Block {
  std::size_t first = 0, end = 0;  ///< positions of instructions; `end` is exclusive
  std::vector<std::size_t> next, before;
};

/// The basic blocks in address order. A call is assumed to return and adds no edge to its function.
/// A branch through a table (BRX, JMX) has edges to the blocks that nothing else reaches.
std::vector<Block> blocks_of(std::span<const Instruction> code);

class Dominators {
 public:
  explicit Dominators(std::span<const Block> blocks);

  /// Whether every path to `later` passes `earlier`. A block dominates itself.
  bool dominates(std::size_t earlier, std::size_t later) const;

 private:
  void order_from(std::size_t root, std::span<const Block> blocks);
  std::size_t nearest_common(std::size_t a, std::size_t b) const;

  std::vector<std::size_t> order_;   ///< blocks in postorder
  std::vector<std::size_t> number_;  ///< of a block in order_; the virtual root has the highest
  std::vector<std::size_t> parent_;  ///< immediate dominator, by number
};

}  // namespace roofcast::sass
