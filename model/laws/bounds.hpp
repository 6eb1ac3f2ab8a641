#pragma once
#include "model/types/gpu.hpp"
#include "model/types/outline.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Lower bound of a launch sequence's time: the sum over the launches of the largest work ÷ peak at
/// the highest clock. DRAM moves the compulsory traffic of arrays that the sequence has not used
/// yet, less the writes that L2 can still hold at the end and the reads that L2 can hold at the
/// start: of activations if warm, of any input if repeated, of arrays that return.
Limit limit(const LaunchSequence& sequence, const Gpu& gpu, CacheState cache = CacheState::cold);

/// Lower bound of a family's time: the larger of FLOPs ÷ the type's fastest pipe and compulsory
/// bytes, less writes that L2 can hold, ÷ DRAM bandwidth. If warm or repeated, L2 may hold any
/// input. Throws InputError if the device cannot compute in that type.
Limit limit(const Work& work, DType type, const Gpu& gpu, CacheState cache = CacheState::cold);

/// Lower bound of a candidate's forecast time (s): launch costs and its rounds of blocks without
/// queueing. 0 where the device's clock is unknown.
double least_time_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions);

}  // namespace roofcast
