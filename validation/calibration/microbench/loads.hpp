#pragma once
// Loads of the whole device that several microbenchmarks use.
#include <cstddef>

#include "validation/calibration/microbench/lab.hpp"

namespace roofcast::microbench {

/// `bytes` rounded down to a multiple that the SMs divide evenly, at least one such multiple.
std::size_t divided_footprint(const Lab& lab, std::size_t bytes);

/// Reads `footprint` bytes of the buffer repeatedly, about `total` bytes in all. `own`: each SM
/// reads a part of its own, else each reads all of it. Returns the bytes read.
double enqueue_reads(Lab& lab, std::size_t footprint, double total, bool own);

/// Independent fp32 multiply-adds on every SM for some milliseconds.
void enqueue_fma(Lab& lab, int milliseconds);

}  // namespace roofcast::microbench
