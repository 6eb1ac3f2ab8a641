#include "model/laws/memory_cost.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/constants/laws.hpp"
#include "model/counting/coalescing.hpp"
#include "model/counting/integers.hpp"
#include "model/counting/totals.hpp"
#include "model/laws/l2_reuse.hpp"

namespace roofcast {

MemoryTime dram_time(const Traffic& dram, std::span<const SparseAccesses> sparse, const Gpu& gpu) {
  const double sheet = gpu.memory.dram_bandwidth_bytes_per_s.value_or(0);
  const double read = gpu.sustained.dram_read_bytes_per_s.value_or(sheet);
  const double write = gpu.sustained.dram_write_bytes_per_s.value_or(read);
  if (read <= 0) return {};
  const double turnaround =
      law::kDramTurnaround * std::min(dram.read_bytes, dram.write_bytes) / read;
  MemoryTime time = {dram.read_bytes / read + turnaround / 2,
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

namespace {

// The launch's accesses that are sparse in DRAM. A sector evicted early is read once and written
// once more. Each run of a row that a block writes begins with a scattered access; runs that
// resident blocks write at the same time merge.
std::vector<SparseAccesses> sparse_accesses(const Plan& plan, const Occupancy& occupancy,
                                            const LaunchMemory& memory, const Gpu& gpu) {
  const double access = as_double(dram_access_bytes(gpu));
  std::vector<SparseAccesses> sparse;
  sparse.reserve(3 + 2 * plan.arrays.size());
  double written = memory.early_bytes;
  for (const ArrayUse& use : plan.arrays) written += use.footprint.write_bytes;
  // Share of the writes that reach DRAM: a single launch leaves some in L2.
  const double arrive = written > 0 ? std::min(1.0, memory.dram.write_bytes / written) : 0;
  if (memory.early_bytes > 0) {
    const double padding = memory.early_bytes * (access / as_double(kSectorBytes) - 1);
    sparse.push_back({memory.early_bytes, 0, false, padding});
    sparse.push_back({memory.early_bytes * arrive, 0, true, padding});
  }
  const double resident = as_double(gpu.slots(occupancy.blocks_per_sm));
  double in_order = 0;
  bool random = false;
  for (const ArrayUse& use : plan.arrays) {
    in_order += use.footprint.read_bytes;
    random |= use.random.has_value();
    const double density = read_density(use.pattern);
    if (density < 1) sparse.push_back({use.footprint.read_bytes, density, false, 0});
    if (use.pattern.write_run_bytes > 0) {
      const double merged = std::max(1.0, resident / use.pattern.blocks_to_next_run);
      const double run = std::max(access, use.pattern.write_run_bytes * merged);
      const double shared_ends = use.pattern.shared_run_ends / merged;
      const double starts = std::max(0.0, use.footprint.write_bytes / run - shared_ends / 2);
      sparse.push_back({starts * arrive * access, 0, true, shared_ends * arrive * access});
    }
  }
  if (random) sparse.push_back({std::max(0.0, memory.dram.read_bytes - in_order), 0, false, 0});
  return sparse;
}

// Where the loads that blocks wait for are served. Blocks of the first wave that share data
// (Scope::sm) wait for the same miss; later blocks hit L1. Repeated reads of one block
// (Scope::block) are further waits, at L1 where they hit.
WaitShares wait_shares(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       const Gpu& gpu) {
  const std::int64_t slots = gpu.slots(occupancy.blocks_per_sm);
  const double first_wave = 1 / std::ceil(as_double(plan.launch.blocks()) / as_double(slots));
  double waited_for = memory.l2.read_bytes;
  double from_dram = memory.dram.read_bytes;
  double in_l1 = 0;
  for (std::size_t i = 0; i < plan.reuse.size(); ++i) {
    const Reuse& reuse = plan.reuse[i];
    const double hits = reuse.bytes - memory.misses.reuse_bytes[i];
    waited_for += hits;
    if (reuse.scope == Scope::block) {
      in_l1 += hits;
    } else {
      in_l1 += hits * (1 - first_wave);
      from_dram += std::max(0.0, reuse.bytes * first_wave - reuse.distinct_bytes);
    }
  }
  if (plan.raster) waited_for = std::min(waited_for, distinct_wave_bytes(*plan.raster, slots));
  if (waited_for <= 0) return {};
  const double l1_share = in_l1 / waited_for;
  return {l1_share, std::min(1 - l1_share, from_dram / waited_for)};
}

// L2 moves every sector read or written, but for coalesced reads, and takes in what DRAM delivers.
// A random sector, read without its neighbour, costs more. A partial write costs one more for the
// merge. A sector evicted early is written out, read back with its whole DRAM access, and merged.
MemoryTime l2_time(const Plan& plan, const LaunchMemory& memory, const Gpu& gpu) {
  const double read_rate = gpu.sustained.l2_bandwidth_bytes_per_s.value_or(0);
  if (read_rate <= 0) return {};
  const double write_rate = read_rate * law::kL2WriteShare;
  const double sector = kSectorBytes;
  const double of_early = 2 + as_double(dram_access_bytes(gpu)) / sector;
  double merged = of_early * memory.early_bytes / sector, lone = 0;
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    const ArrayUse& use = plan.arrays[i];
    merged += use.pattern.partial_writes;
    if (use.random) lone += memory.misses.random_sectors[i];
  }
  const double read = std::max(0.0, memory.l2.read_bytes - plan.coalesced.bytes);
  const double filled = law::kL2FillShare * memory.dram.read_bytes;
  return {(read + law::kL2LoneSectorShare * sector * lone + filled) / read_rate,
          (memory.l2.write_bytes + sector * merged) / write_rate};
}

double share(double part, double all) {
  return all > 0 ? part / all : 0;
}

}  // namespace

MemoryCost memory_cost(const Plan& plan, const Occupancy& occupancy, const LaunchMemory& memory,
                       double clock_hz, const Gpu& gpu) {
  const Traffic asked = issued_l2(plan);
  const MemoryTime dram =
      dram_time(memory.dram, sparse_accesses(plan, occupancy, memory, gpu), gpu);
  // If blocks read nothing, DRAM's reads serve partial writes: writes bear their cost.
  const double read_s = asked.read_bytes > 0 ? dram.read_s : 0;
  const MemoryTime l2 = l2_time(plan, memory, gpu);
  return {wait_shares(plan, occupancy, memory, gpu), share(l2.read_s * clock_hz, asked.read_bytes),
          share(l2.write_s * clock_hz, asked.write_bytes),
          share(read_s * clock_hz, asked.read_bytes),
          share((dram.total_s() - read_s) * clock_hz, asked.write_bytes)};
}

}  // namespace roofcast
