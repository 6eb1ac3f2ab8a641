#pragma once
#include <string>
#include <vector>

#include "model/predict.hpp"

namespace roofcast {

/// For each variant that keeps on chip what another moves (Crossover), in words: from which value
/// of the parameter on it moves at least 2% fewer DRAM bytes on the device, and from which it takes
/// 2% less expected time, all else as in the problem. Nothing for a family without such variants,
/// and for those that the device cannot run.
std::vector<std::string> crossover_notes(const KernelFamily& family, const Problem& problem,
                                         const Gpu& gpu, const Assumptions& assumptions);

}  // namespace roofcast
