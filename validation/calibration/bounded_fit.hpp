#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/types/gpu.hpp"

namespace roofcast::validation {

/// A value of Sustained that a fit varies between two positive bounds.
struct Moving {
  std::optional<double> Sustained::*member;
  double start;
  double least;
  double most;
};

/// Minimizes `cost` over the logarithms of the `moving` values (NLopt's Sbplx, after Rowan 1990),
/// leaves the optimum in `gpu` and returns its cost. A start outside the bounds is clamped. Throws
/// InputError if bounds are invalid or the optimizer fails.
double fit_bounded(std::span<const Moving> moving, Gpu& gpu,
                   const std::function<double(const Gpu&)>& cost);

}  // namespace roofcast::validation
