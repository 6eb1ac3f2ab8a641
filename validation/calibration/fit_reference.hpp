#pragma once
// Sustained values of a GPU that others measured, from the rows of a published table.
#include <span>
#include <string_view>
#include <vector>

#include "model/types/gpu.hpp"
#include "validation/comparison/reference.hpp"

namespace roofcast::validation {

/// Moves the values of `gpu` that `names` lists (of those that such a table tells) to where the
/// mean |log(predicted ÷ measured)| over the rows to fit to is least, each group of rows counting
/// the same, and sets the interval half-widths of the regimes: of each group the 95th percentile of
/// the error, and of these the largest. Values keep four digits: more would be noise. Returns the
/// names it moved. Throws InputError without rows to fit to.
std::vector<std::string_view> fit_reference(std::span<const ReferenceRow> rows,
                                            std::span<const std::string_view> names, Gpu& gpu);

/// log(predicted ÷ measured) of a row's time.
double log_error(const ReferenceRow& row, const Gpu& gpu);

/// A value of Sustained by its name in the overlay; null for none that a table tells.
std::optional<double>* fitted_value(std::string_view name, Gpu& gpu);

}  // namespace roofcast::validation
