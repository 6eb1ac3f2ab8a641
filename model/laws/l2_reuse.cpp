#include "model/laws/l2_reuse.hpp"

#include <algorithm>
#include <cmath>

namespace roofcast {
namespace {

// Nothing is found again once half as much more than the capacity has gone through. RRZE
// gpu-l2-cache: 9.7 TB/s to 44 MB, 6.5 TB/s at 53 MB, which is a miss share of 0.4.
constexpr double kGradualEviction = 0.5;

double resident_capacity_bytes(const Gpu& gpu) {
  return gpu.sustained.l2_resident_bytes.value_or(gpu.memory.l2_bytes.value_or(0));
}

// Between waves a panel is read again if too much went through L2 since; inside a wave only by
// blocks that do not march in step.
double reread_bytes(const TileRaster& raster, std::int64_t resident_blocks, March march,
                    const Gpu& gpu) {
  const auto rows = static_cast<double>(raster.tile_rows);
  const auto columns = static_cast<double>(raster.tile_columns);
  const auto group = static_cast<double>(std::min(raster.group_rows, raster.tile_rows));
  const double resident = std::min(static_cast<double>(resident_blocks), rows * columns);

  // A wave covers a patch of the tile grid: whole columns of the group, then the next group.
  const double wave_columns = std::min(columns, std::max(1.0, resident / group));
  const double wave_rows =
      march == March::in_step ? std::min(rows, std::max(group, resident / columns)) : group;
  const double wave_bytes =
      wave_rows * raster.row_panel_bytes + wave_columns * raster.column_panel_bytes;

  // A's panels come again in every wave along the group, B's once a group sweep.
  const double a_passes = columns / wave_columns;
  const double b_passes = rows / wave_rows;
  const double a_distance = wave_bytes;
  const double b_distance =
      raster.column_panel_bytes * columns + wave_rows * raster.row_panel_bytes;
  const double a_again = raster.row_panel_bytes * rows * std::max(0.0, a_passes - 1);
  const double b_again = raster.column_panel_bytes * columns * std::max(0.0, b_passes - 1);
  return a_again * l2_miss_share(a_distance, gpu) + b_again * l2_miss_share(b_distance, gpu);
}

// A later pass finds a row in L2 unless the blocks that run meanwhile pushed it out.
double later_pass_bytes(const Plan& plan, std::int64_t resident_blocks, const Gpu& gpu) {
  const auto blocks = static_cast<double>(plan.launch.blocks());
  const double resident = std::min(static_cast<double>(resident_blocks), blocks);
  double bytes = 0;
  for (const Reread& pass : plan.rereads) {
    bytes += blocks * pass.bytes * l2_miss_share(resident * pass.distance_bytes, gpu);
  }
  return bytes;
}

// A line is driven out with the chance that grows with what goes through L2 meanwhile. A sector
// that is incomplete then has to be read, merged and written, and is opened again by its next part.
double written_back_early_bytes(const Plan& plan, std::int64_t resident_blocks, const Gpu& gpu) {
  if (plan.scatter.open_write_bytes <= 0) return 0;
  const auto blocks = static_cast<double>(plan.launch.blocks());
  const double share = std::min(1.0, static_cast<double>(resident_blocks) / blocks);
  const double meanwhile = share * plan.total.compulsory.total_bytes();
  return plan.scatter.open_write_bytes * -std::expm1(-meanwhile / resident_capacity_bytes(gpu));
}

}  // namespace

double l2_miss_share(double distance_bytes, const Gpu& gpu) {
  const double capacity = std::max(1.0, resident_capacity_bytes(gpu));
  return std::clamp((distance_bytes / capacity - 1) / kGradualEviction, 0.0, 1.0);
}

Traffic dram_traffic(const Plan& plan, std::int64_t resident_blocks, March march, const Gpu& gpu) {
  Traffic dram = plan.total.dram_footprint;
  const auto take_off = [&](const Reuse& reuse) {
    const double found = 1 - l2_miss_share(reuse.distance_bytes, gpu);
    dram.read_bytes -= reuse.read_bytes * found;
    dram.write_bytes -= reuse.write_bytes * found;
  };
  take_off(plan.reuse);
  std::for_each(plan.more_reuse.begin(), plan.more_reuse.end(), take_off);
  const double early = written_back_early_bytes(plan, resident_blocks, gpu);
  dram.read_bytes += early;
  dram.write_bytes += early;
  dram.read_bytes += later_pass_bytes(plan, resident_blocks, gpu);
  if (plan.raster) dram.read_bytes += reread_bytes(*plan.raster, resident_blocks, march, gpu);
  return dram;
}

double left_dirty_bytes(const Traffic& dram, const Gpu& gpu) {
  if (dram.write_bytes <= 0) return 0;
  const double held = gpu.sustained.l2_dirty_bytes.value_or(0);
  const double write_share = dram.write_bytes / dram.total_bytes();
  return std::min(dram.write_bytes, held * write_share);
}

}  // namespace roofcast
