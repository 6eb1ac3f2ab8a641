#include "validation/sass/main_way.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "validation/sass/flow.hpp"
#include "validation/sass/operations.hpp"

namespace roofcast::sass {
namespace {

/// Counts of a path or a part of it.
struct Way {
  std::int64_t accesses = 0;
  std::int64_t instructions = 0;
};
Way operator+(const Way& a, const Way& b) {
  return {a.accesses + b.accesses, a.instructions + b.instructions};
}
bool better(const Way& a, const Way& b) {
  return a.accesses != b.accesses ? a.accesses > b.accesses : a.instructions < b.instructions;
}

std::int64_t global_bytes(const Instruction& instruction) {
  const auto access = access_of(instruction);
  return access && access->space == Space::global ? access->bytes : 0;
}

class Ways {
 public:
  Ways(std::span<const Instruction> code, std::span<const Loop> loops)
      : code_(code), blocks_(blocks_of(code)), looped_(code.size(), false) {
    for (const Loop& loop : loops) {
      for (const std::size_t i : loop.own) looped_[i] = true;
    }
    for (const Instruction& one : code) widest_ = std::max(widest_, global_bytes(one));
    rest_.resize(blocks_.size());
    state_.resize(blocks_.size(), State::unknown);
  }

  /// The best path from the block's begin to an EXIT; nothing if all paths only lead back.
  std::optional<Way> rest(std::size_t block) {
    if (state_[block] == State::open) return std::nullopt;  // a branch back
    if (state_[block] == State::known) return rest_[block];
    state_[block] = State::open;
    std::optional<Way> best;
    const auto take = [&best](const std::optional<Way>& way) {
      if (way && (!best || better(*way, *best))) best = way;
    };
    if (base(code_[blocks_[block].end - 1].opcode) == "EXIT") take(Way{});
    for (const std::size_t next : blocks_[block].next) take(rest(next));
    if (best) best = *best + own(block);
    state_[block] = State::known;
    return rest_[block] = best;
  }

 private:
  enum class State : unsigned char { unknown, open, known };

  Way own(std::size_t block) const {
    Way sum;
    for (std::size_t i = blocks_[block].first; i < blocks_[block].end; ++i) {
      if (widest_ > 0 && global_bytes(code_[i]) == widest_) ++sum.accesses;
      if (!looped_[i]) ++sum.instructions;
    }
    return sum;
  }

  std::span<const Instruction> code_;
  std::vector<Block> blocks_;
  std::vector<bool> looped_;
  std::int64_t widest_ = 0;
  std::vector<std::optional<Way>> rest_;
  std::vector<State> state_;
};

}  // namespace

std::int64_t main_way_instructions(std::span<const Instruction> code, std::span<const Loop> loops) {
  if (code.empty()) return 0;
  const auto way = Ways(code, loops).rest(0);
  return way ? way->instructions : 0;
}

}  // namespace roofcast::sass
