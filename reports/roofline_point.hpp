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

/// A compute roof by the names it is drawn with: "tensor", bf16. Without a pipe, every one of the
/// type.
struct RoofName {
  std::string pipe;
  DType dtype = DType::fp32;
};

/// A kernel's place under the roofline. Absent measured values draw no measured point.
struct RooflinePoint {
  std::string label;     ///< "gemm.vectorized m=4096 n=4096 k=4096 fp32"; colour by its first word
  double intensity = 0;  ///< FLOP per DRAM byte, predicted; infinite without DRAM traffic
  double predicted_flops_per_s = 0;
  std::optional<double> measured_intensity;  ///< the predicted one where no counter was read
  std::optional<double> measured_flops_per_s;
  std::vector<LevelIntensity> levels{};  ///< above DRAM, fastest first
  std::optional<double> low_flops_per_s{};
  std::optional<double> high_flops_per_s{};
  std::optional<double> limit_flops_per_s{};  ///< what the limit allows: no correct rate is higher
  std::vector<RoofName> roofs{};              ///< the arithmetic it needs; empty: not known
  double dram_bytes_per_s = 0;                ///< predicted; the place of a kernel without FLOPs
  std::optional<double> measured_dram_bytes_per_s{};
  std::string brief{};    ///< the label without settings; empty: the label
  bool is_limit = false;  ///< of a family: its limit, at the compulsory intensity
};

/// The place of a compared case, predicted and measured.
RooflinePoint roofline_point(const validation::Row& row);

/// The forecast of a compared case; none where the catalog has no such kernel or it takes no such
/// problem any more.
std::optional<Prediction> forecast_of(const validation::Row& row, const Gpu& gpu);

/// The same with every level above DRAM, as the device's forecast of the case has them.
RooflinePoint roofline_point(const validation::Row& row, const Gpu& gpu);

/// The place of a forecast; of a family alone, that of its limit.
RooflinePoint roofline_point(const KernelRef& kernel, const Prediction& prediction);

/// "m=4096 n=4096 k=4096 bf16": the shape without settings and without values not asked for.
std::string shape_text(const KernelRef& kernel, const Problem& problem);

}  // namespace roofcast::reports
