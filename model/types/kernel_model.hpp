#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/types/gpu.hpp"
#include "model/types/outline.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"
#include "model/types/problem.hpp"

namespace roofcast {

/// Values of one parameter over which forecasts have been held against measurements.
struct ValidatedRange {
  std::size_t parameter;  ///< position in the parameter table
  std::int64_t from;
  std::int64_t to;
};

/// Makes the plan of a kernel that is described by data, as KernelModel::plan.
using PlanSource = std::function<LaunchSequence(const Problem&, const Gpu&)>;

/// A variant: "gemm.tiled".
struct KernelModel {
  std::string_view name;
  std::string_view summary;               ///< one line for `roofcast kernels`
  std::span<const Parameter> parameters;  ///< the family's shape first, then the configuration
  std::span<const DType> dtypes;
  /// The plan of a problem whose settings are all given. Throws InputError for an impossible one.
  LaunchSequence (*plan)(const Problem&, const Gpu&);
  /// The problem with the settings left to choose (0) filled in, in every way worth a forecast on
  /// that GPU; those given stay. Never empty. Null where each setting has a default.
  std::vector<Problem> (*candidates)(const Problem&, const Gpu&) = nullptr;
  /// Instead of the family's, where the variant has parameters of its own.
  std::span<const ValidatedRange> validated{};
  /// Positions of settings that a library chooses whatever is asked: a measurement leaves them
  /// open.
  std::span<const std::size_t> own_choice{};
  /// What a candidate does, in brief: one whose lower bound is behind the best is not planned. Null
  /// where all are planned.
  Outline (*outline)(const Problem&, const Gpu&) = nullptr;
  /// Where a variant's problem says more than the family's (a batch, a wider type of the result):
  /// instead of the family's.
  Work (*work)(const Problem&) = nullptr;
  IoComplexity (*io)(const Problem&, double compulsory_bytes, double on_chip_bytes) = nullptr;
  /// Of a kernel that is described by data: makes the plan in place of `plan`.
  const PlanSource* source = nullptr;

  /// The plan, however it is made. Throws as `plan`.
  LaunchSequence plan_of(const Problem& problem, const Gpu& gpu) const {
    return source != nullptr ? (*source)(problem, gpu) : plan(problem, gpu);
  }
};

/// Variants with the same result, of which one moves through memory what others keep on chip: along
/// which parameter that begins to matter.
struct Crossover {
  std::string_view moves;
  std::span<const std::string_view> keep;
  std::size_t along;
  std::size_t follows;  ///< another parameter, whose fallback takes the same value
};

/// A family: "gemm". Its limit holds for every way to compute the same thing.
struct KernelFamily {
  std::string_view name;
  std::string_view summary;
  std::span<const Parameter> parameters;  ///< the shape alone
  std::span<const DType> dtypes;
  Work (*work)(const Problem&);  ///< FLOPs (as vector_flops) and compulsory bytes, however computed
  /// Bytes that must cross into a fast memory of that size.
  IoComplexity (*io)(const Problem&, double compulsory_bytes, double on_chip_bytes);
  std::span<const KernelModel> variants;
  std::span<const ValidatedRange> validated;  ///< validation/sweeps; outside a prediction says so
  /// Variants differ in the memory that has to be allocated: predictions say how much.
  bool compares_footprint = false;
  const Crossover* crossover = nullptr;  ///< then the family's answer says where it is
};

}  // namespace roofcast
