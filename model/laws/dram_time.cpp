#include "model/laws/dram_time.hpp"

#include <algorithm>

#include "model/constants/laws.hpp"

namespace roofcast {

DramTime dram_time(const Traffic& dram, std::span<const SparseAccesses> sparse, const Gpu& gpu) {
  const double sheet = gpu.memory.dram_bandwidth_bytes_per_s.value_or(0);
  const double read = gpu.sustained.dram_read_bytes_per_s.value_or(sheet);
  const double write = gpu.sustained.dram_write_bytes_per_s.value_or(read);
  if (read <= 0) return {};
  const double turnaround =
      law::kDramTurnaround * std::min(dram.read_bytes, dram.write_bytes) / read;
  DramTime time = {dram.read_bytes / read + turnaround / 2,
                   dram.write_bytes / write + turnaround / 2};
  const double scattered = gpu.sustained.dram_scattered_bytes_per_s.value_or(read);
  for (const SparseAccesses& some : sparse) {
    const double gaps = 1 - std::clamp(some.density, 0.0, 1.0);
    const double in_order = 1 / (some.written ? write : read);
    (some.written ? time.write_s : time.read_s) +=
        some.bytes * gaps * gaps * gaps * std::max(0.0, 1 / scattered - in_order) +
        some.padding_bytes / scattered;
  }
  return time;
}

}  // namespace roofcast
