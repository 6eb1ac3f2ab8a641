// The plans of a library's product.
#include "model/libraries/gemm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "model/counting/totals.hpp"
#include "model/laws/occupancy.hpp"
#include "model/predict.hpp"
#include "tests/model/plans.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast::gemm {
namespace {

using roofcast::testing::gpu_named;

Problem product(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::bf16) {
  Problem p;
  p.dtype = type;
  p[kM] = m;
  p[kN] = n;
  p[kK] = k;
  p[kBatch] = 1;
  return p;
}

Problem with_tile(Problem p, std::int64_t m, std::int64_t n, std::int64_t splits = 1) {
  p[kTileM] = m;
  p[kTileN] = n;
  p[kSplitK] = splits;
  return p;
}

double time_s(const Problem& p, const Gpu& gpu, CacheState cache = CacheState::cold) {
  return predict(find_kernel("gemm.library"), p, gpu, {.cache = cache}).time->expected_s;
}

TEST(GemmLibrary, CountsTilesStepsAndTraffic) {
  const Gpu h200 = gpu_named("h200-sxm");
  const LaunchSequence program = plan_library(with_tile(product(1000, 1024, 496), 128, 256), h200);
  ASSERT_EQ(program.size(), 1U);
  const Plan& plan = program.front().plan;
  EXPECT_EQ(plan.launch.blocks(), 8 * 4);
  EXPECT_EQ(testing::loop_steps(plan), 8);  // of 64 elements, 128 B
  // Four tile columns receive A and eight tile rows, of 125 rows each on average, B; L2 looks up half
  // of a step's lines of B and three quarters of those of A, whose rows begin off lines.
  EXPECT_DOUBLE_EQ(total_work(plan).l2.read_bytes, 496.0 * 2 * (4 * 1000 + 8 * 1024));
  EXPECT_NEAR(testing::l2_read_bytes(plan), 32.0 * 8 * (125 * 0.75 + 256 * 0.5) * 128, 1);
  EXPECT_DOUBLE_EQ(total_work(plan).l2.write_bytes, 1000.0 * 1024 * 2);
  EXPECT_DOUBLE_EQ(plan.useful.tensor_flops[DType::bf16], 2.0 * 1000 * 1024 * 496);
  EXPECT_DOUBLE_EQ(issued_by_launch(plan).tensor_flops[DType::bf16], 2.0 * 1024 * 1024 * 512);
}

TEST(GemmLibrary, TakesWgmmaForTf32OfAlignedRows) {
  const Gpu h200 = gpu_named("h200-sxm");
  const auto plan = [&h200](std::int64_t k) {
    const Problem p = with_tile(product(1024, 1024, k, DType::tf32), 64, 64);
    return plan_library(p, h200).front().plan;
  };
  EXPECT_EQ(plan(1024).needs, std::vector{Instruction::wgmma});
  EXPECT_EQ(plan(1023).needs, std::vector{Instruction::mma_sync});
  // 128 lines, each written by copies and read by two warps.
  EXPECT_EQ(testing::first_step(plan(1023)).wavefronts.operands, 3 * 128);
}

// cuBLAS 13.0 launched these for them (profile of 2026-11-23).
TEST(GemmLibrary, WeighsUpTheTilesThatProfilesName) {
  const Gpu h100 = gpu_named("h100-sxm5");
  for (const auto& [m, n, k, tile_m, tile_n] :
       {std::array<std::int64_t, 5>{173, 10752, 11560, 88, 192},
        {1149, 2008, 6056, 128, 144},
        {4435, 1624, 1088, 224, 128},
        {145, 7288, 6752, 152, 64},
        {9, 8848, 3768, 16, 128}}) {
    const std::vector<Problem> all = library_candidates(product(m, n, k), h100);
    EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                            [tile_m = tile_m, tile_n = tile_n](const Problem& p) {
                              return p[kTileM] == tile_m && p[kTileN] == tile_n && p[kSplitK] == 1;
                            }))
        << m << "x" << n << "x" << k;
    EXPECT_LT(all.size(), 100U);
  }
}

TEST(GemmLibrary, TilesAreAsWideAsRegistersAndSharedMemoryAllow) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto tile = [&h100](std::int64_t m, std::int64_t n) {
    return library_outline(with_tile(product(8192, 8192, 8192), m, n), h100).scheduler;
  };
  EXPECT_EQ(tile(184, 128), TileScheduler::persistent);
  EXPECT_EQ(tile(8, 64), TileScheduler::persistent);
  EXPECT_THROW(tile(168, 256), InputError);  // more sums than two groups hold
  EXPECT_THROW(tile(80, 512), InputError);   // two stages
  EXPECT_THROW(tile(100, 128), InputError);
}

TEST(GemmLibrary, AColumnIsReadAsItLies) {
  const Gpu h100 = gpu_named("h100-sxm5");
  EXPECT_LE(time_s(product(14336, 1, 4096), h100), time_s(product(14336, 8, 4096), h100));
  EXPECT_LT(time_s(product(14336, 1, 4095), h100), 1.5 * time_s(product(14336, 8, 4096), h100));
}

TEST(GemmLibrary, AddsPartsOfKInALaunchOfTheirOwn) {
  const Gpu h200 = gpu_named("h200-sxm");
  const LaunchSequence program = plan_library(with_tile(product(64, 256, 8192), 64, 256, 4), h200);
  ASSERT_EQ(program.size(), 2U);
  EXPECT_EQ(program[0].plan.launch.blocks(), 4);
  EXPECT_EQ(testing::loop_steps(program[0].plan), 32);
  const double parts = 4.0 * 64 * 256 * 4;
  EXPECT_DOUBLE_EQ(total_work(program[0].plan).l2.write_bytes, parts);
  EXPECT_DOUBLE_EQ(total_work(program[1].plan).l2.read_bytes, parts);
  EXPECT_DOUBLE_EQ(total_work(program[1].plan).compulsory.write_bytes, 64.0 * 256 * 2);
}

TEST(GemmLibrary, SplitsKWhereTilesLeaveSmsEmpty) {
  const auto splits = [](const Problem& p) {
    return predict(find_kernel("gemm.library"), p, gpu_named("h200-sxm")).problem[kSplitK];
  };
  EXPECT_GT(splits(product(64, 256, 65536)), 4);
  EXPECT_EQ(splits(product(8192, 8192, 8192)), 1);
}

TEST(GemmLibrary, HasRoomForTheBlocksThatItsOutlineSays) {
  for (const Gpu& gpu : roofcast::testing::gpus()) {
    if (!gpu.occupancy) continue;
    for (const DType type : kLibraryTypes) {
      if (type != DType::fp32 && !gpu.sm.tensor_flop_per_clk[type]) continue;
      for (const std::int64_t odd : {0, 1}) {
        for (const Problem& p : library_candidates(product(1024, 4096 + odd, 2048, type), gpu)) {
          const LaunchSequence program = plan_library(p, gpu);
          EXPECT_EQ(checked_occupancy(program.front().plan, gpu).blocks_per_sm,
                    library_outline(p, gpu).blocks_per_sm)
              << gpu.name << " " << p[kTileM] << "x" << p[kTileN] << " " << name(type);
        }
      }
    }
  }
}

// Dropping candidates by their outlines costs less than 2% against the plans of all of them.
TEST(GemmLibrary, OutlinesKeepTheFastest) {
  for (const char* name : {"h200-sxm", "a100-sxm4-80gb"}) {
    const Gpu gpu = gpu_named(name);
    for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{8, 4096, 4096},
                                  {129, 768, 3072},
                                  {1024, 1024, 1024},
                                  {2048, 32, 16384},
                                  {4096, 4096, 4096}}) {
      const Problem asked = product(m, n, k);
      double fastest = 1e9;
      for (const Problem& p : library_candidates(asked, gpu)) {
        fastest = std::min(fastest, time_s(p, gpu));
      }
      EXPECT_LE(time_s(asked, gpu), 1.02 * fastest) << name << " " << m << "x" << n << "x" << k;
    }
  }
}

TEST(GemmLibrary, IsSlowerWhereRowsAreNoMultipleOf16Bytes) {
  const Gpu h200 = gpu_named("h200-sxm");
  const double whole = time_s(product(4096, 4096, 4096), h200);
  EXPECT_GT(time_s(product(4096, 4096, 4095), h200), 4 * whole);
  EXPECT_GT(time_s(product(4096, 4094, 4096), h200), 1.5 * whole);
  EXPECT_LT(time_s(product(4095, 4096, 4096), h200), 1.05 * whole);
  const auto notes = predict(find_kernel("gemm.library"), product(4096, 4096, 4095), h200).notes;
  EXPECT_NE(
      std::find_if(notes.begin(), notes.end(),
                   [](const std::string& note) { return note.find("16 B") != std::string::npos; }),
      notes.end());
}

// Rows of C begin every 200 B, and a warp stores 32 pieces of 4 B: 128 B, in 4 sectors where they
// begin at one, else in 5, which is three times in four.
TEST(GemmLibrary, StoresSectorsInPartWhereRowsAreNoMultipleOf16Bytes) {
  const LaunchSequence program =
      plan_library(with_tile(product(128, 100, 64), 128, 64), gpu_named("h200-sxm"));
  const Plan& plan = program.front().plan;
  constexpr double kSectors = 128.0 * 200 / 32 * 4.75 / 4;
  EXPECT_DOUBLE_EQ(total_work(plan).l2.write_bytes, kSectors * 32);
  EXPECT_DOUBLE_EQ(plan.blocks.front().phases.back().step.wavefronts.l1, kSectors / 2);  // 2 blocks
}

// Every second row of 8208 B begins within a sector, and a piece of 128 B touches 1.875 lines.
TEST(GemmLibrary, LinesOfCAreMergedWhereItsRowsBeginWithinASector) {
  const Gpu& gpu = gpu_named("h100-sxm5");
  const auto merged = [&gpu](std::int64_t n) {
    const auto sequence = plan_library(with_tile(product(1024, n, 64), 128, 256), gpu);
    return sequence.front().plan.arrays[kC].pattern.partial_writes;
  };
  EXPECT_DOUBLE_EQ(merged(4104), 1024 * 8208 / 128.0 * 1.875 / 2);
  EXPECT_EQ(merged(4112), 0);
  EXPECT_GT(time_s(product(1024, 40968, 64), gpu), 1.05 * time_s(product(1024, 40976, 64), gpu));
}

TEST(GemmLibrary, FindsWeightsInL2WhereTheirCopiesFit) {
  const Gpu h200 = gpu_named("h200-sxm");
  Problem p = product(64, 1024, 1024);  // 2 MiB of B
  const auto dram_bytes = [&] {
    const Assumptions warm{.cache = CacheState::warm};
    return predict(find_kernel("gemm.library"), p, h200, warm).work.dram.read_bytes;
  };
  const double cold = dram_bytes();
  p[kWeightCopies] = 5;
  EXPECT_LT(dram_bytes(), cold - 1e6);
  p[kWeightCopies] = 100;
  EXPECT_DOUBLE_EQ(dram_bytes(), cold);
}

TEST(GemmLibrary, QuantizesInALaunchBefore) {
  const Gpu h200 = gpu_named("h200-sxm");
  Problem p = product(4096, 4096, 4096, DType::fp8);
  const double alone = time_s(p, h200);
  p[kQuantize] = kActivations;
  const double by_known_scale = time_s(p, h200);
  EXPECT_GT(by_known_scale, alone);
  p[kQuantize] = kDynamic;
  EXPECT_GT(time_s(p, h200), by_known_scale);
  p.dtype = DType::bf16;
  EXPECT_THROW(time_s(p, h200), InputError);
}

TEST(GemmLibrary, FindsAScaleInFourLaunches) {
  const auto launches = [](std::int64_t m, std::int64_t k) {
    Problem p = with_tile(product(m, 256, k, DType::fp8), 64, 256);
    p[kQuantize] = kDynamic;
    return plan_library(p, gpu_named("h200-sxm"));
  };
  const LaunchSequence program = launches(4096, 4096);
  ASSERT_EQ(program.size(), 5U);
  const double elements = 4096.0 * 4096;
  const auto l2 = [&program](std::size_t i) { return total_work(program[i].plan).l2; };
  EXPECT_DOUBLE_EQ(l2(1).read_bytes, elements * 2);  // by 1024 blocks of 1024, 16 a thread
  EXPECT_DOUBLE_EQ(l2(2).read_bytes, elements * 2);
  EXPECT_DOUBLE_EQ(l2(2).write_bytes, elements);
  EXPECT_EQ(program[1].plan.launch.blocks(), 1024);
  EXPECT_EQ(program[1].plan.blocks.size(), 1U);
  EXPECT_DOUBLE_EQ(program[1].plan.blocks.front().phases.front().repeats, 4);
  EXPECT_DOUBLE_EQ(program[2].plan.blocks.front().phases.front().repeats, 64);
  // Three blocks have something to read, the others only to compare.
  const LaunchSequence small = launches(3, 1008);
  EXPECT_EQ(small[1].plan.blocks.front().count, 3);
  EXPECT_EQ(small[1].plan.blocks.back().count, 1021);
  EXPECT_NEAR(total_work(small[1].plan).l2.read_bytes, 6048, 1e-9);
}

TEST(GemmLibrary, SumsOfFp32EndAfterAnyEightElements) {
  const Gpu a100 = gpu_named("a100-pcie-80gb");
  const auto steps = [&a100](std::int64_t k) {
    return library_outline(with_tile(product(512, 512, k, DType::fp32), 128, 64), a100)
        .loop.repeats;
  };
  EXPECT_DOUBLE_EQ(steps(196), 25);
  EXPECT_DOUBLE_EQ(steps(200), 25);
}

TEST(GemmLibrary, ProductsOfABatchAreNotSplit) {
  for (const char* name : {"a100-pcie-80gb", "h100-sxm5"}) {
    Problem p = product(64, 64, 8192, DType::fp32);
    p[kBatch] = 4;
    for (const Problem& one : library_candidates(p, gpu_named(name))) EXPECT_EQ(one[kSplitK], 1);
  }
}

TEST(GemmLibrary, BatchesAreAsManyTilesAndBytes) {
  const Gpu h200 = gpu_named("h200-sxm");
  Problem p = with_tile(product(512, 512, 512), 128, 256);
  const Plan one = plan_library(p, h200).front().plan;
  p[kBatch] = 7;
  const Plan seven = plan_library(p, h200).front().plan;
  EXPECT_EQ(seven.launch.blocks(), 7 * one.launch.blocks());
  EXPECT_DOUBLE_EQ(total_work(seven).compulsory.total_bytes(),
                   7 * total_work(one).compulsory.total_bytes());
  EXPECT_DOUBLE_EQ(seven.useful.tensor_flops[DType::bf16],
                   7 * one.useful.tensor_flops[DType::bf16]);
  EXPECT_DOUBLE_EQ(library_work(p).compulsory.total_bytes(),
                   total_work(seven).compulsory.total_bytes());
}

TEST(GemmLibrary, RefusesWhatThereIsNot) {
  EXPECT_THROW(time_s(product(64, 64, 64), gpu_named("p100")), InputError);
  EXPECT_THROW(time_s(product(64, 64, 64, DType::fp8), gpu_named("a100-sxm4-80gb")), InputError);
  EXPECT_THROW(time_s(with_tile(product(64, 64, 64), 100, 100), gpu_named("h200-sxm")), InputError);
}

// 1792 -> 1793 with the A100's tiles of 128x256: 98 blocks fill most of one wave, 120 need two.
TEST(GemmLibrary, PastAWaveTheNextOneIsMostlyEmpty) {
  const Gpu a100 = gpu_named("a100-sxm4-80gb");
  const auto waves = [&a100](std::int64_t size) {
    return predict(find_kernel("gemm.library"), with_tile(product(size, size, size), 128, 256),
                   a100);
  };
  EXPECT_EQ(waves(1792).launch->blocks(), 98);
  EXPECT_LT(waves(1792).waves->count, 1);
  EXPECT_EQ(waves(1793).launch->blocks(), 120);
  EXPECT_GT(waves(1793).waves->count, 1);
}

Problem lying(Problem p, Layout layout, std::int64_t lda = 0) {
  p[kLayout] = layout;
  p[kLda] = lda;
  return p;
}

// validation/measured/h100-sxm5-cublas-layouts-2026-11-23b.csv: cuBLAS takes its kernels for wgmma
// where the contiguous dimensions of A, B and C are multiples of 16 B, whatever the others are.
TEST(GemmLibrary, ContiguousDimensionsDecideWhichKernelsAreTaken) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Problem odd_m = product(4687, 7960, 1080), odd_k = product(8192, 768, 50257);
  const double fast = time_s(lying(odd_m, kNT), h100);
  EXPECT_NEAR(time_s(lying(odd_m, kNN), h100) / fast, 1, 0.1);
  EXPECT_GT(time_s(lying(odd_m, kTN), h100) / fast, 3);
  EXPECT_GT(time_s(lying(odd_k, kNN), h100) / time_s(lying(odd_k, kTN), h100), 3);
}

TEST(GemmLibrary, ALeadingDimensionAlignsRows) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Problem odd = product(4687, 7960, 1080);
  EXPECT_LT(time_s(lying(odd, kTN, 4688), h100), 0.4 * time_s(lying(odd, kTN), h100));
  EXPECT_THROW(time_s(lying(odd, kTN, 4000), h100), InputError);
}

}  // namespace
}  // namespace roofcast::gemm
