#pragma once
#include <cstdint>
#include <span>

namespace roofcast {

/// Cycles of the data pipe for one warp's access to shared memory: lane i touches `access_bytes` (1
/// to 16, a power of two) at starts[i], a multiple of it.
///
/// Shared memory has 32 banks of 4 bytes, and a bank delivers one word a cycle to every lane that
/// asks for it, so the access takes the most distinct words that any bank holds. Accesses of 16
/// bytes go in two halves of the warp, one after the other (by the counters).
std::int64_t shared_wavefronts(std::span<const std::int64_t> starts, std::int64_t access_bytes);

/// The same for lane i at offset + i · stride_bytes.
std::int64_t shared_wavefronts(std::int64_t stride_bytes, std::int64_t access_bytes,
                               std::int64_t offset_bytes = 0, std::int64_t lanes = 32);

}  // namespace roofcast
