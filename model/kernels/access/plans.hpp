#pragma once
// Internal to model/kernels/access.
#include <string>
#include <string_view>

#include "model/kernels/access/access.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::access {

/// Throws InputError unless `value` is a multiple of `of`, the width of an access.
inline void require_multiple(std::string_view what, std::int64_t value, std::int64_t of) {
  if (value % of == 0) return;
  throw InputError(std::string(what) + " is " + std::to_string(value) +
                   ": give a multiple of width, " + std::to_string(of));
}

LaunchSequence plan_strided(const Problem& problem, const Gpu& gpu);
LaunchSequence plan_offset(const Problem& problem, const Gpu& gpu);
LaunchSequence plan_gather(const Problem& problem, const Gpu& gpu);
/// Lanes along the rows, or down the columns.
template <bool kDown>
LaunchSequence plan_matrix(const Problem& problem, const Gpu& gpu);

}  // namespace roofcast::access
