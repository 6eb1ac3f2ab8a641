#pragma once
// Advice on settings, shapes and launches: values are forecast, and those that gain are named.
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

/// The least relative gain that is named: a smaller forecast gain is noise. Of published products
/// (gemm_tensor.csv, ai-dynamo/aiconfigurator, bf16, m from 33) whose forecasts differ by 3% or
/// more, the one forecast faster was faster in 93 of 120 pairs.
inline constexpr double kWorthNaming = 0.03;

/// Whether `less`, the better time or the worse rate, is below `more` by kWorthNaming or more.
constexpr bool saves(double less, double more) {
  return less <= more * (1 - kWorthNaming);
}

inline constexpr double kFreeTime = 0.01;  ///< most added time at which more work counts as free

struct AdviceOptions {
  double within = 0.05;  ///< largest relative change of an extent; alignment may exceed it
  std::optional<std::vector<std::size_t>> varied{};  ///< positions of extents; absent: all
  bool smaller = true;                               ///< also smaller shapes
};
inline constexpr std::size_t kMostShapes = 5;  ///< named, of each kind

enum class AdviceKind : unsigned char {
  asked,
  faster,   ///< holds the asked shape, zeros added, and takes less time
  smaller,  ///< part of the asked shape, with a higher rate
  room      ///< holds the asked shape, or the best faster one, at no more time
};
constexpr std::string_view name(AdviceKind kind) {
  return word_of(kind, {"asked", "faster", "smaller", "free"});
}

/// Facts about a matrix product.
struct ProductCounts {
  std::int64_t blocks = 0;        ///< of the launch that takes most of the time
  double waves = 0;               ///< of those blocks
  double tile_fill = 1;           ///< share of the tiles' elements that C needs
  std::int64_t vector_bytes = 0;  ///< to which all matrices' rows are aligned, at most 16
  double weight_bytes = 0;        ///< by which B grows where k and n are padded
};

/// One shape with its forecast.
struct AdvisedShape {
  AdviceKind kind = AdviceKind::asked;
  Prediction prediction;   ///< settings that the model chose are in its problem
  double time_change = 0;  ///< against the shape asked for: -0.1 is 10% less
  double rate = 0;         ///< FLOP/s, or compulsory B/s of a kernel without FLOPs
  double rate_change = 0;
  std::string why{};  ///< what is better: alignment, tiles, waves, bound
  std::optional<ProductCounts> product{};

  double time_s() const { return prediction.time->expected_s; }
};

struct ShapeAdvice {
  AdvisedShape asked;
  /// By kind, the best first. A faster or smaller shape that changes more than another is named
  /// only if it gains kWorthNaming more; room inside larger room is not named.
  std::vector<AdvisedShape> shapes{};
};

/// Positions of the parameters that are extents: no settings, choices or texts.
std::vector<std::size_t> extents_of(const KernelRef& kernel);

/// Whether the kernel is a variant of the family gemm.
bool is_product(const KernelRef& kernel);

/// Forecasts shapes near the asked one: one extent changed at a time, then the best few values of
/// each combined. Products try multiples of 16 to 256 B and of the tiles' sides, and choose open
/// settings for each shape. Other kernels try multiples of powers of two up to 256, those up to 8
/// also beyond `within`, and keep their settings. Throws InputError as predict, and where the
/// device has no expected time.
ShapeAdvice advise_shapes(const Question& question, const AdviceOptions& options);

/// Settings searched with the model, and what they bring.
struct SettingsAdvice {
  Prediction asked;                   ///< with the settings given or their defaults
  std::vector<Prediction> faster;     ///< by kWorthNaming or more, the fastest first
  std::vector<std::size_t> settings;  ///< positions of the parameters that were varied
  std::size_t forecasts = 0;
  bool every_value = true;  ///< all combinations; false: pairs of settings, step by step

  const Prediction& best() const { return faster.empty() ? asked : faster.front(); }
};

/// Positions of the settings that a search may vary: none where a library chooses its own.
std::vector<std::size_t> settings_of(const KernelRef& kernel);

/// Forecasts a variant's problem with the settings at `varied` (out of settings_of) changed to
/// powers of two; a setting that the model can choose is tried open and as asked. With more than
/// 4,096 combinations, all values of two settings at a time are forecast, from the best so far,
/// until none is better. Throws InputError as predict, and where the device has no expected time.
SettingsAdvice advise_settings(const Question& question, std::span<const std::size_t> varied);

/// A setting of a launch with which more warps fit an SM.
struct BetterSetting {
  std::string_view setting;  ///< "registers", "shared_bytes" or "threads"
  std::int64_t value;
  Occupancy occupancy;  ///< with that value and the others as they are
};

/// Single changes that raise the warps of an SM: the most registers and the most shared memory
/// below the launch's, and the nearest number of threads (whole warps).
std::vector<BetterSetting> better_settings(const Launch& launch, const OccupancyRules& rules);

/// Y[tokens,out] = X[tokens,in] · Wᵀ with W [out,in], and its gradients.
struct LinearLayer {
  std::int64_t tokens = 1, in = 1, out = 1;
};
inline constexpr std::array<std::string_view, 3> kLayerProducts = {"Y = X W^T", "dX = dY W",
                                                                   "dW = dY^T X"};
struct LayerForecast {
  LinearLayer layer;
  std::array<Prediction, kLayerProducts.size()> products{};  ///< in the order of kLayerProducts
  double time_s() const;                                     ///< of all three, one after the other
};

struct LayerAdvice {
  LayerForecast asked;
  /// Layers that hold the asked one and take at least 3% less time (kWorthNaming), the fastest
  /// first. One with more weights than another is named only if it gains that much more.
  std::vector<LayerForecast> padded{};
};

/// Forecasts the products with gemm.library, operands in the layer's layouts. `tokens` stays; `in`
/// and `out` are padded to multiples of powers of two from 8 to 256. Throws InputError as predict.
LayerAdvice advise_layer(const LinearLayer& layer, DType dtype, const Gpu& gpu,
                         const Assumptions& assumptions);

}  // namespace roofcast
