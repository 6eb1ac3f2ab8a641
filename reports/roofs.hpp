#pragma once
// The roofs a device has: what its specification says, no drawing.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/types/gpu.hpp"

namespace roofcast::reports {

/// A level of the memory hierarchy; at least one of the two is known.
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
  std::string pipe;  ///< "tensor", "vector"; "matrix" on a device that has no tensor cores
  DType dtype;
  double flops_per_s;
  bool operator==(const ComputeRoof&) const = default;
};

/// Fastest level first.
std::vector<MemoryRoof> memory_roofs(const Gpu& gpu);
/// Highest first.
std::vector<ComputeRoof> compute_roofs(const Gpu& gpu);
/// Whether one picture shows the roofs of both.
bool same_roofs(const Gpu& a, const Gpu& b);

}  // namespace roofcast::reports
