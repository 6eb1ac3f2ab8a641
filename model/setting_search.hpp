#pragma once
// The settings of a kernel's configuration with the least expected time.
#include <cstddef>
#include <span>
#include <vector>

#include "model/advice.hpp"

namespace roofcast {

/// Settings searched with the model, and what they bring.
struct SettingsAdvice {
  Prediction asked;                   ///< with the settings given or their defaults
  std::vector<Prediction> faster;     ///< by kWorthNaming or more, the fastest first, one a place
  std::vector<std::size_t> settings;  ///< positions of the parameters that were varied
  std::size_t forecasts = 0;
  bool every_value = true;  ///< false: by pairs of settings, from the asked ones on

  /// The fastest, which may be the asked one.
  const Prediction& best() const { return faster.empty() ? asked : faster.front(); }
};

/// Positions of the settings that a search may vary: none of those that a library chooses by
/// itself.
std::vector<std::size_t> settings_of(const KernelRef& kernel);

/// Forecasts the problem of a variant with other settings: powers of two in their ranges. A
/// setting that the model chooses by itself is left to it. Where there are more than 4,096
/// combinations, all values of two settings at a time are forecast, from the best so far, until
/// none is better. `varied` are positions out of settings_of. Throws InputError as predict, and
/// where the device has no expected time.
SettingsAdvice advise_settings(const Question& question, std::span<const std::size_t> varied);

}  // namespace roofcast
