#include <string>

#include "model/kernels/access/counts.hpp"

namespace roofcast::access {

LaunchSequence plan_strided(const Problem& p, const Gpu& gpu) {
  using strided::kElements;
  using strided::kStride;
  using strided::kWidth;
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t width = p[kWidth];
  require_multiple("n", p[kElements], width);
  require_multiple("stride", p[kStride], width);
  if ((width & (width - 1)) != 0 || width * element > 16) {
    throw InputError("width is " + std::to_string(width) +
                     ": give 1, 2, 4 or 8 elements, of at most 16 bytes");
  }
  const std::int64_t accesses = p[kElements] / width;
  const WarpAccess load{.stride_bytes = p[kStride] * element, .access_bytes = width * element};
  const WarpAccess store{.stride_bytes = width * element, .access_bytes = width * element};
  const double bytes = as_double(p[kElements] * element);
  const double dram =
      units_of_warps(load, accesses, dram_access_bytes(gpu)) * as_double(dram_access_bytes(gpu));

  Counts counts{.warp_instructions = 24};
  counts.l1_load_sectors = counts.l2_load_sectors = units_of_warps(load, accesses, kSectorBytes);
  counts.store_sectors = units_of_warps(store, accesses, kSectorBytes);
  counts.lookups =
      units_of_warps(load, accesses, kLineBytes) + units_of_warps(store, accesses, kLineBytes);
  counts.wavefronts =
      warps_of(accesses) * as_double(bank_wavefronts(load) + bank_wavefronts(store));
  Plan plan = one_access_a_thread(accesses, {bytes, bytes}, counts);
  const double span = as_double(((accesses - 1) * p[kStride] + width) * element);
  plan.arrays = {{0, {bytes, 0}, {dram, 0}, {.read_density = dram / span}}, writes(1, bytes)};
  plan.launch.registers = compiled::registers("access::strided_kernel", element, width);
  if (p[kStride] > width) {
    const std::string pattern = "stride " + std::to_string(p[kStride]);
    const double used = as_double(width * element);
    plan.notes.traffic_reasons = {
        {Level::l1,
         waste_text(pattern, counts.l1_load_sectors * kSectorBytes / as_double(accesses), used)},
        {Level::dram, waste_text(pattern, dram / as_double(accesses), used)}};
  }
  return launch_of(std::move(plan));
}

LaunchSequence plan_offset(const Problem& p, const Gpu& gpu) {
  using offset::kElements;
  using offset::kOffset;
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t n = p[kElements];
  const BlockLoads loads = periodic_loads(
      n, kThreads, element, [&](std::int64_t i) { return (i + p[kOffset]) * element; });
  const WarpAccess store{.stride_bytes = element, .access_bytes = element};
  const double bytes = as_double(n * element);
  const std::int64_t unit = dram_access_bytes(gpu);
  const std::int64_t first = p[kOffset] * element / unit;
  const std::int64_t last = ((p[kOffset] + n) * element - 1) / unit;

  Counts counts{.warp_instructions = 22};
  counts.l1_load_sectors = loads.l1_sectors;
  counts.l2_load_sectors = loads.l2_sectors;
  counts.store_sectors = sectors_in_order(n, element);
  counts.lookups = loads.lines + units_of_warps(store, n, kLineBytes);
  counts.wavefronts = loads.wavefronts + warps_of(n) * as_double(bank_wavefronts(store));
  Plan plan = one_access_a_thread(n, {bytes, bytes}, counts);
  plan.arrays = {{0, {bytes, 0}, {as_double((last - first + 1) * unit), 0}}, writes(1, bytes)};
  plan.launch.registers = compiled::registers("access::offset_kernel", element);
  if (p[kOffset] * element % kSectorBytes != 0) {
    plan.notes.traffic_reasons = {
        {Level::l1, "offset " + std::to_string(p[kOffset]) +
                        ": no warp begins on a sector boundary, so each takes one sector more"},
        {Level::l2, "a warp's last sector is the next warp's first: L1 has it within a block"}};
  }
  return launch_of(std::move(plan));
}

}  // namespace roofcast::access
