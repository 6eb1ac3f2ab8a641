#pragma once
// A profile beside its forecasts, for people and for programs.
#include <cstddef>
#include <string>

#include "cli/output/terminal.hpp"
#include "validation/profiles/profile.hpp"

namespace roofcast::cli {

struct ProfileAnswer {
  const validation::Profile& profile;
  const Gpu& gpu;
};

/// `rows` kernels at most, the longest first.
std::string profile_text(const ProfileAnswer& answer, std::size_t rows, const Style& style);
/// {"total_s","recognized_share",
/// "kernels":[{"name","calls","time_s","share","recognized","limit_s","expected_s","bound"}],
/// "mends":[{"what","gain_s","total_after_s"}]} and what else is known.
std::string profile_json(const ProfileAnswer& answer);
/// A line a kernel.
std::string profile_csv(const ProfileAnswer& answer);

}  // namespace roofcast::cli
