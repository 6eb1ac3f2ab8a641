#pragma once
// Where a kernel lies under the roofs: its rate, and its intensity at each level of memory.
#include <optional>
#include <string>
#include <vector>

#include "model/catalog.hpp"
#include "model/types/prediction.hpp"
#include "validation/comparison/compare.hpp"

namespace roofcast::reports {

/// FLOP per byte that crosses at a level above DRAM: "L2", "L1 + shared".
struct LevelIntensity {
  std::string level;
  double intensity = 0;
};

/// A compute roof by pipe and type: "tensor", bf16. An empty pipe means every roof of the type.
struct RoofName {
  std::string pipe;
  DType dtype = DType::fp32;
};

/// A kernel's place in a roofline. Without a measured rate no measured point is drawn.
struct RooflinePoint {
  std::string label;     ///< "gemm.vectorized m=4096 n=4096 k=4096 fp32"; first word: colour
  double intensity = 0;  ///< FLOP per DRAM byte, predicted; infinite or 0 without DRAM traffic
  double predicted_flops_per_s = 0;
  std::optional<double> measured_intensity;  ///< absent without counters: drawn at `intensity`
  std::optional<double> measured_flops_per_s;
  std::vector<LevelIntensity> levels{};  ///< above DRAM, fastest first
  std::optional<double> low_flops_per_s{};
  std::optional<double> high_flops_per_s{};
  std::optional<double> limit_flops_per_s{};  ///< FLOPs ÷ limit: no correct rate is higher
  std::vector<RoofName> roofs{};              ///< the compute roofs it needs; empty: not known
  double dram_bytes_per_s = 0;                ///< predicted; kernels without FLOPs are drawn by it
  std::optional<double> measured_dram_bytes_per_s{};
  std::string brief{};    ///< the label without settings; empty: the label
  bool is_limit = false;  ///< no time is forecast (family, TPU): the limit at compulsory traffic
};

/// The forecast of a compared case; none if the catalog no longer has the kernel or the kernel no
/// longer takes the problem.
std::optional<Prediction> forecast_of(const validation::Row& row, const Gpu& gpu);

/// The place of a compared case, predicted and measured, with the levels above DRAM from a new
/// forecast for `gpu`.
RooflinePoint roofline_point(const validation::Row& row, const Gpu& gpu);

/// The place of a forecast; if it has no time (a family's, a TPU's), the place of its limit.
RooflinePoint roofline_point(const KernelRef& kernel, const Prediction& prediction);

/// "m=4096 n=4096 k=4096 bf16": the shape without settings, default values and empty texts.
std::string shape_text(const KernelRef& kernel, const Problem& problem);

}  // namespace roofcast::reports
