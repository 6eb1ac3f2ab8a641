#include "model/laws/l2_reuse.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "model/constants/laws.hpp"
#include "model/counting/coalescing.hpp"
#include "model/counting/integers.hpp"
#include "model/counting/totals.hpp"

namespace roofcast {
namespace {

// A line read by SMs of all partitions has a copy in each. A line that one SM reads has a second
// copy if its home is another partition than the SM's: 1 + (p − 1) ÷ p copies.
double resident_capacity_bytes(Readers readers, const Gpu& gpu) {
  const double partitions = as_double(gpu.memory.l2_partitions);
  const double copies = readers == Readers::all ? partitions : 2 - 1 / partitions;
  return law::kL2ResidentShare * gpu.memory.l2_bytes.value_or(0) / copies;
}

// Tile rows and columns of a wave: whole columns of a group of rows, then the next group.
struct Wave {
  double rows;
  double columns;

  double bytes(const TileRaster& raster) const {
    return rows * raster.row_panel_bytes + columns * raster.column_panel_bytes;
  }
};

Wave wave_of(const TileRaster& raster, std::int64_t resident_blocks) {
  const double rows = as_double(raster.tile_rows);
  const double columns = as_double(raster.tile_columns);
  const double group = as_double(std::min(raster.group_rows, raster.tile_rows));
  const double resident = std::min(as_double(resident_blocks), rows * columns);
  return {std::min(rows, std::max(group, resident / columns)),
          std::min(columns, std::max(1.0, resident / group))};
}

// Operand bytes that DRAM delivers again. Blocks of a wave share each panel; a later wave misses it
// if the reuse distance exceeds L2. A's panels recur in every wave of a group, B's once per group.
double reread_bytes(const TileRaster& raster, std::int64_t resident_blocks, const Gpu& gpu) {
  const double rows = as_double(raster.tile_rows);
  const double columns = as_double(raster.tile_columns);
  const Wave wave = wave_of(raster, resident_blocks);
  const double a_again = raster.row_panel_bytes * rows * std::max(0.0, columns / wave.columns - 1);
  const double b_again = raster.column_panel_bytes * columns * std::max(0.0, rows / wave.rows - 1);
  const double b_distance =
      raster.column_panel_bytes * columns + wave.rows * raster.row_panel_bytes;
  return a_again * l2_miss_share(wave.bytes(raster), Readers::all, gpu) +
         b_again * l2_miss_share(b_distance, Readers::all, gpu);
}

// Bytes of a block's repeated passes that miss L2: the resident blocks evicted them in between.
double later_pass_bytes(const Plan& plan, const L1Misses& misses, double resident, const Gpu& gpu) {
  double bytes = 0;
  for (std::size_t i = 0; i < plan.reuse.size(); ++i) {
    const Reuse& pass = plan.reuse[i];
    if (pass.scope != Scope::block) continue;
    bytes +=
        misses.reuse_bytes[i] * l2_miss_share(resident * pass.l2_distance_bytes, Readers::one, gpu);
  }
  return bytes;
}

// DRAM bytes of random reads: L1 misses less hits in the part of the table that L2 keeps.
double random_bytes(const RandomReads& reads, double missed_sectors, const Gpu& gpu) {
  const double access = as_double(dram_access_bytes(gpu));
  const double accesses = std::max(1.0, reads.table_bytes / access);
  const double kept = resident_capacity_bytes(Readers::all, gpu) / access;
  return access * random_misses(missed_sectors, accesses, kept);
}

std::int64_t resident_blocks(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu) {
  return std::min(plan.launch.blocks(), gpu.slots(occupancy.blocks_per_sm));
}

// The law of lost_between_rounds for a launch that moves `moved_bytes` of arrays of `extent_bytes`.
double lost_of_sets(double extent_bytes, double moved_bytes, const Gpu& gpu) {
  constexpr double kTimesL2 = 3, kFewestSets = 2, kMostSets = 4096;
  if (extent_bytes <= 0) return 1;
  const double sets = std::clamp(kTimesL2 * gpu.memory.l2_bytes.value_or(0) / extent_bytes + 1,
                                 kFewestSets, kMostSets);
  return l2_miss_share(sets * moved_bytes, Readers::one, gpu);
}

}  // namespace

std::optional<std::size_t> last_user(const LaunchSequence& sequence, std::size_t position,
                                     ArrayId array) {
  while (position-- > 0) {
    for (const ArrayUse& use : sequence[position].plan.arrays) {
      if (use.array == array) return position;
    }
  }
  return std::nullopt;
}

std::vector<InterLaunchReuse> inter_launch_reuse(const LaunchSequence& sequence,
                                                 std::size_t position, CacheState cache) {
  std::vector<InterLaunchReuse> found;
  std::optional<double> round;  // reuse distance if launches repeat on the same data
  if (cache == CacheState::repeated) round = touched_bytes(sequence);
  for (const ArrayUse& use : sequence[position].plan.arrays) {
    const auto last = last_user(sequence, position, use.array);
    const auto& returns = use.returns_after_bytes ? use.returns_after_bytes : round;
    if (!last && cache != CacheState::cold && returns) {
      found.push_back({use.footprint, *returns, true});
      continue;
    }
    const bool warm = cache == CacheState::warm && use.activation;
    if (!last && !warm) continue;
    const std::size_t from = last.value_or(0);
    const double since = touched_bytes(std::span(sequence).subspan(from, position + 1 - from));
    found.push_back({use.footprint, since, !last});
  }
  return found;
}

double written_back_early_bytes(const Plan& plan, const Occupancy& occupancy, const Gpu& gpu) {
  double compulsory = 0;
  for (const ArrayUse& use : plan.arrays) compulsory += use.compulsory.total_bytes();
  const double each = compulsory / as_double(plan.launch.blocks());
  const double resident = as_double(resident_blocks(plan, occupancy, gpu));
  double bytes = 0;
  for (const ArrayUse& use : plan.arrays) {
    if (use.pattern.open_write_bytes <= 0) continue;
    const double meanwhile = std::max(resident, use.pattern.open_for_blocks) * each;
    bytes += use.pattern.open_write_bytes *
             -std::expm1(-meanwhile / resident_capacity_bytes(Readers::all, gpu));
  }
  return bytes;
}

double l2_miss_share(double distance_bytes, Readers readers, const Gpu& gpu) {
  return miss_share(distance_bytes, resident_capacity_bytes(readers, gpu), law::kL2GradualEviction);
}

double distinct_wave_bytes(const TileRaster& raster, std::int64_t resident_blocks) {
  const auto bytes_of = [&raster](std::int64_t blocks) {
    return blocks > 0 ? wave_of(raster, blocks).bytes(raster) : 0;
  };
  const std::int64_t tiles = raster.tile_rows * raster.tile_columns;
  return as_double(tiles / resident_blocks) * bytes_of(resident_blocks) +
         bytes_of(tiles % resident_blocks);
}

Traffic dram_traffic(const Plan& plan, const Occupancy& occupancy,
                     std::span<const InterLaunchReuse> earlier, const LaunchMemory& memory,
                     const Gpu& gpu) {
  const std::int64_t resident = resident_blocks(plan, occupancy, gpu);
  Traffic dram;
  for (std::size_t i = 0; i < plan.arrays.size(); ++i) {
    const ArrayUse& use = plan.arrays[i];
    dram += use.footprint;
    if (!use.random) continue;
    dram.read_bytes += random_bytes(*use.random, memory.misses.random_sectors[i], gpu);
  }
  for (const InterLaunchReuse& reuse : earlier) {
    dram.read_bytes -=
        reuse.bytes.read_bytes * (1 - l2_miss_share(reuse.distance_bytes, Readers::one, gpu));
    // Each partition has a copy of a dirty line: of two, writes of half of L2's size stay.
    dram.write_bytes -=
        reuse.bytes.write_bytes * (1 - l2_miss_share(reuse.distance_bytes, Readers::all, gpu));
  }
  dram.read_bytes = std::max(0.0, dram.read_bytes);  // hits on all bytes leave rounding errors
  dram.read_bytes +=
      memory.early_bytes + later_pass_bytes(plan, memory.misses, as_double(resident), gpu);
  dram.write_bytes += memory.early_bytes;
  if (plan.raster) dram.read_bytes += reread_bytes(*plan.raster, resident, gpu);
  return dram;
}

double lost_between_rounds(const Plan& plan, const Traffic& dram, const Gpu& gpu) {
  double extent = 0;
  for (const ArrayUse& use : plan.arrays) {
    extent += std::max({use.footprint.read_bytes / std::max(1e-9, use.pattern.read_density),
                        use.footprint.write_bytes, use.random ? use.random->table_bytes : 0.0});
  }
  return lost_of_sets(extent, dram.total_bytes(), gpu);
}

double left_dirty_bytes(const Traffic& dram, const Gpu& gpu) {
  if (dram.write_bytes <= 0) return 0;
  const double held = law::kL2DirtyShare * gpu.memory.l2_bytes.value_or(0);
  const double write_share = dram.write_bytes / dram.total_bytes();
  return std::min(dram.write_bytes, held * write_share);
}

LaunchMemory launch_memory(const LaunchSequence& sequence, std::size_t position,
                           const Occupancy& occupancy, CacheState cache, const Gpu& gpu) {
  const Plan& plan = sequence[position].plan;
  const std::vector<InterLaunchReuse> earlier = inter_launch_reuse(sequence, position, cache);
  const bool reads_new_data =
      std::any_of(plan.arrays.begin(), plan.arrays.end(), [&](const ArrayUse& use) {
        return use.compulsory.read_bytes > 0 && !last_user(sequence, position, use.array);
      });
  LaunchMemory memory;
  for (const InterLaunchReuse& reuse : earlier) {
    if (!reuse.from_before) continue;
    memory.warm_bytes +=
        reuse.bytes.read_bytes * (1 - l2_miss_share(reuse.distance_bytes, Readers::one, gpu));
  }
  if (reads_new_data) {
    memory.new_share = 1;
    if (back_to_back(cache)) {
      const double bytes = touched_bytes(sequence);
      memory.new_share = lost_of_sets(bytes, bytes, gpu);
    }
  }
  memory.early_bytes = written_back_early_bytes(plan, occupancy, gpu);
  memory.misses = l1_misses(plan, occupancy, gpu);
  memory.l2 = l2_traffic(plan, memory.misses);
  memory.dram = dram_traffic(plan, occupancy, earlier, memory, gpu);
  if (cache == CacheState::steady && memory.dram.read_bytes > 0) {
    double compulsory = 0;
    for (const ArrayUse& use : plan.arrays) compulsory += use.compulsory.read_bytes;
    const double all = memory.dram.read_bytes;
    const double lost = lost_between_rounds(plan, memory.dram, gpu) * all;
    memory.dram.read_bytes = std::min(all, std::max(compulsory, lost));
  }
  return memory;
}

}  // namespace roofcast
