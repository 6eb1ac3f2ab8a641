// Products on the SIMT pipes, counted by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "model/kernels/compiled.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast {
namespace {

Plan plan_of(std::string_view name, std::int64_t m, std::int64_t n, std::int64_t k) {
  for (const KernelRef& kernel : testing::all_variants()) {
    if (kernel.kernel->name != name) continue;
    Problem problem = testing::templates(kernel).front().problem;
    problem[0] = m;
    problem[1] = n;
    problem[2] = k;
    return kernel.kernel->plan(problem, testing::hopper_like()).front().plan;
  }
  throw InputError("no such kernel");
}

double stored_bytes(const BlockClass& blocks) {
  return blocks.phases.back().step.issued.requested.write_bytes;
}

// Tiles of 128 × 256: of 192 × 1024 elements four are whole, the four below have 64 rows.
TEST(Gemm, TilesThatAnEdgeCutsStoreLess) {
  const Plan plan = plan_of("gemm.vectorized", 192, 1024, 64);
  ASSERT_EQ(plan.blocks.size(), 2U);
  EXPECT_EQ(plan.blocks[0].count, 4);
  EXPECT_EQ(plan.blocks[1].count, 4);
  EXPECT_NEAR(stored_bytes(plan.blocks[0]), 128 * 256 * 4, 1e-6);
  EXPECT_NEAR(stored_bytes(plan.blocks[1]), 64 * 256 * 4, 1e-6);
}

TEST(Gemm, WholeTilesAloneOrNone) {
  const Plan whole = plan_of("gemm.vectorized", 256, 512, 64);
  ASSERT_EQ(whole.blocks.size(), 1U);
  EXPECT_EQ(whole.blocks[0].count, 4);
  EXPECT_NEAR(stored_bytes(whole.blocks[0]), 128 * 256 * 4, 1e-6);
  const Plan none = plan_of("gemm.vectorized", 100, 300, 64);
  ASSERT_EQ(none.blocks.size(), 1U);
  EXPECT_EQ(none.blocks[0].count, 2);
  EXPECT_NEAR(stored_bytes(none.blocks[0]), 100 * 300 * 4 / 2, 1e-6);
}

// 8192 × 8193 × 160 on an H200 writes 863 MB to L2 for the 268 MB of C, by its counters
// (h200-sxm-vectorized-2026-11-30); 8192 × 8192 × 161 writes 290.
TEST(Gemm, RowsOffSixteenBytesAreStoredElementByElement) {
  const KernelRef kernel = find_kernel("gemm.vectorized");
  const auto written = [&](std::int64_t n, std::int64_t k) {
    const Problem problem{.dtype = DType::fp32, .values = {8192, n, k, 128, 256, 16, 16, 8}};
    return predict(kernel, problem, testing::gpu_named("h200-sxm")).work.l2.write_bytes;
  };
  EXPECT_NEAR(written(8193, 160), 863e6, 0.3 * 863e6);
  EXPECT_NEAR(written(8192, 161), 290e6, 0.1 * 290e6);
}

TEST(Gemm, AllBlocksStoreTheProductOnce) {
  for (const char* name : {"gemm.naive", "gemm.coalesced", "gemm.tiled", "gemm.coarsened_1d",
                           "gemm.coarsened_2d", "gemm.vectorized"}) {
    for (const std::int64_t size : {1, 100, 512, 1000}) {
      const Work total = issued_by_launch(plan_of(name, size, size, 64));
      const auto bytes = static_cast<double>(size * size * 4);
      EXPECT_NEAR(total.requested.write_bytes, bytes, 1e-9 * bytes) << name << ' ' << size;
    }
  }
}

// 4 × 8 sums, 4 + 8 operands of two steps, 32 for addresses; at most 255.
TEST(Gemm, RegistersOfTilesThatAreNotCompiledAreEstimated) {
  const auto registers = [](std::int64_t thread_m, std::int64_t thread_n) {
    const KernelRef kernel = find_kernel("gemm.coarsened_2d");
    Problem problem{.values = {1024, 1024, 1024, 128, 128, 8, thread_m, thread_n}};
    const Plan plan = kernel.kernel->plan(problem, testing::hopper_like()).front().plan;
    EXPECT_NE(plan.notes.caveat.find("registers and instructions are estimated"),
              std::string_view::npos);
    return plan.launch.registers;
  };
  EXPECT_EQ(registers(4, 8), 32 + 2 * 12 + 32);
  EXPECT_EQ(registers(16, 16), 255);
}

// The main loop's step of gemm.naive or gemm.coalesced in its first tile.
Step direct_step(std::string_view name, std::int64_t m, std::int64_t n, std::int64_t k) {
  return plan_of(name, m, n, k).blocks.front().phases.front().step;
}

// 32 lines anywhere in memory put 11 on the fullest of four tag banks, consecutive lines 8 on each.
// B adds one line.
TEST(Gemm, RowsFarApartCrowdATagBank) {
  EXPECT_NEAR(direct_step("gemm.naive", 32, 32, 867).wavefronts.l1_lookups, 32 * (43.99 + 1), 0.1);
  EXPECT_DOUBLE_EQ(direct_step("gemm.naive", 32, 32, 32).wavefronts.l1_lookups, 32 * (32 + 1));
  EXPECT_DOUBLE_EQ(direct_step("gemm.coalesced", 32, 32, 867).wavefronts.l1_lookups, 32 * (1 + 1));
}

// Blocks of 32 × 32. gemm.coalesced: a warp has a row of A to itself and shares columns of B with
// all 32 warps. Of two groups of four steps the first waits a whole trip for A, the second half a
// trip for B. gemm.naive: all warps wait for the same rows of A.
TEST(Gemm, ALineThatOtherWarpsAskForIsOnItsWay) {
  EXPECT_DOUBLE_EQ(direct_step("gemm.coalesced", 64, 64, 64).waits.global, 1.5 / 8);
  EXPECT_DOUBLE_EQ(direct_step("gemm.naive", 64, 64, 64).waits.global, 2.0 / 8);
}

// Lanes of two rows read two words of A: in one wavefront unless k is a multiple of 32 words.
TEST(Gemm, RowsOfAInOtherBanksTakeOneWavefront) {
  const auto wavefronts = [](std::int64_t k) {
    const Problem problem{.values = {64, 64, k, 16, 16}};
    const KernelRef kernel = find_kernel("gemm.coalesced");
    const Plan plan = kernel.kernel->plan(problem, testing::hopper_like()).front().plan;
    return plan.blocks.front().phases.front().step.wavefronts.l1;
  };
  EXPECT_DOUBLE_EQ(wavefronts(65), 8 * (1 + 1));
  EXPECT_DOUBLE_EQ(wavefronts(64), 8 * (1 + 2));
}

// The counted loops, of the kernels for rows on and off 16 bytes.
TEST(Gemm, RowsOff16BytesTakeTheInstructionsOfTheirKernel) {
  const auto instructions = [](std::int64_t n) {
    const Problem problem{.values = {1024, n, 1024, 128, 128, 16, 16, 8}};
    const KernelRef kernel = find_kernel("gemm.vectorized");
    const Plan plan = kernel.kernel->plan(problem, testing::hopper_like()).front().plan;
    return plan.blocks.front().phases.front().step.warp_instructions;
  };
  const auto counted = [](std::int64_t aligned) {
    return 4 * compiled::find("gemm::vectorized_kernel", {128, 128, 16, 16, 8, aligned}).loops[0];
  };
  EXPECT_DOUBLE_EQ(instructions(1024), counted(1));
  EXPECT_DOUBLE_EQ(instructions(1022), counted(0));
  EXPECT_GT(counted(0), counted(1));
}

}  // namespace
}  // namespace roofcast
