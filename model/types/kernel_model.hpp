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

/// Range of one parameter in which forecasts were compared with measurements.
struct ValidatedRange {
  std::size_t parameter;  ///< position in the parameter table
  std::int64_t from;
  std::int64_t to;
};

/// Makes the plan of a kernel that a file describes.
using PlanSource = std::function<LaunchSequence(const Problem&, const Gpu&)>;

/// A variant: "gemm.tiled".
struct KernelModel {
  std::string_view name;
  std::string_view summary;               ///< one line for `roofcast kernels`
  std::span<const Parameter> parameters;  ///< the family's shape first, then the configuration
  std::span<const DType> dtypes;
  /// The plan of a problem whose settings are all given. Throws InputError for an impossible one.
  LaunchSequence (*plan)(const Problem&, const Gpu&);
  /// All ways worth a forecast on the GPU to fill in the problem's open settings (kToChoose); given
  /// settings stay. Never empty. Null where each setting has a default.
  std::vector<Problem> (*candidates)(const Problem&, const Gpu&) = nullptr;
  /// Replaces the family's ranges where the variant has parameters of its own.
  std::span<const ValidatedRange> validated{};
  /// Positions of the settings that a library chooses by itself: measurements leave them open.
  std::span<const std::size_t> own_choice{};
  /// Summaries of the candidates of one problem, which give lower bounds of their times: the search
  /// skips a candidate whose bound exceeds the best time so far. Null where all are planned.
  std::vector<Outline> (*outlines)(std::span<const Problem>, const Gpu&) = nullptr;
  /// Replace the family's where a variant's problem says more (a batch, a wider result).
  Work (*work)(const Problem&) = nullptr;
  IoComplexity (*io)(const Problem&, double compulsory_bytes, double on_chip_bytes) = nullptr;
  /// Replaces `plan` for a kernel that a file describes.
  const PlanSource* source = nullptr;

  /// The plan by `source` if there is one, else by `plan`. Throws as `plan`.
  LaunchSequence plan_of(const Problem& problem, const Gpu& gpu) const {
    return source != nullptr ? (*source)(problem, gpu) : plan(problem, gpu);
  }
};

/// Variants of one result: `moves` passes an intermediate through memory, each of `keep` holds it
/// on chip. A family's prediction states the value of `along` from which keeping pays.
struct Crossover {
  std::string_view moves;
  std::span<const std::string_view> keep;
  std::size_t along;    ///< position of a parameter
  std::size_t follows;  ///< position of a parameter whose fallback is the value of `along`
};

/// The IO of kernels that read and write every byte once, whatever the on-chip memory.
inline IoComplexity streaming(const Problem& /*problem*/, double compulsory_bytes,
                              double on_chip_bytes) {
  return {"Θ(n)", compulsory_bytes, on_chip_bytes};
}

/// A family: "gemm". Its limit holds for every way to compute the result.
struct KernelFamily {
  std::string_view name;
  std::string_view summary;
  std::span<const Parameter> parameters;  ///< the shape alone
  std::span<const DType> dtypes;
  std::span<const KernelModel> variants;
  /// Ranges of validation/sweeps; predictions outside carry a note.
  std::span<const ValidatedRange> validated{};
  /// FLOPs (as vector_flops), compulsory bytes; null: no limit.
  Work (*work)(const Problem&) = nullptr;
  /// Lower bound of the bytes that cross into a fast memory of `on_chip_bytes`.
  IoComplexity (*io)(const Problem&, double compulsory_bytes, double on_chip_bytes) = streaming;
  /// Variants differ in allocated memory: predictions state it.
  bool compares_footprint = false;
  const Crossover* crossover = nullptr;  ///< null: none
};

}  // namespace roofcast
