#pragma once
#include <cstddef>

namespace roofcast::stream {

/// The stream kernels over arrays of n elements. Positions of the values in Problem.
enum Parameter : std::size_t { kElements, kThreads, kVectorBytes, kLoads };

}  // namespace roofcast::stream
