#pragma once
#include "model/kernels/common/map.hpp"

namespace roofcast::stream {

using map::kElements;
using map::kLoads;
using map::kThreads;
using map::kVectorBytes;

/// The STREAM kernels (McCalpin 1995) and the empty kernel.
extern const KernelFamily kFamily;

}  // namespace roofcast::stream
