#pragma once
// Loads on the whole device that more than one microbenchmark uses.
#include <cstddef>

#include "validation/calibration/microbench/lab.hpp"

namespace roofcast::microbench {

/// A footprint that the SMs divide evenly, near `bytes`.
std::size_t divided_footprint(const Lab& lab, std::size_t bytes);

/// Reads `footprint` bytes of the buffer so often that about `total` bytes are read. `own`: every
/// SM its own part, else every SM all of it. Returns the bytes read.
double enqueue_reads(Lab& lab, std::size_t footprint, double total, bool own);

/// Independent fp32 multiply-adds on every SM for some milliseconds.
void enqueue_fma(Lab& lab, int milliseconds);

}  // namespace roofcast::microbench
