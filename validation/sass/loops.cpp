#include "validation/sass/loops.hpp"

#include <algorithm>
#include <map>

#include "validation/sass/flow.hpp"

namespace roofcast::sass {
namespace {

/// A loop as blocks; `inside` has an entry for each block of the function.
struct BlockLoop {
  std::size_t head = 0;
  std::uint64_t last = 0;
  bool serial = false;  ///< every branch back has the modifier ANY: lanes are left
  std::vector<bool> inside;
  std::size_t blocks = 0;
};

/// Adds the blocks from which `tail` is reached without passing the head.
void grow(BlockLoop& loop, std::size_t tail, std::span<const Block> blocks) {
  std::vector<std::size_t> open;
  const auto add = [&](std::size_t block) {
    if (loop.inside[block]) return;
    loop.inside[block] = true;
    ++loop.blocks;
    open.push_back(block);
  };
  add(tail);
  while (!open.empty()) {
    const std::size_t block = open.back();
    open.pop_back();
    for (const std::size_t before : blocks[block].before) add(before);
  }
}

std::vector<BlockLoop> block_loops(std::span<const Instruction> code,
                                   std::span<const Block> blocks) {
  const Dominators dominators(blocks);
  std::map<std::size_t, BlockLoop> by_head;
  for (std::size_t tail = 0; tail < blocks.size(); ++tail) {
    for (const std::size_t head : blocks[tail].next) {
      if (!dominators.dominates(head, tail)) continue;
      BlockLoop& loop = by_head[head];
      if (loop.inside.empty()) {
        loop.head = head;
        loop.serial = true;
        loop.inside.assign(blocks.size(), false);
        loop.inside[head] = true;
        loop.blocks = 1;
      }
      const Instruction& branch = code[blocks[tail].end - 1];
      loop.last = std::max(loop.last, branch.address);
      loop.serial = loop.serial && has_modifier(branch.opcode, "ANY");
      grow(loop, tail, blocks);
    }
  }
  std::vector<BlockLoop> loops;
  loops.reserve(by_head.size());
  for (auto& [head, loop] : by_head) loops.push_back(std::move(loop));
  return loops;
}

/// Whether it is a short loop around a sleep or an attempt at a barrier or at registers.
bool waits(const BlockLoop& loop, std::span<const Instruction> code,
           std::span<const Block> blocks) {
  constexpr std::size_t most = 16;
  std::size_t instructions = 0;
  bool tries = false;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    if (!loop.inside[block]) continue;
    for (std::size_t i = blocks[block].first; i < blocks[block].end; ++i) {
      const std::string_view what = base(code[i].opcode);
      tries = tries || what == "NANOSLEEP" || has_modifier(code[i].opcode, "TRYWAIT") ||
              has_modifier(code[i].opcode, "TRY_ALLOC");
      ++instructions;
    }
  }
  return tries && instructions <= most;
}

/// The smallest loop that contains the block, other than `except`.
std::optional<std::size_t> innermost(std::span<const BlockLoop> loops, std::size_t block,
                                     std::optional<std::size_t> except = std::nullopt) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (i == except || !loops[i].inside[block]) continue;
    if (!found || loops[i].blocks < loops[*found].blocks) found = i;
  }
  return found;
}

}  // namespace

std::vector<Loop> loops_of(std::span<const Instruction> code) {
  const std::vector<Block> blocks = blocks_of(code);
  std::vector<BlockLoop> found = block_loops(code, blocks);
  std::erase_if(found,
                [&](const BlockLoop& loop) { return loop.serial || waits(loop, code, blocks); });
  std::vector<Loop> loops(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    loops[i].first = code[blocks[found[i].head].first].address;
    loops[i].last = found[i].last;
    loops[i].parent = innermost(found, found[i].head, i);
  }
  for (Loop& loop : loops) {
    for (auto parent = loop.parent; parent; parent = loops[*parent].parent) ++loop.depth;
  }
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    const auto at = innermost(found, block);
    if (!at) continue;
    for (std::size_t i = blocks[block].first; i < blocks[block].end; ++i)
      loops[*at].own.push_back(i);
  }
  return loops;
}

}  // namespace roofcast::sass
