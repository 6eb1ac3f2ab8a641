#include "model/laws/occupancy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/model/devices.hpp"
#include "tests/model/scan/questions.hpp"

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

// cudaOccupancyMaxActiveClusters on an H200 (validation/measured/h200-sxm-clusters-2026-11-30.csv).
TEST(Occupancy, ClustersFitTheGpcsAsCudaSays) {
  struct Answer {
    std::int64_t blocks_per_sm;
    std::array<std::int64_t, 5> clusters;  // of 1, 2, 4, 8 and 16 blocks
  };
  constexpr std::array kAnswers = {
      Answer{1, {132, 66, 30, 15, 7}},    Answer{2, {264, 132, 62, 30, 14}},
      Answer{3, {396, 198, 92, 45, 21}},  Answer{4, {528, 264, 124, 62, 28}},
      Answer{6, {792, 396, 186, 92, 42}}, Answer{8, {1056, 528, 248, 124, 58}}};
  Gpu gpu = testing::gpu_named("h200-sxm");
  for (const Answer& answer : kAnswers) {
    const Occupancy fit{answer.blocks_per_sm, 4 * answer.blocks_per_sm, OccupancyLimiter::warps};
    Launch clusters = launch(128, 32, 0);
    for (std::size_t i = 0; i < answer.clusters.size(); ++i) {
      const std::int64_t blocks = std::int64_t{1} << i;
      clusters.cluster[0] = blocks;
      EXPECT_EQ(places(clusters, fit, gpu), answer.clusters[i] * blocks)
          << answer.blocks_per_sm << " blocks an SM, clusters of " << blocks;
    }
  }
  // Half of the SMs hold half of the clusters; without GPCs all SMs do.
  gpu.sm_count = 66;
  Launch eights = launch(128, 32, 0);
  eights.cluster[0] = 8;
  EXPECT_EQ(places(eights, {2, 8, OccupancyLimiter::warps}, gpu), 15 * 8);
  gpu.features.gpc_sms.clear();
  EXPECT_EQ(places(eights, {2, 8, OccupancyLimiter::warps}, gpu), 132);
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
