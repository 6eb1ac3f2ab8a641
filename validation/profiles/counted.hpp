#pragma once
// A plan from what hardware counters say of a kernel.
#include <optional>

#include "validation/profiles/operations.hpp"

namespace roofcast::validation {

/// FLOPs of the tensor cores, a call, where they were not counted: the share of the time that their
/// pipe is busy, at its rate for the type that the kernel's name tells (16 bits where it tells
/// none).
FlopsByType tensor_flops_of(const ProfiledKernel& kernel, Does does, const Gpu& gpu);

/// DRAM bytes of a call: counted, else the share of the time in which DRAM is busy at its peak
/// rate.
std::optional<double> dram_bytes_of(const ProfiledKernel& kernel, const Gpu& gpu);

/// The kernel described by its launch, its DRAM and L2 bytes and its FLOPs; nothing where none was
/// counted.
std::optional<Recognized> described_by_counters(const ProfiledKernel& kernel, Does does);

}  // namespace roofcast::validation
