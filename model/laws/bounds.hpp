#pragma once
#include "model/types/gpu.hpp"
#include "model/types/outline.hpp"
#include "model/types/plan.hpp"
#include "model/types/prediction.hpp"

namespace roofcast {

/// Lower bound of a launch sequence's time: for each launch the largest work ÷ peak at the highest
/// clock, added up over the launches. DRAM moves compulsory traffic, less the writes that L2 can
/// still hold when a kernel ends. Stated cache assumption: no input is in L2, or, if warm, as much
/// as L2 can hold of what an earlier kernel computed; if repeated, of any input.
Limit limit(const LaunchSequence& sequence, const Gpu& gpu, CacheState cache = CacheState::cold);

/// Lower bound of a family's time: the larger of FLOPs ÷ the type's fastest pipe and compulsory
/// bytes ÷ DRAM bandwidth. If warm, L2 may hold any of the inputs. Throws InputError if the device
/// cannot compute in that type.
Limit limit(const Work& work, DType type, const Gpu& gpu, CacheState cache = CacheState::cold);

/// Lower bound of the forecast (s) of a candidate's plan: its launch costs, and its rounds of
/// blocks without queueing. 0 where no clock of the device is known.
double least_time_s(const Outline& outline, const Gpu& gpu, const Assumptions& assumptions);

}  // namespace roofcast
