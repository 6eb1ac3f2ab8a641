#pragma once
// Advice on settings, shapes and launches: forecasts of alternatives, and those that gain.
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

/// The least relative gain that is named: a smaller one is noise. Of published GEMM pairs with
/// forecasts that differ by 3% or more (gemm_tensor.csv, ai-dynamo/aiconfigurator, bf16, m from
/// 33), the one forecast faster was faster in 93 of 120.
inline constexpr double kWorthNaming = 0.03;

/// Whether `less` (the better time or the worse rate) is below `more` by at least kWorthNaming.
constexpr bool saves(double less, double more) {
  return less <= more * (1 - kWorthNaming);
}

inline constexpr double kFreeTime = 0.01;  ///< relative added time up to which more work is free

struct AdviceOptions {
  double within = 0.05;  ///< largest relative change of an extent; alignment may exceed it
  std::optional<std::vector<std::size_t>> varied{};  ///< positions of extents; absent: all
  bool smaller = true;                               ///< also smaller shapes
};
inline constexpr std::size_t kMostShapes = 5;  ///< named per kind

enum class AdviceKind : unsigned char {
  asked,
  faster,   ///< the asked shape padded with zeros, in less time
  smaller,  ///< part of the asked shape, in less time at a higher rate
  room      ///< larger than the asked or fastest shape, within kFreeTime
};
constexpr std::string_view name(AdviceKind kind) {
  return word_of(kind, {"asked", "faster", "smaller", "free"});
}

/// Facts about a GEMM.
struct ProductCounts {
  double tile_fill = 1;           ///< share of the tiles' elements that C needs
  std::int64_t vector_bytes = 0;  ///< alignment of all matrices' rows, at most 16
  double weight_bytes = 0;        ///< growth of B by padding of k and n
};

/// One shape with its forecast.
struct AdvisedShape {
  AdviceKind kind = AdviceKind::asked;
  Prediction prediction;   ///< its problem has the settings that the model chose
  double time_change = 0;  ///< relative to the asked shape: -0.1 is 10% less
  double rate = 0;         ///< FLOP/s, or compulsory B/s of a kernel without FLOPs
  double rate_change = 0;
  std::string why{};  ///< improvements: alignment, tiles, waves, bound
  std::optional<ProductCounts> product{};

  double time_s() const { return prediction.time->expected_s; }
};

struct ShapeAdvice {
  AdvisedShape asked;
  /// By kind, the best first. A faster or smaller shape that changes more than another is named
  /// only if it gains kWorthNaming more; room within larger room is left out.
  std::vector<AdvisedShape> shapes{};
};

/// Positions of the extents: parameters that are no settings, choices or texts.
std::vector<std::size_t> extents_of(const KernelRef& kernel);

/// Whether the kernel is a variant of the family gemm.
bool is_product(const KernelRef& kernel);

/// Forecasts shapes near the asked one: one extent changed at a time, then combinations of the best
/// values of each. Extents are multiples of 16 to 256 B, the nearest one of 16 B even beyond
/// `within`, and of the sides of a GEMM's tiles. A GEMM's open settings are chosen per shape; other
/// kernels keep theirs. Throws InputError as predict, and if the device has no expected time.
ShapeAdvice advise_shapes(const Question& question, const AdviceOptions& options);

/// Result of a search for faster settings.
struct SettingsAdvice {
  Prediction asked;                   ///< with the settings given or their defaults
  std::vector<Prediction> faster;     ///< by kWorthNaming or more, fastest first, at most 5
  std::vector<std::size_t> settings;  ///< positions of the varied parameters
  std::size_t forecasts = 0;
  bool every_value = true;  ///< all combinations; false: pairs of settings

  const Prediction& best() const { return faster.empty() ? asked : faster.front(); }
};

/// Positions of the settings that a search may vary: none if a library chooses its own.
std::vector<std::size_t> settings_of(const KernelRef& kernel);

/// Forecasts a variant's problem with the settings at `varied` (out of settings_of) changed to
/// powers of two; a setting that the model can choose is tried open and as asked. Beyond 4,096
/// combinations, all values of two settings at a time are forecast, from the best so far, until
/// none is better. Throws InputError as predict, and if the device has no expected time.
SettingsAdvice advise_settings(const Question& question, std::span<const std::size_t> varied);

/// A launch setting that fits more warps on an SM.
struct BetterSetting {
  std::string_view setting;  ///< "registers", "shared_bytes" or "threads"
  std::int64_t value;
  Occupancy occupancy;  ///< with that value alone changed
};

/// Single changes that raise the warps of an SM: the largest lower register count, the largest
/// lower shared memory, the nearest number of threads (whole warps). Throws InputError if the GPU
/// has no clusters of the launch's size. `gpu` must have occupancy rules.
std::vector<BetterSetting> better_settings(const Launch& launch, const Gpu& gpu);

/// Y[tokens,out] = X[tokens,in] · Wᵀ with W [out,in], and its gradients.
struct LinearLayer {
  std::int64_t tokens = 1, in = 1, out = 1;
};
inline constexpr std::array<std::string_view, 3> kLayerProducts = {"Y = X W^T", "dX = dY W",
                                                                   "dW = dY^T X"};
struct LayerForecast {
  LinearLayer layer;
  std::array<Prediction, kLayerProducts.size()> products{};  ///< in the order of kLayerProducts
  double time_s() const;                                     ///< of all three, in sequence
};

struct LayerAdvice {
  LayerForecast asked;
  /// Padded layers that take at least 3% less time (kWorthNaming), fastest first. A layer with more
  /// weights than another is named only if it gains that much more.
  std::vector<LayerForecast> padded{};
};

/// Forecasts the GEMMs with gemm.library, operands in the layer's layouts. `tokens` stays; `in` and
/// `out` are padded to multiples of powers of two from 8 to 256. Throws InputError as predict.
LayerAdvice advise_layer(const LinearLayer& layer, DType dtype, const Gpu& gpu,
                         const Assumptions& assumptions);

}  // namespace roofcast
