#pragma once
#include "model/types/gpu.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Lower bound on the time of a launch sequence: for each launch the largest of its work ÷ peak at
/// the highest clock, added up. DRAM: each input once in, each output once out, less what L2 can
/// still hold when the kernel ends. Stated cache assumption: nothing of the inputs is in L2, or, if
/// warm, as much as L2 can hold of what an earlier kernel computed.
Limit limit(const LaunchSequence& program, const Gpu& gpu, CacheState cache = CacheState::cold);

/// The same for a family: FLOPs on the fastest pipe for the type and compulsory bytes; if warm, any
/// of the inputs may be what was computed.
/// Throws InputError if the device cannot compute in that type.
Limit limit(const Work& work, DType type, const Gpu& gpu, CacheState cache = CacheState::cold);

}  // namespace roofcast
