#pragma once
// What the figures of one forecast mean, in sentences.
#include <string>

#include "cli/output/answer.hpp"

namespace roofcast::cli {

/// Share of the measurements that an interval is fitted to hold.
inline constexpr double kIntervalLevel = 0.9;

/// "2 of 132 SMs"; empty where each SM has a block, and where waves are not defined.
std::string idle_sms_text(const Prediction& prediction, const Gpu& gpu);

/// Useful FLOP/s and DRAM B/s, each with its share of the datasheet's peak, and the share of the
/// limit. Needs an expected time.
std::string rate_text(const Prediction& prediction, const Gpu& gpu);

/// The bound, and between which levels it counts bytes: L2 is the fast memory of a family, a
/// block's registers and shared memory that of a variant.
std::string io_text(const Prediction& prediction, bool variant);

/// FLOP/B from which arithmetic takes longer than DRAM, by the datasheet's peaks; empty where it
/// has not both.
std::string ridge_text(const Prediction& prediction, const Gpu& gpu);

/// What binds, and what to change first: whole lines. Idle SMs come first.
std::string verdict_text(const Answer& answer);

}  // namespace roofcast::cli
