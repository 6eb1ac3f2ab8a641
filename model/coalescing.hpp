#pragma once
#include <cstdint>

namespace roofcast {

/// A warp's access to global memory: lane i touches `access_bytes` at offset + i · stride_bytes.
struct WarpAccess {
  std::int64_t stride_bytes = 0;
  std::int64_t access_bytes = 4;
  std::int64_t offset_bytes = 0;  ///< from a line boundary
  std::int64_t lanes = 32;
};

/// How many distinct pieces of memory of `unit_bytes` the access touches: 32 for sectors, which is
/// what L1 asks of L2; 128 for lines, which is what L1 looks up.
std::int64_t distinct_units(const WarpAccess& access, std::int64_t unit_bytes);

/// Cycles the data pipe of L1 takes to deliver the access: the most distinct 4-byte words that any
/// of its 32 banks holds. A line lies across the banks as shared memory does.
std::int64_t bank_wavefronts(const WarpAccess& access);

}  // namespace roofcast
