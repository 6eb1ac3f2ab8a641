#include "model/laws/dram_time.hpp"

#include <algorithm>

#include "model/constants/laws.hpp"

namespace roofcast {

double dram_time_s(const Traffic& dram, std::span<const SparseAccesses> sparse, const Gpu& gpu) {
  const double sheet = gpu.memory.dram_bandwidth_bytes_per_s.value_or(0);
  const double read = gpu.sustained.dram_read_bytes_per_s.value_or(sheet);
  const double write = gpu.sustained.dram_write_bytes_per_s.value_or(read);
  if (read <= 0) return 0;
  double time_s = dram.read_bytes / read + dram.write_bytes / write +
                  law::kDramTurnaround * std::min(dram.read_bytes, dram.write_bytes) / read;
  const double scattered = gpu.sustained.dram_scattered_bytes_per_s.value_or(read);
  for (const SparseAccesses& some : sparse) {
    const double gaps = 1 - std::clamp(some.density, 0.0, 1.0);
    const double in_order = 1 / (some.written ? write : read);
    time_s += some.bytes * gaps * gaps * gaps * std::max(0.0, 1 / scattered - in_order) +
              some.padding_bytes / scattered;
  }
  return time_s;
}

}  // namespace roofcast
