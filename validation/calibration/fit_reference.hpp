#pragma once
// Fits sustained values of a GPU that others measured to the rows of a published table.
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/comparison/reference.hpp"

namespace roofcast::validation {

/// Fits the values of `gpu` in `names` (only DRAM read and write bandwidth can be) to the rows
/// marked `fitted`: minimizes the mean |log(predicted ÷ measured)|, each group with the same
/// weight. Sets the half-widths of the memory and compute regimes to the largest 95th percentile of
/// the error over the groups. Values keep four digits. Returns the values fitted, by name. Throws
/// InputError without rows to fit to.
std::vector<std::pair<std::string_view, double>> fit_reference(
    std::span<const ReferenceRow> rows, std::span<const std::string_view> names, Gpu& gpu);

/// log(predicted ÷ measured) of a row's time.
double log_error(const ReferenceRow& row, const Gpu& gpu);

/// The half-widths of the interval hold this share of the errors.
inline constexpr double kCoveredByInterval = 0.95;

}  // namespace roofcast::validation
