#include "model/laws/chain_reuse.hpp"

#include <algorithm>
#include <optional>
#include <span>

#include "model/laws/feasibility.hpp"

namespace roofcast {
namespace {

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
    const std::size_t from = last.value_or(0);
    const double since = memory_bytes(std::span(program).subspan(from, position + 1 - from));
    found.push_back({use.footprint, since, !last});
  }
  return found;
}

}  // namespace roofcast
