#include "model/laws/dram_time.hpp"

#include <algorithm>

namespace roofcast {

double dram_time_s(const Traffic& dram, std::span<const SparseReads> sparse, const Gpu& gpu) {
  const double sheet = gpu.memory.dram_bandwidth_bytes_per_s.value_or(0);
  const double read = gpu.sustained.dram_read_bytes_per_s.value_or(sheet);
  const double write = gpu.sustained.dram_write_bytes_per_s.value_or(read);
  if (read <= 0) return 0;
  double time_s = dram.read_bytes / read + dram.write_bytes / write;
  const double scattered = gpu.sustained.dram_scattered_bytes_per_s.value_or(read);
  for (const SparseReads& reads : sparse) {
    const double gaps = 1 - std::clamp(reads.density, 0.0, 1.0);
    time_s += reads.bytes * gaps * gaps * gaps * (1 / scattered - 1 / read);
  }
  return time_s;
}

}  // namespace roofcast
