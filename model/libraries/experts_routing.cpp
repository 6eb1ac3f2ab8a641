#include "model/libraries/experts_routing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/counting/integers.hpp"

namespace roofcast::experts {
namespace {

using Rows = std::vector<std::int64_t>;

std::int64_t sum_of(const Rows& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

std::int64_t experts_of_gpu(const Routed& routed) {
  return std::max<std::int64_t>(1, routed.experts / routed.gpus);
}

// Tokens below `tokens` that are equal to `first` modulo `period`.
std::int64_t count_in_turn(std::int64_t tokens, std::int64_t first, std::int64_t period) {
  return first < tokens ? (tokens - 1 - first) / period + 1 : 0;
}

Rows balanced(const Routed& routed) {
  const std::int64_t count = routed.experts, local = experts_of_gpu(routed);
  const std::int64_t apart = ceil_div(count, routed.per_token);
  Rows rows(static_cast<std::size_t>(local));
  for (std::int64_t choice = 0; choice < routed.per_token; ++choice) {
    if (routed.tokens >= apart) {
      for (std::int64_t expert = 0; expert < local; ++expert) {
        const std::int64_t first = ((expert - choice * apart) % count + count) % count;
        rows[static_cast<std::size_t>(expert)] += count_in_turn(routed.tokens, first, count);
      }
      continue;
    }
    for (std::int64_t token = 0; token < routed.tokens; ++token) {
      const std::int64_t expert = (token * apart / routed.tokens + choice * apart) % count;
      if (expert < local) ++rows[static_cast<std::size_t>(expert)];
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

std::vector<double> shares(const Routed& routed, std::int64_t draw) {
  const double exponent = routed.routing == Routing::power_law_101 ? 1.01 : 1.2;
  const double power = 1 - exponent;
  const bool many = routed.tokens * routed.per_token > routed.experts;
  const double low = std::pow(many ? 1 : 0.01, power);
  const double high = std::pow(many ? 0.8 * as_double(routed.tokens) : 2, power);
  std::vector<double> found(static_cast<std::size_t>(routed.experts));
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto index = static_cast<std::uint64_t>(draw * routed.experts) + i;
    found[i] = std::pow((high - low) * uniform(index) + low, 1 / power);
  }
  return found;
}

// No expert has a token twice: what is over goes to the others.
void limit_each(std::vector<double>& wanted, double most, double sum) {
  constexpr int kRounds = 8;
  for (int round = 0; round < kRounds; ++round) {
    double full = 0, rest = 0;
    for (const double one : wanted) (one >= most ? full : rest) += std::min(one, most);
    if (rest <= 0) break;
    for (double& one : wanted) one = one >= most ? most : one * (sum - full) / rest;
  }
}

// Whole rows of each expert that add up to all choices.
Rows drawn(const Routed& routed, std::int64_t draw) {
  std::vector<double> wanted = shares(routed, draw);
  const double sum = as_double(routed.tokens * routed.per_token);
  const double scale = sum / std::accumulate(wanted.begin(), wanted.end(), 0.0);
  for (double& one : wanted) one *= scale;
  limit_each(wanted, as_double(routed.tokens), sum);
  Rows rows(wanted.size());
  double until = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double before = std::round(until);
    until += wanted[i];
    rows[i] = static_cast<std::int64_t>(std::round(until) - before);
  }
  return rows;
}

// The rows of the GPU that has the most.
Rows busiest(const Rows& all, std::int64_t local) {
  Rows best;
  for (std::size_t from = 0; from + static_cast<std::size_t>(local) <= all.size();
       from += static_cast<std::size_t>(local)) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
    Rows one(begin, begin + local);
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
    mean += as_double(sum_of(draws.back())) / as_double(kDraws);
  }
  return *std::min_element(draws.begin(), draws.end(), [mean](const Rows& left, const Rows& right) {
    return std::abs(as_double(sum_of(left)) - mean) < std::abs(as_double(sum_of(right)) - mean);
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
