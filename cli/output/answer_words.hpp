#pragma once
// Sentences on what the figures of one forecast mean.
#include <string>

#include "cli/output/answer.hpp"

namespace roofcast::cli {

/// Share of measurements that intervals are fitted to contain.
inline constexpr double kIntervalLevel = 0.9;

/// "2 of 132 SMs" that have a block; empty where all have one and where waves are not defined.
std::string idle_sms_text(const Prediction& prediction, const Gpu& gpu);

/// Useful FLOP/s and DRAM B/s, each with its share of the datasheet's peak, and the share of the
/// limit. Needs an expected time.
std::string rate_text(const Prediction& prediction, const Gpu& gpu);

/// The IO lower bound and the levels between which it counts bytes: the fast memory is L2 for a
/// family, a block's registers and shared memory for a variant.
std::string io_text(const Prediction& prediction, bool variant);

/// The ridge point (FLOP/B): datasheet peak ÷ DRAM bandwidth; empty where the datasheet lacks one.
std::string ridge_text(const Prediction& prediction, const Gpu& gpu);

/// Lines on idle SMs, on what binds, and on what to change first; without an expected time, one
/// line on the limit.
std::string verdict_text(const Answer& answer);

}  // namespace roofcast::cli
