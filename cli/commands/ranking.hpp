#pragma once
// Sorts the answers for several GPUs by time, cost or energy.
#include <vector>

#include "cli/commands/variants.hpp"
#include "cli/input/prices.hpp"

namespace roofcast::cli {

/// Adds cost and energy to each row if the ranking asks for them, then sorts the answers, and the
/// variants in each, by the ranking. An answer's best row decides its rank; answers without the
/// figure come last, in the order asked. Returns the GPUs that lack a price, if any price is given.
std::vector<std::string> rank(std::vector<Answered>& answers, const Ranking& ranking);

}  // namespace roofcast::cli
