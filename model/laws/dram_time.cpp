#include "model/laws/dram_time.hpp"

#include <algorithm>

namespace roofcast {

double dram_time_s(const Traffic& dram, double read_density, const Gpu& gpu) {
  const double sheet = gpu.memory.dram_bandwidth_bytes_per_s.value_or(0);
  const double read = gpu.sustained.dram_read_bytes_per_s.value_or(sheet);
  const double write = gpu.sustained.dram_write_bytes_per_s.value_or(read);
  if (read <= 0) return 0;
  const double scattered = gpu.sustained.dram_scattered_bytes_per_s.value_or(read);
  const double sparse = 1 - std::clamp(read_density, 0.0, 1.0);
  const double read_s_per_byte = 1 / read + sparse * sparse * sparse * (1 / scattered - 1 / read);
  return dram.read_bytes * read_s_per_byte + dram.write_bytes / write;
}

}  // namespace roofcast
