#pragma once
#include <cstddef>
#include <optional>
#include <span>

#include "model/types/plan.hpp"

namespace roofcast {

/// Work that a launch issues: the sum over its blocks. Its `l2` assumes that L1 keeps nothing.
Work issued_by_launch(const Plan& plan);

/// Its member `l2` alone, for the laws, which ask for it for every candidate.
Traffic issued_l2(const Plan& plan);

double issued_instructions(const Plan& plan);

/// The totals of a launch: useful arithmetic, issued traffic, bytes that its arrays must move. `l2`
/// assumes that L1 keeps nothing and `dram` stays 0: the laws set both.
Work total_work(const Plan& plan);

/// Bytes of all arrays, gaps between accesses included: the allocation without reuse of memory.
double allocated_bytes(std::span<const Launched> launches);

/// Distinct bytes that the launches touch.
double touched_bytes(std::span<const Launched> launches);

/// An input that an earlier kernel has just computed (ArrayUse::activation).
struct Activation {
  std::size_t input = 0;  ///< ArrayUse::input, else the position in Plan::arrays
  double bytes = 0;
};

/// The first activation that the launches read; empty if there is none.
std::optional<Activation> activation_of(const LaunchSequence& sequence);

}  // namespace roofcast
