#include "validation/sass/flow.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace roofcast::sass {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

bool is_one_of(std::string_view opcode, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), base(opcode)) != words.end();
}

bool leaves(const Instruction& instruction) {
  return is_one_of(instruction.opcode,
                   {"EXIT", "RET", "BRX", "BRXU", "JMX", "JMXU", "KILL", "BSYNC", "BRA", "JMP"});
}

/// Whether the next instruction may be executed next: after a conditional branch, and after any
/// instruction that does not branch.
bool may_fall_through(const Instruction& instruction) {
  if (!leaves(instruction)) return true;
  if (!instruction.guard.empty()) return true;
  const bool has_condition = instruction.operands.find(',') != std::string::npos;
  return is_one_of(instruction.opcode, {"BRA", "JMP"}) && has_condition;
}

/// Addresses where the threads of a barrier reconverge, from BSSY, by the barrier's name.
using Meetings = std::multimap<std::string, std::uint64_t, std::less<>>;

std::string barrier_of(const Instruction& instruction) {
  return instruction.operands.substr(0, instruction.operands.find(','));
}

class BlockBuilder {
 public:
  explicit BlockBuilder(std::span<const Instruction> code) : code_(code) {
    for (const Instruction& one : code) {
      if (base(one.opcode) == "BSSY" && one.target) meetings_.emplace(barrier_of(one), *one.target);
    }
  }

  std::vector<Block> build() {
    cut();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      for (const std::size_t to : successors(code_[blocks_[i].end - 1], blocks_[i].end)) {
        auto& next = blocks_[i].next;
        if (std::find(next.begin(), next.end(), to) != next.end()) continue;
        next.push_back(to);
        blocks_[to].before.push_back(i);
      }
    }
    lead_tables();
    return std::move(blocks_);
  }

 private:
  void mark_reached(std::size_t root, std::vector<bool>& reached) const {
    std::vector<std::size_t> open = {root};
    reached[root] = true;
    while (!open.empty()) {
      const std::size_t block = open.back();
      open.pop_back();
      for (const std::size_t to : blocks_[block].next) {
        if (reached[to]) continue;
        reached[to] = true;
        open.push_back(to);
      }
    }
  }

  /// The listing has no targets for a branch through a table: a block that nothing else reaches
  /// becomes a target of the nearest such branch before it.
  void lead_tables() {
    std::vector<bool> reached(blocks_.size(), false);
    mark_reached(0, reached);
    for (const Instruction& one : code_) {
      if (base(one.opcode) != "CALL" || !one.target) continue;
      const std::size_t to = index_of(*one.target);
      if (to != kNone && !reached[block_at_[to]]) mark_reached(block_at_[to], reached);
    }
    std::size_t table = kNone;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (!reached[i]) {
        if (table != kNone) {
          blocks_[table].next.push_back(i);
          blocks_[i].before.push_back(table);
        }
        mark_reached(i, reached);
      }
      if (is_one_of(code_[blocks_[i].end - 1].opcode, {"BRX", "BRXU", "JMX", "JMXU"})) table = i;
    }
  }

  void cut() {
    std::vector<bool> begins(code_.size() + 1, false);
    begins[0] = true;
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (leaves(code_[i])) begins[i + 1] = true;
      if (!code_[i].target) continue;
      const std::size_t to = index_of(*code_[i].target);
      if (to != kNone) begins[to] = true;
    }
    block_at_.assign(code_.size(), kNone);
    for (std::size_t i = 0; i < code_.size(); ++i) {
      if (begins[i]) blocks_.push_back({i, i, {}, {}});
      block_at_[i] = blocks_.size() - 1;
      blocks_.back().end = i + 1;
    }
  }

  std::size_t index_of(std::uint64_t address) const {
    const auto at = std::lower_bound(
        code_.begin(), code_.end(), address,
        [](const Instruction& one, std::uint64_t wanted) { return one.address < wanted; });
    if (at == code_.end() || at->address != address) return kNone;
    return static_cast<std::size_t>(at - code_.begin());
  }

  std::vector<std::size_t> successors(const Instruction& last, std::size_t following) const {
    std::vector<std::size_t> to;
    const auto add = [&](std::size_t instruction) {
      if (instruction < code_.size()) to.push_back(block_at_[instruction]);
    };
    if (may_fall_through(last)) add(following);
    if (is_one_of(last.opcode, {"BRA", "JMP"}) && last.target) add(index_of(*last.target));
    if (is_one_of(last.opcode, {"BSYNC"})) {
      for (const std::size_t meeting : meetings_of(last, following)) add(meeting);
    }
    return to;
  }

  /// Where execution continues after BSYNC: the next instruction if a BSSY of the barrier names it,
  /// else all that its BSSYs name.
  std::vector<std::size_t> meetings_of(const Instruction& sync, std::size_t following) const {
    std::vector<std::size_t> found;
    const auto [begin, end] = meetings_.equal_range(barrier_of(sync));
    for (auto at = begin; at != end; ++at) {
      const std::size_t to = index_of(at->second);
      if (to == following) return {following};
      found.push_back(to);
    }
    if (found.empty()) found.push_back(following);
    return found;
  }

  std::span<const Instruction> code_;
  Meetings meetings_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> block_at_;  ///< block of each instruction
};

}  // namespace

std::vector<Block> blocks_of(std::span<const Instruction> code) {
  if (code.empty()) return {};
  return BlockBuilder(code).build();
}

// Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm". A virtual root precedes the
// first block and each block that earlier ones do not reach.
Dominators::Dominators(std::span<const Block> blocks)
    : number_(blocks.size(), kNone), parent_(blocks.size() + 1, kNone) {
  std::vector<bool> begins(blocks.size(), false);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (number_[i] != kNone) continue;
    begins[i] = true;
    order_from(i, blocks);
  }
  const std::size_t root = blocks.size();
  parent_[root] = root;
  bool changed = true;
  while (changed) {
    changed = false;
    for (std::size_t number = root; number-- > 0;) {
      const std::size_t block = order_[number];
      std::size_t nearest = begins[block] ? root : kNone;
      for (const std::size_t before : blocks[block].before) {
        const std::size_t other = number_[before];
        if (parent_[other] == kNone) continue;
        nearest = nearest == kNone ? other : nearest_common(nearest, other);
      }
      if (nearest == parent_[number]) continue;
      parent_[number] = nearest;
      changed = true;
    }
  }
}

void Dominators::order_from(std::size_t root, std::span<const Block> blocks) {
  struct Visit {
    std::size_t block, child;
  };
  constexpr std::size_t entered = kNone - 1;
  std::vector<Visit> stack = {{root, 0}};
  number_[root] = entered;
  while (!stack.empty()) {
    auto& [block, child] = stack.back();
    if (child < blocks[block].next.size()) {
      const std::size_t to = blocks[block].next[child++];
      if (number_[to] != kNone) continue;
      number_[to] = entered;
      stack.push_back({to, 0});
    } else {
      number_[block] = order_.size();
      order_.push_back(block);
      stack.pop_back();
    }
  }
}

std::size_t Dominators::nearest_common(std::size_t a, std::size_t b) const {
  while (a != b) {
    if (a < b) {
      a = parent_[a];
    } else {
      b = parent_[b];
    }
  }
  return a;
}

bool Dominators::dominates(std::size_t earlier, std::size_t later) const {
  std::size_t at = number_[later];
  while (at < number_[earlier]) at = parent_[at];
  return at == number_[earlier];
}

}  // namespace roofcast::sass
