#pragma once
#include <cstddef>

namespace roofcast::elementwise {

/// y = f(x) over n elements. Positions of the values in Problem (as stream's).
enum Parameter : std::size_t { kElements, kThreads, kVectorBytes, kLoads };

}  // namespace roofcast::elementwise
