#pragma once
// Settings and shapes at which a kernel is forecast to do better.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/predict.hpp"

namespace roofcast {

/// A kernel, a checked problem of it, and the device, all of which outlive the question.
struct Question {
  const KernelRef& kernel;
  const Problem& problem;
  const Gpu& gpu;
  Assumptions assumptions{};

  Question with(const Problem& other) const { return {kernel, other, gpu, assumptions}; }
  /// Throws InputError as predict.
  Prediction forecast() const { return predict(kernel, problem, gpu, assumptions); }
};

/// A forecast gain of less is noise. Of products that differ by one in m, published measurements
/// (gemm_tensor.csv, ai-dynamo/aiconfigurator, bf16, m from 33) differ by up to 9% to either side
/// where the forecasts are equal, in 8 of 10 pairs; from a forecast of 3% on, the one forecast
/// faster was faster in 93 of 120 pairs. Two collections of the same products differ
/// by about 3% too.
inline constexpr double kWorthNaming = 0.03;

/// Whether the first time is less by kWorthNaming or more; of rates, the better one stands second.
constexpr bool saves(double less, double more) {
  return less <= more * (1 - kWorthNaming);
}

/// How far the extents of a shape may change.
struct AdviceOptions {
  double within = 0.05;  ///< of each extent; to be aligned, it always may
  std::optional<std::vector<std::size_t>> varied{};  ///< positions of extents; absent: all
  bool smaller = true;                               ///< also shapes that leave something out
};
inline constexpr std::size_t kMostShapes = 5;  ///< of a kind

enum class AdviceKind : unsigned char {
  faster,   ///< holds the asked shape, zeros added, and takes less time
  smaller,  ///< part of the asked shape, with a higher rate
  room      ///< holds the asked shape, or the best faster one, at no more time
};
inline constexpr std::array kAdviceKinds = {AdviceKind::faster, AdviceKind::smaller,
                                            AdviceKind::room};
constexpr std::string_view name(AdviceKind kind) {
  constexpr std::array<std::string_view, kAdviceKinds.size()> names = {"faster", "smaller", "free"};
  return names[static_cast<std::size_t>(kind)];
}

struct ShapeAdvice {
  AdviceKind kind = AdviceKind::faster;  ///< faster or smaller
  Prediction prediction;
  double time_change = 0;  ///< against the shape asked for: -0.1 is 10% less
  double rate_change = 0;  ///< of useful_rate
  std::string why;         ///< waves, alignment, bound: what is better
};

/// Positions of the parameters that are sizes: no settings, no names.
std::vector<std::size_t> extents_of(const KernelRef& kernel);

/// Larger shapes that take less time, and smaller ones with a higher rate, each by kWorthNaming or
/// more, and by as much against those that change less. Tried are multiples of powers of two up to
/// 256, one extent at a time and the best few of each together; multiples of up to 8 always are in
/// reach. Settings stay as the problem has them. Throws InputError where the device has no expected
/// time.
std::vector<ShapeAdvice> advise_shapes(const Question& question, const AdviceOptions& options);

/// What one call is useful for, a second: FLOPs, or compulsory bytes where nothing is computed.
double useful_rate(const Prediction& prediction);

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

/// A setting of a launch with which more warps fit an SM.
struct BetterSetting {
  std::string_view setting;  ///< "registers", "shared_bytes" or "threads"
  std::int64_t value;
  Occupancy occupancy;  ///< with that value and the others as they are
};

/// The largest smaller number of registers, the largest smaller shared memory, and the nearest
/// number of threads (whole warps) that each alone raise the warps of an SM; those that cannot are
/// left out.
std::vector<BetterSetting> better_settings(const Launch& launch, const OccupancyRules& rules);

}  // namespace roofcast
