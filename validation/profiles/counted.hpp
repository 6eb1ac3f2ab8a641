#pragma once
// Makes a described kernel from hardware counters.
#include <optional>

#include "validation/profiles/operations.hpp"

namespace roofcast::validation {

/// Tensor core FLOPs of a call: counted, else for products and attention time × busy share of the
/// pipe × its peak rate for the type in the kernel's name (bf16 if it names none).
FlopsByType tensor_flops_of(const ProfiledKernel& kernel, Does does, const Gpu& gpu);

/// DRAM bytes of a call: counted, else time × busy share of DRAM × its peak rate.
std::optional<double> dram_bytes_of(const ProfiledKernel& kernel, const Gpu& gpu);

/// The kernel described by its launch, DRAM and L2 bytes, instructions and FLOPs; nothing without a
/// launch, or if neither DRAM bytes nor FLOPs were counted.
std::optional<Recognized> described_by_counters(const ProfiledKernel& kernel, Does does);

}  // namespace roofcast::validation
