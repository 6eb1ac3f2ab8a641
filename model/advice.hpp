#pragma once
// Settings, shapes and launches that do better: values are tried, each is forecast, and those that
// gain are named.
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

inline constexpr double kFreeTime = 0.01;  ///< more work is free if it adds less of the time

/// How far the extents of a shape may change.
struct AdviceOptions {
  double within = 0.05;  ///< of each extent; to be aligned, it always may
  std::optional<std::vector<std::size_t>> varied{};  ///< positions of extents; absent: all
  bool smaller = true;                               ///< also shapes that leave something out
};
inline constexpr std::size_t kMostShapes = 5;  ///< of a kind

enum class AdviceKind : unsigned char {
  asked,
  faster,   ///< holds the asked shape, zeros added, and takes less time
  smaller,  ///< part of the asked shape, with a higher rate
  room      ///< holds the asked shape, or the best faster one, at no more time
};
constexpr std::string_view name(AdviceKind kind) {
  constexpr std::array<std::string_view, 4> names = {"asked", "faster", "smaller", "free"};
  return names[static_cast<std::size_t>(kind)];
}

/// Further facts about a matrix product.
struct ProductCounts {
  std::int64_t blocks = 0;        ///< of the launch that takes most of the time
  double waves = 0;               ///< of those blocks
  double tile_fill = 1;           ///< share of the tiles' elements that C needs
  std::int64_t vector_bytes = 0;  ///< to which rows of n and of k elements are aligned, at most 16
  double weight_bytes = 0;        ///< that B grows by: padded k and n take memory
};

/// One shape with its forecast.
struct AdvisedShape {
  AdviceKind kind = AdviceKind::asked;
  Prediction prediction;   ///< settings that the model chose are in its problem
  double time_change = 0;  ///< against the shape asked for: -0.1 is 10% less
  double rate = 0;         ///< what it is useful for, a second: FLOP, or bytes of what has none
  double rate_change = 0;
  std::string why{};  ///< alignment, tiles, waves, bound: what is better
  std::optional<ProductCounts> product{};

  double time_s() const { return prediction.time->expected_s; }
};

struct ShapeAdvice {
  AdvisedShape asked;
  /// By kind, the best first. Of faster and smaller ones, a shape that changes more than another is
  /// named only where it gains kWorthNaming more; room inside larger room is not named.
  std::vector<AdvisedShape> shapes{};
};

/// Positions of the parameters that are sizes: no settings, no names.
std::vector<std::size_t> extents_of(const KernelRef& kernel);

bool is_product(const KernelRef& kernel);

/// Shapes near the asked one, one extent changed at a time and the best few of each together. Of a
/// kernel of the family gemm, multiples of 16 B, of powers of two of that, and of the sides of its
/// tiles; settings left to choose are chosen for each shape. Of others, multiples of powers of two
/// up to 256, of which those up to 8 always are in reach; settings stay. Throws InputError as
/// predict, and where the device has no expected time.
ShapeAdvice advise_shapes(const Question& question, const AdviceOptions& options);

/// Settings searched with the model, and what they bring.
struct SettingsAdvice {
  Prediction asked;                   ///< with the settings given or their defaults
  std::vector<Prediction> faster;     ///< by kWorthNaming or more, the fastest first, one a place
  std::vector<std::size_t> settings;  ///< positions of the parameters that were varied
  std::size_t forecasts = 0;
  bool every_value = true;  ///< false: by pairs of settings, from the asked ones on

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
  /// first; of two the one that adds more is named only where it gains that much more.
  std::vector<LayerForecast> padded{};
};

/// The products are gemm.library's, operands as the layer leaves them. Tokens stay; in and out are
/// padded to multiples of 8 to 256. Throws InputError as predict does.
LayerAdvice advise_layer(const LinearLayer& layer, DType dtype, const Gpu& gpu,
                         const Assumptions& assumptions);

}  // namespace roofcast
