#pragma once
// The settings of a kernel with the least expected time.
#include <string>
#include <vector>

#include "cli/input/options.hpp"
#include "cli/output/answer.hpp"

namespace roofcast::cli {

struct FastestSettings {
  std::vector<Candidate> fastest;   ///< up to five, the fastest first
  std::vector<std::size_t> varied;  ///< positions of the parameters that have several values
  std::size_t forecasts = 0;
  std::size_t refused = 0;
};

/// Forecasts every combination of the parameters' values. A parameter takes the values of its
/// option, in a sweep's syntax. Without the option, a parameter that --vary names takes all its
/// names, or the powers of two in its range. UsageError where nothing varies; InputError, with the
/// first reason, where no combination has a forecast. The result refers to `gpu`.
FastestSettings fastest_settings(const KernelRef& kernel, const Gpu& gpu, const Options& options);

std::string fastest_text(const FastestSettings& settings, const Style& style);
/// {"fastest":[…],"forecasts":…,"refused":…}, each of `fastest` as predict writes it.
void write_json(JsonWriter& json, const FastestSettings& settings);

}  // namespace roofcast::cli
