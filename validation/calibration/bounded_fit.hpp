#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/types/gpu.hpp"

namespace roofcast::validation {

/// One value of Sustained that a fit moves between two positive bounds.
struct Moving {
  std::optional<double> Sustained::*member;
  double start;
  double least;
  double most;
};

/// Moves the values of `gpu`, in their logarithms for they span decades, to where `cost` is least
/// (NLopt's Sbplx, after Rowan 1990), leaves them there and returns that cost. A start outside the
/// bounds is taken at the nearer one. Throws InputError for bounds that are none and where nothing
/// is found.
double fit_bounded(std::span<const Moving> moving, Gpu& gpu,
                   const std::function<double(const Gpu&)>& cost);

}  // namespace roofcast::validation
