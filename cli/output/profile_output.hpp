#pragma once
// A profile beside its forecasts as text, JSON and CSV.
#include <cstddef>
#include <string>

#include "cli/output/terminal.hpp"
#include "validation/profiles/profile.hpp"

namespace roofcast::cli {

struct ProfileAnswer {
  const validation::Profile& profile;
  const Gpu& gpu;
};

/// The summary and at most `rows` groups of calls, the longest first.
std::string profile_text(const ProfileAnswer& answer, std::size_t rows, const Style& style);
/// {"total_s","recognized_share",
/// "kernels":[{"name","calls","time_s","share","recognized","limit_s","expected_s","bound"}],
/// "mends":[{"what","gain_s","total_after_s"}]} and further members.
std::string profile_json(const ProfileAnswer& answer);
/// A row for each group of calls.
std::string profile_csv(const ProfileAnswer& answer);

}  // namespace roofcast::cli
