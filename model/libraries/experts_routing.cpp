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

Rows balanced(const Problem& p) {
  const std::int64_t experts = p[kExperts] / p[kGpus];
  const std::int64_t choices = ceil_div(p[kTokens] * p[kPerToken], p[kGpus]);
  Rows rows(static_cast<std::size_t>(experts), choices / experts);
  for (std::int64_t i = 0; i < choices % experts; ++i) ++rows[static_cast<std::size_t>(i)];
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

// Rows of each expert in one draw, whole numbers that add up to all choices.
Rows drawn(const Problem& p, std::int64_t draw) {
  const double tokens = as_double(p[kTokens]), choices = tokens * as_double(p[kPerToken]);
  const double power = 1 - (p[kRouting] == kPowerLaw101 ? 1.01 : 1.2);
  const bool many = choices > as_double(p[kExperts]);
  const double low = std::pow(many ? 1 : 0.01, power);
  const double high = std::pow(many ? 0.8 * tokens : 2, power);
  std::vector<double> wanted(static_cast<std::size_t>(p[kExperts]));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto index = static_cast<std::uint64_t>(draw * p[kExperts]) + i;
    wanted[i] = std::pow((high - low) * uniform(index) + low, 1 / power);
  }
  const double scale = choices / std::accumulate(wanted.begin(), wanted.end(), 0.0);
  for (double& one : wanted) one *= scale;
  // An expert gets each token once: rows above `tokens` move to other experts, which may overflow
  // in turn.
  constexpr int kRounds = 8;
  double full_before = 0;
  for (int round = 0; round < kRounds; ++round) {
    double full = 0, rest = 0;
    for (const double one : wanted) (one >= tokens ? full : rest) += std::min(one, tokens);
    if (full == full_before) break;
    full_before = full;
    for (double& one : wanted) one = one >= tokens ? tokens : one * (choices - full) / rest;
  }
  Rows rows;
  double until = 0;
  for (const double one : wanted) {
    const double before = std::round(until);
    until += one;
    rows.push_back(static_cast<std::int64_t>(std::round(until) - before));
  }
  return rows;
}

// Rows of the GPU with the most.
Rows busiest(const Rows& all, std::int64_t local) {
  Rows best;
  for (auto from = all.begin(); all.end() - from >= local; from += local) {
    Rows one(from, from + local);
    if (best.empty() || sum_of(one) > sum_of(best)) best = std::move(one);
  }
  return best;
}

Rows typical_draw(const Problem& p) {
  constexpr std::int64_t kDraws = 12;
  std::vector<Rows> draws;
  double mean = 0;
  for (std::int64_t draw = 0; draw < kDraws; ++draw) {
    draws.push_back(busiest(drawn(p, draw), p[kExperts] / p[kGpus]));
    mean += sum_of(draws.back()) / as_double(kDraws);
  }
  return *std::min_element(draws.begin(), draws.end(), [mean](const Rows& left, const Rows& right) {
    return std::abs(sum_of(left) - mean) < std::abs(sum_of(right) - mean);
  });
}

}  // namespace

std::vector<std::int64_t> rows_of_experts(const Problem& p) {
  Rows rows = p[kRouting] == kBalanced ? balanced(p) : typical_draw(p);
  rows.erase(std::remove(rows.begin(), rows.end(), 0), rows.end());
  if (rows.empty()) rows.push_back(1);
  return rows;
}

}  // namespace roofcast::experts
