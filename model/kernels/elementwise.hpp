#pragma once
#include "model/kernel_model.hpp"
#include "model/kernels/map.hpp"

namespace roofcast::elementwise {

using map::kElements;
using map::kLoads;
using map::kThreads;
using map::kVectorBytes;

/// y = max(x, 0).
extern const KernelFamily kRelu;
/// y = x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))).
extern const KernelFamily kGelu;

}  // namespace roofcast::elementwise
