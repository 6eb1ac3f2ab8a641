// gemm.wgmma, counted by hand.
#include "model/kernels/gemm/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/counting/totals.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "tests/model/kernels/gemm/tensor_problems.hpp"
#include "tests/model/plans.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast::gemm::tensor {
namespace {

using roofcast::testing::gpu_named;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Wgmma, ABlockStaysAndTakesTilesInRounds) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Problem p = product(4096, 4096, 4096, {128, 256, 64, 1, 2});
  const LaunchSequence program = plan_wgmma(p, h100);
  ASSERT_EQ(program.size(), 1U);
  const Plan& plan = program.front().plan;
  EXPECT_EQ(plan.launch.blocks(), 132);
  EXPECT_EQ(plan.launch.threads(), 384);
  EXPECT_EQ(plan.launch.registers, 168);
  // Four stages of 384 lines of 128 B, four panels of 64 lines, ten barriers, room to align.
  EXPECT_EQ(plan.launch.shared_bytes, 4 * 384 * 128 + 4 * 64 * 128 + 80 + 1024);
  EXPECT_EQ(plan.blocks.front().count, 32 * 16);
  EXPECT_EQ(testing::loop_steps(plan), 64);
  EXPECT_EQ(plan.blocks.front().phases.front().groups, 2);  // of warps, each 64 rows
  EXPECT_DOUBLE_EQ(issued_by_launch(plan).tensor_flops[DType::bf16], 2.0 * 4096 * 4096 * 4096);
}

TEST(Wgmma, EveryBlockGetsBoxesAndL2AnswersAClusterOnce) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto plan_of = [&](std::int64_t cluster) {
    return plan_wgmma(product(4096, 4096, 4096, {128, 256, 64, 1, cluster}), h100).front().plan;
  };
  const double delivered = 512.0 * 64 * (128 + 256) * 128;
  EXPECT_DOUBLE_EQ(total_work(plan_of(1)).l2.read_bytes, delivered);
  EXPECT_DOUBLE_EQ(total_work(plan_of(2)).l2.read_bytes, delivered);
  // Without a cluster L2 answers two neighbours' requests together.
  constexpr double kSteps = 512.0 * 64;
  EXPECT_NEAR(testing::l2_read_bytes(plan_of(1)) / kSteps, (128 + 256) / 2 * 128, 1e-6);
  EXPECT_NEAR(testing::l2_read_bytes(plan_of(2)) / kSteps, (128 + 256 / 2) * 128, 1e-6);
  // The copy engine requests every piece from L2, half a line at a time.
  EXPECT_DOUBLE_EQ(testing::first_step(plan_of(1)).wavefronts.copies, 2 * (128 + 256));
  EXPECT_DOUBLE_EQ(testing::first_step(plan_of(2)).wavefronts.copies, 2 * (128 + 128));
}

// Rows of k elements of A and B, in pieces of 128 bytes.
TEST(Wgmma, TheCopyEngineAsksSectorBySectorForPiecesOffASector) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto requests = [&](std::int64_t k) {
    Problem p = product(1280, 2560, k, {128, 256, 64});
    p[kTransposedB] = 1;
    const Plan plan = plan_wgmma(p, h100).front().plan;
    return testing::first_step(plan).wavefronts.copies * testing::loop_steps(plan) * 64 /
           static_cast<double>(k) / (128 + 256);
  };
  EXPECT_DOUBLE_EQ(requests(64 * 100), 2);
  EXPECT_DOUBLE_EQ(requests(64 * 100 + 32), 2);   // halves of two lines
  EXPECT_DOUBLE_EQ(requests(64 * 100 + 16), 2);   // sectors
  EXPECT_DOUBLE_EQ(requests(64 * 100 + 8), 3.5);  // every other row begins within a sector: five
}

TEST(Wgmma, PiecesOffASectorAreLookedUpAlone) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto bytes_of = [&](std::int64_t k) {
    const Plan plan = plan_wgmma(product(1280, 2560, k, {128, 256, 64}), h100).front().plan;
    return testing::l2_read_bytes(plan);
  };
  // Rows of B are whole lines: ten tile rows request them in pairs.
  const double b = 2560 * 5;
  // Rows of A are 142.5 lines, whole sectors: pairs of the ten tile columns join half of them.
  const double a = 1280 * 7.5;
  EXPECT_NEAR(bytes_of(9120), 9120.0 * 2 * (a + b), 1);
  // Rows of A are 1141 times 16 bytes: half of the pieces touch a fifth sector, and none are
  // coalesced.
  EXPECT_NEAR(bytes_of(9128), 9128.0 * 2 * (10 * 1280 * 1.125 + b), 1);
}

TEST(Wgmma, ThreadsStorePartsAndUnalignedRowsBySectors) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto sectors = [&](std::int64_t n, std::int64_t split) {
    double found = 0;
    for (const Launched& node :
         plan_wgmma(product(1280, n, 4096, {128, 256, 64, split, 1}), h100)) {
      if (node.plan.scheduler == TileScheduler::hardware) continue;
      for (const BlockClass& tiles : node.plan.blocks) {
        found += as_double(tiles.count) * tiles.phases.back().step.wavefronts.l1;
      }
    }
    return found;
  };
  EXPECT_EQ(sectors(2560, 1), 0);  // boxes
  // Rows of 2556 elements begin at multiples of 8 bytes: 64 bytes of a warp touch 2.75 sectors.
  EXPECT_DOUBLE_EQ(sectors(2556, 1), 1280.0 * 2556 / 32 * 2.75);
  EXPECT_DOUBLE_EQ(sectors(2560, 4), 4.0 * 1280 * 2560 * 4 / 32);
  EXPECT_DOUBLE_EQ(sectors(2564, 4),
                   4.0 * 1280 * 2564 * 4 / 32 * 1.5);  // rows at multiples of 16 bytes
}

TEST(Wgmma, OperandsOffSixteenBytesAreCopiedAndPartsAdded) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto launches = [&](std::int64_t n, std::int64_t k, std::int64_t split, DType type) {
    const std::int64_t depth = type == DType::fp8 ? 128 : 64;
    return plan_wgmma(product(1000, n, k, {128, 256, depth, split, 1}, type), h100).size();
  };
  EXPECT_EQ(launches(1000, 1000, 1, DType::bf16), 1U);
  EXPECT_EQ(launches(1000, 1001, 1, DType::bf16), 2U);
  EXPECT_EQ(launches(1001, 1001, 1, DType::bf16), 3U);
  EXPECT_EQ(launches(1001, 1001, 4, DType::bf16), 4U);
  EXPECT_EQ(launches(1024, 1024, 1, DType::fp8), 2U);  // B is transposed: fp8 is read along k
  const LaunchSequence program = plan_wgmma(product(1000, 1000, 1001, {128, 256, 64, 2, 1}), h100);
  EXPECT_EQ(program.front().plan.launch.grid[0], 1);    // 126 vectors of a row
  EXPECT_EQ(program.front().plan.launch.grid[1], 250);  // four rows a thread
  EXPECT_DOUBLE_EQ(program.back().plan.arrays.front().footprint.read_bytes, 2.0 * 4 * 1000 * 1000);
}

TEST(Wgmma, AnUnknownTileNamesThoseThereAre) {
  const Gpu h100 = gpu_named("h100-sxm5");
  EXPECT_THAT(
      [&] {
        (void)plan_wgmma(product(99, 99, 99, {128, 255, 64}), h100);
      },
      ThrowsMessage<InputError>(HasSubstr("128x256x64 in clusters of 2")));
  EXPECT_THAT(
      [&] {
        (void)plan_wgmma(product(99, 99, 99, {128, 256, 64, 3, 1}), h100);
      },
      ThrowsMessage<InputError>(HasSubstr("choose 1 to the tiles of k, 2")));
  EXPECT_THAT(
      [&] {
        (void)plan_wgmma(product(99, 99, 99, {128, 256, 64, 1, 1, 3}), h100);
      },
      ThrowsMessage<InputError>(HasSubstr("split_rest is 3: choose 1 to the tiles of k, 2")));
  EXPECT_THAT(
      [&] {
        (void)plan_wgmma(product(99, 99, 199, {128, 256, 64, 2, 1, 2}), h100);
      },
      ThrowsMessage<InputError>(HasSubstr("give one of them")));
}

TEST(Wgmma, ALastRoundThatIsNotFullIsSplit) {
  const Gpu h100 = gpu_named("h100-sxm5");
  // 17·9 tiles on 132 SMs leave 21 for the last round; in six parts each they are 126 blocks.
  const auto program_of = [&](std::int64_t split_rest) {
    return plan_wgmma(product(2107, 2224, 16072, {128, 256, 64, 1, 1, split_rest}), h100);
  };
  const LaunchSequence program = program_of(6);
  ASSERT_EQ(program.size(), 1U);  // the block of the last part reduces all parts
  const Plan& tiles = program.front().plan;
  ASSERT_EQ(tiles.blocks.size(), 3U);
  EXPECT_EQ(tiles.blocks[0].count, 132);
  EXPECT_EQ(tiles.blocks[1].count, 21 * 5);
  EXPECT_EQ(tiles.blocks[2].count, 21);
  ASSERT_EQ(tiles.arrays.size(), 4U);
  EXPECT_DOUBLE_EQ(tiles.arrays[2].compulsory.write_bytes, 2107.0 * 2224 * 2);
  EXPECT_DOUBLE_EQ(tiles.arrays[3].footprint.write_bytes, 21.0 * 5 * 128 * 256 * 4);
  EXPECT_EQ(program_of(1).front().plan.arrays.size(), 3U);
  // 132 tiles leave none for a last round; fewer than 132 are all split.
  const auto arrays_of = [&](std::int64_t m, std::int64_t n) {
    return plan_wgmma(product(m, n, 4096, {128, 256, 64, 1, 1, 2}), h100).front().plan.arrays;
  };
  EXPECT_EQ(arrays_of(1408, 3072).size(), 3U);
  EXPECT_DOUBLE_EQ(arrays_of(1280, 256).back().footprint.write_bytes, 10.0 * 128 * 256 * 4);
}

TEST(Wgmma, SplitsOfALastRoundFillRounds) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto tried = [&](std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t split_k,
                         std::int64_t split_rest) {
    std::vector<std::int64_t> found;
    for (const Problem& one :
         wgmma_candidates(product(m, n, k, {128, 256, 64, split_k, 1, split_rest}), h100)) {
      if (one[kSplitK] == 1) found.push_back(one[kSplitRest]);
    }
    return found;
  };
  using Splits = std::vector<std::int64_t>;
  EXPECT_EQ(tried(2107, 2224, 16072, 0, 0), Splits({1, 6}));  // 21 tiles in a last round of 132
  EXPECT_EQ(tried(2107, 2224, 64 * 12, 0, 0), Splits({1}));   // at least 3 steps a part: 4 parts
  EXPECT_EQ(tried(2107, 2224, 64 * 18, 0, 0), Splits({1, 6}));
  EXPECT_EQ(tried(2560, 2560, 4096, 0, 0), Splits({1, 3, 5}));  // 68: two rounds of parts, three
  EXPECT_EQ(tried(2560, 3072, 4096, 0, 0), Splits({1}));        // 108: as many rounds as parts
  EXPECT_EQ(tried(1408, 3072, 4096, 0, 0), Splits({1}));        // none
  EXPECT_EQ(tried(1408, 1024, 4096, 0, 0), Splits({1, 3}));     // 44 tiles in all
  EXPECT_EQ(tried(2107, 2224, 16072, 1, 0), Splits({1}));       // run files that name split_k alone
  EXPECT_EQ(tried(2107, 2224, 16072, 0, 5), Splits({5}));
}

Problem swap_ab(std::int64_t tile_m, std::int64_t tile_n, std::int64_t cluster) {
  Problem p = product(777, 6144, 4096, {tile_m, tile_n, 64, 1, cluster, 1});
  p[kTransposedB] = 1;
  return p;
}

TEST(Wgmma, SwapAbTilesFitTheRowsThatThereAre) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Plan plan = plan_wgmma(swap_ab(160, 256, 2), h100).front().plan;
  EXPECT_EQ(plan.blocks.front().count, 5 * 24);
  EXPECT_EQ(plan.launch.threads(), 384);
  // Panels of C of 32 lines: those of 64 do not fit beside four stages.
  EXPECT_EQ(plan.launch.shared_bytes, 4 * 416 * 128 + 4 * 32 * 128 + 80 + 1024);
  // Two neighbours along n share A's tile.
  const double all = 4096.0 * 2 * (777 * 12 + 5 * 6144);
  EXPECT_NEAR(testing::l2_read_bytes(plan), all, 1);
  ASSERT_TRUE(plan.raster);
  EXPECT_EQ(plan.raster->tile_rows, 24);
  EXPECT_EQ(plan_wgmma(swap_ab(176, 128, 1), h100).front().plan.launch.shared_bytes,
            5 * 304 * 128 + 4 * 64 * 128 + 96 + 1024);
}

TEST(Wgmma, SwapAbTilesWithoutAClusterGoDownCFirst) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Plan plan = plan_wgmma(swap_ab(176, 128, 1), h100).front().plan;
  ASSERT_TRUE(plan.raster);
  EXPECT_EQ(plan.raster->tile_rows, 5);
  EXPECT_EQ(plan.raster->tile_columns, 48);
  EXPECT_EQ(plan.raster->group_rows, 5);
  EXPECT_DOUBLE_EQ(plan.raster->row_panel_bytes, 777.0 * 4096 * 2 / 5);
  EXPECT_DOUBLE_EQ(plan.raster->column_panel_bytes, 128.0 * 4096 * 2);
  // Five blocks share B's tile: two pairs and one alone, three lookups. 48 share A's: 24 pairs.
  const double looked_up = 4096.0 * 2 * (6144 * 3 + 777 * 24);
  EXPECT_NEAR(testing::l2_read_bytes(plan), looked_up, 1);
}

TEST(Wgmma, SwapAbTilesAreForWeightsAlongKAndNoSplitOfAllTiles) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto count_of = [&](DType type, std::int64_t transposed_b) {
    Problem p = product(777, 512, 16384, {}, type);
    p[kTransposedB] = transposed_b;
    p[kTileM] = p[kTileN] = p[kTileK] = p[kSplitK] = p[kCluster] = p[kSplitRest] = kToChoose;
    std::size_t found = 0;
    for (const Problem& one : wgmma_candidates(p, h100)) {
      if (one[kTileM] % 64 == 0) continue;
      ++found;
      EXPECT_EQ(one[kSplitK], 1);
    }
    return found;
  };
  EXPECT_GE(count_of(DType::bf16, 1), kWgmmaSwapAbTiles.size());
  EXPECT_EQ(count_of(DType::bf16, 0), 0U);
  EXPECT_EQ(count_of(DType::fp8, 1), 0U);
  Problem split = swap_ab(176, 128, 1);
  split[kSplitK] = 4;  // given, it is taken
  EXPECT_EQ(wgmma_candidates(split, h100).size(), 1U);
  Problem by_rows = swap_ab(176, 128, 1);
  by_rows[kTransposedB] = 0;
  EXPECT_THAT([&] { (void)plan_wgmma(by_rows, h100); },
              ThrowsMessage<InputError>(HasSubstr("has no tile 176x128x64")));
}

TEST(Wgmma, GroupsAreWholeRounds) {
  EXPECT_EQ(wgmma_group(32, 132), 16);    // 528 tiles: four rounds
  EXPECT_EQ(wgmma_group(10, 132), 13);    // 130 tiles: one round
  EXPECT_EQ(wgmma_group(1, 132), 16);     // several groups a round
  EXPECT_EQ(wgmma_group(5000, 132), 15);  // 606 rounds of 132
}

}  // namespace
}  // namespace roofcast::gemm::tensor
