#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/counting/integers.hpp"
#include "model/libraries/experts.hpp"

namespace roofcast::experts {
namespace {

using Rows = std::vector<std::int64_t>;

double sum_of(const Rows& rows) {
  return as_double(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}));
}

std::int64_t experts_of_gpu(const Routed& routed) {
  return std::max<std::int64_t>(1, routed.experts / routed.gpus);
}

Rows balanced(const Routed& routed) {
  const std::int64_t count = routed.experts, tokens = routed.tokens;
  const std::int64_t apart = ceil_div(count, routed.per_token);
  const auto at = [](Rows & rows, std::int64_t i) -> auto& {
    return rows[static_cast<std::size_t>(i)];
  };
  Rows first(static_cast<std::size_t>(count));  // tokens by the first of their experts
  if (tokens < apart) {
    for (std::int64_t token = 0; token < tokens; ++token) ++at(first, token * apart / tokens);
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      at(first, i) = tokens / count + (i < tokens % count ? 1 : 0);
    }
  }
  Rows rows(static_cast<std::size_t>(experts_of_gpu(routed)));
  for (std::int64_t choice = 0; choice < routed.per_token; ++choice) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t from = (static_cast<std::int64_t>(i) - choice * apart) % count;
      rows[i] += at(first, from < 0 ? from + count : from);
    }
  }
  return rows;
}

// A number between 0 and 1 for each index: SplitMix64 (Steele, Lea and Flood 2014).
double uniform(std::uint64_t index) {
  std::uint64_t bits = (index + 1) * 0x9E3779B97F4A7C15U;
  bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
  bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
  bits ^= bits >> 31U;
  constexpr double kUnit = 1.0 / 9007199254740992.0;  // 2^-53
  return static_cast<double>(bits >> 11U) * kUnit;
}

// Whole rows of each expert that add up to all choices.
Rows drawn(const Routed& routed, std::int64_t draw) {
  const double tokens = as_double(routed.tokens);
  const double choices = tokens * as_double(routed.per_token);
  const double power = 1 - (routed.routing == Routing::power_law_101 ? 1.01 : 1.2);
  const bool many = choices > as_double(routed.experts);
  const double low = std::pow(many ? 1 : 0.01, power);
  const double high = std::pow(many ? 0.8 * tokens : 2, power);
  std::vector<double> wanted(static_cast<std::size_t>(routed.experts));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto index = static_cast<std::uint64_t>(draw * routed.experts) + i;
    wanted[i] = std::pow((high - low) * uniform(index) + low, 1 / power);
  }
  const double scale = choices / std::accumulate(wanted.begin(), wanted.end(), 0.0);
  for (double& one : wanted) one *= scale;
  // No expert has a token twice: what is over goes to the others, which it may fill in turn.
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    double full = 0, rest = 0;
    for (const double one : wanted) (one >= tokens ? full : rest) += std::min(one, tokens);
    for (double& one : wanted) one = one >= tokens ? tokens : one * (choices - full) / rest;
  }
  Rows rows;
  rows.reserve(wanted.size());
  double until = 0;
  for (const double one : wanted) {
    const double before = std::round(until);
    until += one;
    rows.push_back(static_cast<std::int64_t>(std::round(until) - before));
  }
  return rows;
}

// The rows of the GPU that has the most.
Rows busiest(const Rows& all, std::int64_t local) {
  Rows best;
  for (auto from = all.begin(); all.end() - from >= local; from += local) {
    Rows one(from, from + local);
    if (best.empty() || sum_of(one) > sum_of(best)) best = std::move(one);
  }
  return best;
}

Rows typical_draw(const Routed& routed) {
  constexpr std::int64_t kDraws = 12;
  std::vector<Rows> draws;
  double mean = 0;
  for (std::int64_t draw = 0; draw < kDraws; ++draw) {
    draws.push_back(busiest(drawn(routed, draw), experts_of_gpu(routed)));
    mean += sum_of(draws.back()) / as_double(kDraws);
  }
  return *std::min_element(draws.begin(), draws.end(), [mean](const Rows& left, const Rows& right) {
    return std::abs(sum_of(left) - mean) < std::abs(sum_of(right) - mean);
  });
}

}  // namespace

std::vector<std::int64_t> rows_of_experts(const Routed& routed) {
  Rows rows = routed.routing == Routing::balanced ? balanced(routed) : typical_draw(routed);
  rows.erase(std::remove(rows.begin(), rows.end(), 0), rows.end());
  if (rows.empty()) rows.push_back(1);
  return rows;
}

}  // namespace roofcast::experts
