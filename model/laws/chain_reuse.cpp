#include "model/laws/chain_reuse.hpp"

#include <algorithm>
#include <optional>

#include "model/laws/feasibility.hpp"

namespace roofcast {
namespace {

double bytes_of(const Plan& plan, ArrayId array) {
  double bytes = 0;
  for (const ArrayUse& use : plan.arrays) {
    if (use.array == array) {
      bytes = std::max({bytes, use.footprint.read_bytes, use.footprint.write_bytes});
    }
  }
  return bytes;
}

bool uses(const Plan& plan, ArrayId array) {
  return std::any_of(plan.arrays.begin(), plan.arrays.end(),
                     [array](const ArrayUse& use) { return use.array == array; });
}

std::optional<std::size_t> last_user(const LaunchSequence& program, std::size_t position,
                                     ArrayId array) {
  while (position-- > 0) {
    if (uses(program[position].plan, array)) return position;
  }
  return std::nullopt;
}

// Bytes through L2 between the last use of `array`, at node `last` or before the first node, and
// node `position`; each array once.
double distance_bytes(const LaunchSequence& program, std::optional<std::size_t> last,
                      std::size_t position, ArrayId array) {
  const std::size_t first = last.value_or(0);
  std::vector<ArrayId> seen;
  double distance = 0;
  for (std::size_t i = first; i <= position; ++i) {
    for (const ArrayUse& use : program[i].plan.arrays) {
      if (std::find(seen.begin(), seen.end(), use.array) != seen.end()) continue;
      seen.push_back(use.array);
      bool between = false;
      double bytes = 0;
      for (std::size_t j = first; j <= position; ++j) {
        const double here = bytes_of(program[j].plan, use.array);
        between |= (!last || j > *last) && j < position && here > 0;
        bytes = std::max(bytes, here);
      }
      const bool before = last ? uses(program[*last].plan, use.array) : use.array == array;
      const bool both = before && uses(program[position].plan, use.array);
      distance += between || both ? bytes : bytes / 2;
    }
  }
  return distance;
}

}  // namespace

bool used_before(const LaunchSequence& program, std::size_t position, ArrayId array) {
  return last_user(program, position, array).has_value();
}

std::vector<ChainReuse> chain_reuse(const LaunchSequence& program, std::size_t position,
                                    CacheState cache) {
  std::vector<ChainReuse> found;
  std::optional<double> round;  // where the same data come round, all of it
  if (cache == CacheState::repeated) round = memory_bytes(program);
  for (const ArrayUse& use : program[position].plan.arrays) {
    const auto last = last_user(program, position, use.array);
    const auto& returns = use.returns_after_bytes ? use.returns_after_bytes : round;
    if (!last && cache != CacheState::cold && returns) {
      found.push_back({use.footprint, *returns, true});
      continue;
    }
    const bool warm = cache == CacheState::warm && use.activation;
    if (!last && !warm) continue;
    found.push_back({use.footprint, distance_bytes(program, last, position, use.array), !last});
  }
  return found;
}

}  // namespace roofcast
