// The specifications in hw_specs/: all load, and their rates make the datasheets' peaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "model/laws/clock.hpp"
#include "model/laws/peaks.hpp"
#include "tests/hw_specs/support.hpp"

namespace roofcast::specs {
namespace {

constexpr std::array<std::string_view, 18> kNames = {"a100-pcie-40gb",
                                                     "a100-pcie-80gb",
                                                     "a100-sxm4-40gb",
                                                     "a100-sxm4-80gb",
                                                     "b200",
                                                     "h100-pcie",
                                                     "h100-sxm5",
                                                     "h200-sxm",
                                                     "k80",
                                                     "l4",
                                                     "l40s",
                                                     "p100",
                                                     "rtx4090",
                                                     "t4",
                                                     "tpu-v4",
                                                     "tpu-v5e",
                                                     "v100-pcie-32gb",
                                                     "v100-sxm2"};

TEST(Shipped, EveryNameIsThereAndLoads) {
  std::set<std::string_view> found;
  for (const Embedded& one : embedded()) {
    found.insert(one.name);
    const Gpu gpu = load(datasheet(one.name));
    EXPECT_EQ(gpu.name, one.name);
    EXPECT_FALSE(gpu.title.empty());
    EXPECT_GT(gpu.memory.dram_bandwidth_bytes_per_s.value_or(0), 1e11) << one.name;
    EXPECT_EQ(gpu.occupancy.has_value(), gpu.kind == DeviceKind::gpu) << one.name;
  }
  for (const std::string_view name : kNames) EXPECT_TRUE(found.contains(name)) << name;
  EXPECT_EQ(find_embedded("h100"), nullptr);
}

// The GK210s of a K80 share one board and its link.
TEST(Shipped, EveryGpuHasWhatCollectivesNeed) {
  for (const Embedded& one : embedded()) {
    const Gpu gpu = load(datasheet(one.name));
    if (gpu.kind != DeviceKind::gpu || gpu.name == "k80") continue;
    EXPECT_TRUE(gpu.link_bytes_per_s && gpu.collective_link_share && gpu.collective_start_s &&
                gpu.collective_step_s)
        << one.name;
    EXPECT_EQ(gpu.link_over_pcie, *gpu.link_bytes_per_s < 150e9) << one.name;
  }
}

// What is compiled into the program is not checked at its start. A line more makes it another text.
TEST(Shipped, PassesTheChecksOfOtherFiles) {
  for (const Embedded& one : embedded()) {
    Source source = shipped_source(one);
    source.text += '\n';
    EXPECT_NO_THROW((void)load(source)) << one.name;
  }
  Source wrong = shipped_source("h100-sxm5");
  wrong.overlay_text = shipped_source("h200-sxm").overlay_text;
  EXPECT_THROW((void)load(wrong), SpecError);
}

TEST(Shipped, EverySourceIsUsed) {
  for (const Embedded& one : embedded()) {
    const Json specification = document(one.name);
    const std::string text(one.text);
    for (const auto& [key, entry] : specification["sources"].items()) {
      const bool of_a_value = text.find("\"source\": \"" + key + '"') != std::string::npos;
      const bool of_a_formula = text.find('(' + key + ')') != std::string::npos;  // in a note
      EXPECT_TRUE(of_a_value || of_a_formula) << one.name << key;
    }
  }
}

struct Peak {
  std::string_view gpu;
  DType type;
  bool tensor;
  double flops_per_s;
  double tolerance = 1e-3;
};

std::ostream& operator<<(std::ostream& out, const Peak& peak) {
  return out << peak.gpu << ' ' << name(peak.type) << (peak.tensor ? " tensor" : " vector");
}

// Dense figures of the datasheets; a tolerance where the datasheet rounds them.
constexpr std::array kPeaks = {
    Peak{"v100-sxm2", DType::fp16, true, 125e12, 3e-3},
    Peak{"v100-sxm2", DType::fp32, false, 15.7e12, 3e-3},
    Peak{"v100-sxm2", DType::fp64, false, 7.8e12, 5e-3},
    Peak{"v100-sxm2", DType::fp16, false, 31.4e12, 3e-3},
    Peak{"v100-pcie-32gb", DType::fp16, true, 112e12, 3e-3},
    Peak{"v100-pcie-32gb", DType::fp32, false, 14e12, 3e-3},
    Peak{"v100-pcie-32gb", DType::fp64, false, 7e12, 3e-3},
    Peak{"a100-sxm4-40gb", DType::fp16, true, 312e12},
    Peak{"a100-sxm4-40gb", DType::bf16, true, 312e12},
    Peak{"a100-sxm4-40gb", DType::tf32, true, 156e12},
    Peak{"a100-sxm4-40gb", DType::int8, true, 624e12},
    Peak{"a100-sxm4-40gb", DType::fp64, true, 19.5e12},
    Peak{"a100-sxm4-40gb", DType::fp32, false, 19.5e12},
    Peak{"a100-sxm4-40gb", DType::fp64, false, 9.7e12, 5e-3},
    Peak{"a100-sxm4-40gb", DType::fp16, false, 78e12},
    Peak{"a100-sxm4-40gb", DType::bf16, false, 39e12},
    Peak{"a100-sxm4-80gb", DType::fp16, true, 312e12},
    Peak{"a100-pcie-40gb", DType::fp16, true, 312e12},
    Peak{"a100-pcie-80gb", DType::fp16, true, 312e12},
    Peak{"h100-sxm5", DType::fp16, true, 989.4e12},
    Peak{"h100-sxm5", DType::bf16, true, 989.4e12},
    Peak{"h100-sxm5", DType::tf32, true, 494.7e12},
    Peak{"h100-sxm5", DType::fp8, true, 1978.9e12},
    Peak{"h100-sxm5", DType::int8, true, 1978.9e12},
    Peak{"h100-sxm5", DType::fp64, true, 66.9e12},
    Peak{"h100-sxm5", DType::fp32, false, 66.9e12},
    Peak{"h100-sxm5", DType::fp64, false, 33.5e12, 2e-3},
    Peak{"h100-sxm5", DType::fp16, false, 133.8e12},
    Peak{"h100-pcie", DType::fp16, true, 756e12},
    Peak{"h100-pcie", DType::fp64, true, 51.2e12, 2e-3},
    Peak{"h100-pcie", DType::fp32, false, 51.2e12, 2e-3},
    Peak{"h100-pcie", DType::fp64, false, 25.6e12, 2e-3},
    Peak{"h200-sxm", DType::fp16, true, 989e12},
    Peak{"h200-sxm", DType::fp64, true, 67e12, 2e-3},
    Peak{"h200-sxm", DType::fp32, false, 67e12, 2e-3},
    Peak{"b200", DType::bf16, true, 2250e12},
    Peak{"b200", DType::fp8, true, 4500e12},
    Peak{"b200", DType::fp4, true, 9000e12},
    Peak{"b200", DType::int8, true, 4500e12},
    Peak{"b200", DType::fp64, true, 40e12, 0.08},
    Peak{"b200", DType::fp64, false, 40e12, 0.08},
    Peak{"b200", DType::fp32, false, 80e12, 0.08},
    Peak{"b200", DType::tf32, true, 1100e12, 0.03},
    Peak{"l40s", DType::fp8, true, 733e12},
    Peak{"l40s", DType::fp16, true, 362e12, 0.015},
    Peak{"l40s", DType::fp32, false, 91.6e12},
    Peak{"rtx4090", DType::fp16, true, 165.15e12},
    Peak{"rtx4090", DType::int8, true, 660.6e12},
    Peak{"rtx4090", DType::bf16, false, 82.58e12},
    Peak{"rtx4090", DType::fp32, false, 82.58e12},
    Peak{"p100", DType::fp32, false, 10.6e12, 2e-3},
    Peak{"p100", DType::fp16, false, 21.2e12, 2e-3},
};

class DatasheetPeak : public testing::TestWithParam<Peak> {};

TEST_P(DatasheetPeak, IsSmsTimesRateTimesClock) {
  const Peak& peak = GetParam();
  const Gpu gpu = load(datasheet(peak.gpu));
  const auto& rates = peak.tensor ? gpu.sm.tensor_flop_per_clk : gpu.sm.vector_flop_per_clk;
  const auto clock = peak.tensor ? tensor_peak_clock_hz(gpu, peak.type) : vector_peak_clock_hz(gpu);
  ASSERT_TRUE(gpu.sm_count && rates[peak.type] && clock);
  const double made = static_cast<double>(*gpu.sm_count) * *rates[peak.type] * *clock;
  EXPECT_NEAR(made / peak.flops_per_s, 1, peak.tolerance);
}

INSTANTIATE_TEST_SUITE_P(All, DatasheetPeak, testing::ValuesIn(kPeaks));

TEST(Shipped, PeaksOfWholeDevices) {
  EXPECT_EQ(load(datasheet("k80")).peak_flops_per_s[DType::fp32], 8.73e12);
  EXPECT_EQ(load(datasheet("tpu-v4")).peak_flops_per_s[DType::bf16], 275e12);
  EXPECT_EQ(load(datasheet("tpu-v5e")).peak_flops_per_s[DType::int8], 393e12);
}

TEST(Shipped, UnitsThatDoNotExistAreAbsent) {
  const Gpu v100 = load(datasheet("v100-sxm2"));
  EXPECT_FALSE(v100.sm.tensor_flop_per_clk[DType::bf16]);
  EXPECT_FALSE(v100.sm.tensor_flop_per_clk[DType::fp64]);
  EXPECT_FALSE(load(datasheet("a100-sxm4-40gb")).sm.tensor_flop_per_clk[DType::fp8]);
  EXPECT_FALSE(load(datasheet("p100")).sm.tensor_flop_per_clk[DType::fp16]);
  EXPECT_FALSE(load(datasheet("tpu-v4")).sm_count);
}

TEST(Shipped, AllocationRules) {
  const OccupancyRules hopper = *load(datasheet("h200-sxm")).occupancy;
  EXPECT_EQ(hopper.warps_per_sm, 64);
  EXPECT_EQ(hopper.blocks_per_sm, 32);
  EXPECT_EQ(hopper.shared_bytes_per_sm, 228 * 1024);
  EXPECT_EQ(hopper.shared_bytes_per_block, 227 * 1024);
  EXPECT_EQ(hopper.shared_reserved_bytes_per_block, 1024);
  const OccupancyRules ada = *load(datasheet("rtx4090")).occupancy;
  EXPECT_EQ(ada.warps_per_sm, 48);
  EXPECT_EQ(ada.blocks_per_sm, 24);
  EXPECT_EQ(load(datasheet("v100-sxm2")).occupancy->shared_reserved_bytes_per_block, 0);
  EXPECT_EQ(load(datasheet("p100")).occupancy->warp_allocation_unit, 2);
  EXPECT_EQ(load(datasheet("k80")).occupancy->registers_per_sm, 131072);
}

// Published: 2048 and 5120 B/clk at the boost clock. RRZE reads 2.44, 5.43, 8.3 and 9.7 TB/s.
TEST(Shipped, L2GivesWhatIsPublished) {
  const auto peak = [](std::string_view name) {
    const Gpu gpu = load(datasheet(name));
    return *l2_peak_bytes_per_s(gpu, *limit_clock_hz(gpu));
  };
  EXPECT_NEAR(peak("v100-sxm2"), 3.13e12, 0.01e12);
  EXPECT_NEAR(peak("a100-sxm4-80gb"), 7.22e12, 0.01e12);
  EXPECT_NEAR(peak("h100-pcie"), 8.99e12, 0.01e12);
  EXPECT_NEAR(peak("h200-sxm"), 12.16e12, 0.01e12);  // 60 MiB of slices, an H100 has 50
  EXPECT_NEAR(peak("b200"), 24.15e12, 0.01e12);      // two such dies; 21.2 TB/s were read
}

// Instructions of each generation, by the PTX manual and the tuning guides.
TEST(Shipped, FeaturesOfTheGenerations) {
  for (const Embedded& one : embedded()) {
    const Gpu gpu = load(datasheet(one.name));
    if (gpu.kind == DeviceKind::tpu) {
      EXPECT_FALSE(gpu.compute_capability || gpu.features.grid_max[0]) << one.name;
      continue;
    }
    ASSERT_TRUE(gpu.compute_capability) << one.name;
    EXPECT_FALSE(gpu.architecture.empty() || gpu.die.empty()) << one.name;
    EXPECT_EQ(gpu.features.grid_max[1], 65535) << one.name;
    const int major = gpu.compute_capability->major;
    EXPECT_EQ(gpu.features.has_clusters(), major >= 9) << one.name;
    EXPECT_EQ(gpu.features.has(Instruction::cp_async), major >= 8) << one.name;
    EXPECT_EQ(gpu.features.has(Instruction::bulk_copy), major >= 9) << one.name;
    EXPECT_EQ(gpu.features.has(Instruction::mma_sync), major >= 7) << one.name;
    EXPECT_EQ(gpu.features.has(Instruction::wgmma), major == 9) << one.name;
    EXPECT_EQ(gpu.features.has(Instruction::tcgen05), major == 10) << one.name;
    EXPECT_EQ(computes_in(gpu, DType::bf16), major >= 8) << one.name;
  }
}

TEST(Shipped, LatenciesOfEveryGpuThatHasRates) {
  for (const Embedded& one : embedded()) {
    const Gpu gpu = load(datasheet(one.name));
    if (!gpu.sm_count) continue;
    EXPECT_TRUE(gpu.latency.fma_cycles && gpu.latency.shared_cycles && gpu.latency.l1_cycles &&
                gpu.latency.l2_cycles)
        << one.name;
    EXPECT_TRUE(gpu.sm.warp_issue_per_clk) << one.name;
  }
}

// An RTX 4090 runs twice as fast when it adds up in fp16, so its limit must not be the slower rate.
TEST(Shipped, TheFasterAccumulationIsTheLimit) {
  const Gpu gpu = load(datasheet("rtx4090"));
  EXPECT_NEAR(*device_rate(gpu.sm.tensor_flop_per_clk[DType::fp16], gpu, 2.52e9), 165.15e12,
              0.1e12);
  EXPECT_NEAR(*fastest_tensor_flops_per_s(gpu, DType::fp16, 2.52e9), 330.3e12, 0.1e12);
  EXPECT_NEAR(*fastest_tensor_flops_per_s(gpu, DType::bf16, 2.52e9), 165.15e12, 0.1e12);
  EXPECT_DOUBLE_EQ(best_peak(gpu, DType::fp16)->flops_per_s,
                   *fastest_tensor_flops_per_s(gpu, DType::fp16, *limit_clock_hz(gpu)));
}

// Every member once, so that none is filled from another's key.
TEST(Shipped, EveryMemberOfOneDevice) {
  const Gpu gpu = load(datasheet("h200-sxm"));
  EXPECT_EQ(gpu.title, "NVIDIA H200 SXM 141 GB");
  EXPECT_EQ(gpu.year, 2024);
  EXPECT_EQ(gpu.kind, DeviceKind::gpu);
  EXPECT_EQ(gpu.compute_capability, (ComputeCapability{9, 0}));
  EXPECT_EQ(gpu.architecture, "hopper");
  EXPECT_EQ(gpu.die, "GH100");
  EXPECT_EQ(gpu.sm_count, 132);
  EXPECT_EQ(gpu.clocks.vector_boost_hz, 1.98e9);
  EXPECT_EQ(gpu.clocks.tensor_boost_hz, 1.83e9);
  EXPECT_EQ(gpu.clocks.tensor_fp64_boost_hz, 1.98e9);
  EXPECT_EQ(gpu.clocks.max_hz, 1.98e9);
  EXPECT_EQ(gpu.sm.special_per_clk, 16.0);
  EXPECT_EQ(gpu.sm.integer_per_clk, 64.0);
  EXPECT_EQ(gpu.sm.warp_issue_per_clk, 4.0);
  EXPECT_EQ(gpu.sm.shared_bytes_per_clk, 128.0);
  EXPECT_EQ(gpu.sm.l1_bytes_per_clk, 128.0);
  EXPECT_EQ(gpu.sm.l2_bytes_per_clk, 94.0);
  EXPECT_EQ(gpu.memory.dram_bandwidth_bytes_per_s, 4.8e12);
  EXPECT_EQ(gpu.memory.dram_bytes, 141.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(gpu.memory.dram_access_bytes, 64.0);
  EXPECT_EQ(gpu.memory.l2_bytes, 60.0 * 1024 * 1024);
  EXPECT_EQ(gpu.memory.l2_bytes_per_clk, 6144.0);
  EXPECT_EQ(gpu.memory.l1_line_bytes, 128);
  EXPECT_EQ(gpu.memory.l2_line_bytes, 128);
  EXPECT_EQ(gpu.memory.l2_sector_bytes, 32);
  EXPECT_EQ(gpu.memory.l1_shared_bytes, 256.0 * 1024);
  EXPECT_EQ(gpu.memory.shared_banks, 32);
  EXPECT_EQ(gpu.memory.shared_bank_bytes, 4);
  EXPECT_EQ(gpu.latency.fma_cycles, 4.0);
  EXPECT_EQ(gpu.latency.shared_cycles, 29.0);
  EXPECT_EQ(gpu.latency.l1_cycles, 34.0);
  EXPECT_EQ(gpu.latency.l2_cycles, 265.0);
  EXPECT_EQ(gpu.latency.dram_cycles, 655.0);
  EXPECT_EQ(gpu.features.grid_max[0], 2147483647);
  EXPECT_EQ(gpu.features.grid_max[1], 65535);
  EXPECT_EQ(gpu.features.grid_max[2], 65535);
  EXPECT_EQ(gpu.features.cluster_blocks_portable, 8);
  EXPECT_EQ(gpu.features.cluster_blocks_max, 16);
  EXPECT_EQ(gpu.occupancy->warp_size, 32);
  EXPECT_EQ(gpu.occupancy->threads_per_block, 1024);
  EXPECT_EQ(gpu.occupancy->registers_per_sm, 65536);
  EXPECT_EQ(gpu.occupancy->registers_per_thread, 255);
  EXPECT_EQ(gpu.occupancy->register_allocation_unit, 256);
  EXPECT_EQ(gpu.occupancy->warp_allocation_unit, 4);
  EXPECT_EQ(gpu.occupancy->shared_allocation_unit_bytes, 128);
  EXPECT_EQ(gpu.power_w, 700.0);
  EXPECT_EQ(gpu.link_bytes_per_s, 900e9);
}

}  // namespace
}  // namespace roofcast::specs
