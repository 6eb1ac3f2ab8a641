#pragma once
// The roofs of a device, from its specification and calibration.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/types/gpu.hpp"

namespace roofcast::reports {

/// The bandwidth of a memory level; at least one of the two rates is known.
struct MemoryRoof {
  std::string level;  ///< "DRAM", "L2", "L1 + shared"
  std::optional<double> sheet_bytes_per_s;
  std::optional<double> sustained_bytes_per_s;
  bool operator==(const MemoryRoof&) const = default;

  double highest() const {
    return std::max(sheet_bytes_per_s.value_or(0), sustained_bytes_per_s.value_or(0));
  }
  double lowest() const {
    return std::min(sheet_bytes_per_s.value_or(highest()),
                    sustained_bytes_per_s.value_or(highest()));
  }
};

struct ComputeRoof {
  std::string pipe;  ///< "tensor", "vector"; "matrix" (TPU), "peak" (GPU) if only known as a whole
  DType dtype;
  double flops_per_s;
  bool operator==(const ComputeRoof&) const = default;
};

/// L1 with shared memory, L2 and DRAM as far as known, fastest first.
std::vector<MemoryRoof> memory_roofs(const Gpu& gpu);
/// A roof per pipe and type, highest first.
std::vector<ComputeRoof> compute_roofs(const Gpu& gpu);
/// Whether both devices have the same roofs: one picture then serves both.
bool same_roofs(const Gpu& a, const Gpu& b);

}  // namespace roofcast::reports
