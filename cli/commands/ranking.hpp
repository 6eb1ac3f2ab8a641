#pragma once
// The answers for several GPUs in the order that a person buys by.
#include <vector>

#include "cli/commands/variants.hpp"
#include "cli/input/prices.hpp"

namespace roofcast::cli {

/// Tells what each row costs and takes, and sorts the answers, and the variants in each, by the
/// ranking: an answer stands where its best row does. What has no such figure stands last, in the
/// order asked. The names of GPUs without a price are returned.
std::vector<std::string> rank(std::vector<Answered>& answers, const Ranking& ranking);

}  // namespace roofcast::cli
