#include "model/laws/occupancy.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tests/model/devices.hpp"

#if __has_include(<cuda_occupancy.h>)
#define ROOFCAST_HAVE_CUDA_OCCUPANCY 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wextra"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

namespace roofcast {
namespace {

Launch launch(std::int64_t threads, std::int64_t registers, std::int64_t shared_bytes) {
  Launch result;
  result.block[0] = threads;
  result.registers = registers;
  result.shared_bytes = shared_bytes;
  return result;
}

// 12 of 132 SMs idle leave 15 clusters of 8. With two blocks on each SM 252 places are 31.5
// clusters.
TEST(Occupancy, ClustersLeaveSmsIdle) {
  Gpu gpu = testing::hopper_like();
  gpu.features.cluster_idle_sms[1] = 12;
  Launch clusters = launch(128, 32, 0);
  clusters.cluster[0] = 8;
  EXPECT_EQ(places(clusters, {1, 4, OccupancyLimiter::warps}, gpu), 15 * 8);
  EXPECT_EQ(places(clusters, {2, 8, OccupancyLimiter::warps}, gpu), 32 * 8);
  clusters.cluster[0] = 2;
  EXPECT_EQ(places(clusters, {1, 4, OccupancyLimiter::warps}, gpu), 132);
}

TEST(Occupancy, EachLimiterBinds) {
  const OccupancyRules rules = *testing::hopper_like().occupancy;
  const Occupancy warps = occupancy(launch(1024, 32, 0), rules);
  EXPECT_EQ(warps.blocks_per_sm, 2);
  EXPECT_EQ(warps.warps_per_sm, 64);
  EXPECT_EQ(warps.limited_by, OccupancyLimiter::warps);

  const Occupancy blocks = occupancy(launch(32, 16, 0), rules);
  EXPECT_EQ(blocks.blocks_per_sm, 32);
  EXPECT_EQ(blocks.limited_by, OccupancyLimiter::blocks);

  const Occupancy registers = occupancy(launch(256, 128, 0), rules);
  EXPECT_EQ(registers.blocks_per_sm, 2);
  EXPECT_EQ(registers.limited_by, OccupancyLimiter::registers);

  const Occupancy shared = occupancy(launch(128, 32, 100 * 1024), rules);
  EXPECT_EQ(shared.blocks_per_sm, 2);
  EXPECT_EQ(shared.limited_by, OccupancyLimiter::shared_memory);
}

TEST(Occupancy, ImpossibleLaunchesFitNoBlock) {
  const OccupancyRules rules = *testing::hopper_like().occupancy;
  EXPECT_EQ(occupancy(launch(1025, 32, 0), rules).blocks_per_sm, 0);
  EXPECT_EQ(occupancy(launch(0, 32, 0), rules).blocks_per_sm, 0);
  EXPECT_EQ(occupancy(launch(32, 256, 0), rules).blocks_per_sm, 0);
  EXPECT_EQ(occupancy(launch(1024, 65, 0), rules).blocks_per_sm, 0);
  EXPECT_EQ(occupancy(launch(32, 32, 227 * 1024 + 1), rules).blocks_per_sm, 0);
}

#ifdef ROOFCAST_HAVE_CUDA_OCCUPANCY
// The official calculator, as a header of the CUDA Toolkit: it needs no GPU.
int official_blocks(const Launch& launch, int major, int minor, const OccupancyRules& rules) {
  cudaOccDeviceProp device;
  device.computeMajor = major;
  device.computeMinor = minor;
  device.maxThreadsPerBlock = static_cast<int>(rules.threads_per_block);
  device.maxThreadsPerMultiprocessor = static_cast<int>(rules.warps_per_sm * 32);
  device.regsPerBlock = static_cast<int>(rules.registers_per_sm);
  device.regsPerMultiprocessor = static_cast<int>(rules.registers_per_sm);
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 * 1024;
  device.sharedMemPerMultiprocessor = static_cast<std::size_t>(rules.shared_bytes_per_sm);
  device.sharedMemPerBlockOptin = static_cast<std::size_t>(rules.shared_bytes_per_block);
  device.reservedSharedMemPerBlock =
      static_cast<std::size_t>(rules.shared_reserved_bytes_per_block);
  device.numSms = 100;
  cudaOccFuncAttributes function;
  function.maxThreadsPerBlock = device.maxThreadsPerBlock;
  function.numRegs = static_cast<int>(launch.registers);
  function.sharedSizeBytes = 0;
  function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  function.maxDynamicSharedSizeBytes = static_cast<std::size_t>(launch.shared_bytes);
  const cudaOccDeviceState state;
  cudaOccResult result;
  const cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &device, &function, &state, static_cast<int>(launch.threads()),
      static_cast<std::size_t>(launch.shared_bytes));
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : 0;
}

TEST(Occupancy, EqualsTheOfficialCalculator) {
  struct Device {
    int major, minor;
    OccupancyRules rules;
  };
  const OccupancyRules hopper = *testing::hopper_like().occupancy;
  OccupancyRules ampere = hopper;
  ampere.shared_bytes_per_sm = 164 * 1024;
  ampere.shared_bytes_per_block = 163 * 1024;
  OccupancyRules ada = hopper;
  ada.warps_per_sm = 48;
  ada.blocks_per_sm = 24;
  ada.shared_bytes_per_sm = 100 * 1024;
  ada.shared_bytes_per_block = 99 * 1024;
  OccupancyRules volta = hopper;
  volta.shared_bytes_per_sm = 96 * 1024;
  volta.shared_bytes_per_block = 96 * 1024;
  volta.shared_reserved_bytes_per_block = 0;
  volta.shared_allocation_unit_bytes = 256;

  std::mt19937 random(20261121);
  for (const Device& device : {Device{9, 0, hopper}, Device{8, 0, ampere}, Device{8, 9, ada},
                               Device{7, 0, volta}, Device{10, 0, hopper}}) {
    for (int i = 0; i < 5000; ++i) {
      const Launch tried = launch(std::uniform_int_distribution<std::int64_t>(1, 1024)(random),
                                  std::uniform_int_distribution<std::int64_t>(1, 255)(random),
                                  i % 3 == 0 ? 0
                                             : std::uniform_int_distribution<std::int64_t>(
                                                   0, device.rules.shared_bytes_per_block)(random));
      ASSERT_EQ(occupancy(tried, device.rules).blocks_per_sm,
                official_blocks(tried, device.major, device.minor, device.rules))
          << "cc " << device.major << '.' << device.minor << ", " << tried.threads() << " threads, "
          << tried.registers << " registers, " << tried.shared_bytes << " B";
    }
  }
}
#endif

// Horace He's example: 108 SMs, 256×128 tiles: 1792² fits one wave, 1793² not.
TEST(Waves, TileQuantization) {
  const Waves one = waves(7 * 14, 108);
  EXPECT_EQ(one.full, 0);
  EXPECT_DOUBLE_EQ(one.count, 98.0 / 108);
  EXPECT_DOUBLE_EQ(one.tail_utilization, 98.0 / 108);
  EXPECT_DOUBLE_EQ(one.efficiency, 98.0 / 108);
  const Waves two = waves(8 * 15, 108);
  EXPECT_EQ(two.full, 1);
  EXPECT_DOUBLE_EQ(two.tail_utilization, 12.0 / 108);
  EXPECT_DOUBLE_EQ(two.efficiency, 120.0 / 108 / 2);
  const Waves even = waves(216, 108);
  EXPECT_EQ(even.full, 2);
  EXPECT_EQ(even.tail_utilization, 1);
  EXPECT_EQ(even.efficiency, 1);
}

}  // namespace
}  // namespace roofcast
