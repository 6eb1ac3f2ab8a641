// Products on the tensor cores, counted by hand.
#include "model/kernels/gemm/tensor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "model/counting/totals.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/predict.hpp"
#include "tests/model/kernels/gemm/tensor_problems.hpp"
#include "tests/model/plans.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast::gemm::tensor {
namespace {

using roofcast::testing::gpu_named;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(MmaSync, ABlockATileAndSharedMemoryBySteps) {
  const Gpu a100 = gpu_named("a100-sxm4-80gb");
  const Plan plan = plan_mma_sync(product(1000, 1024, 512, {128, 256, 64}), a100).front().plan;
  EXPECT_EQ(plan.launch.blocks(), 8 * 4);
  EXPECT_EQ(plan.launch.shared_bytes, 3 * (128 + 256) * 128);
  // Four tile columns read A, eight tile rows read B.
  EXPECT_DOUBLE_EQ(total_work(plan).l2.read_bytes, 4.0 * 1000 * 512 * 2 + 8.0 * 512 * 1024 * 2);
}

TEST(MmaSync, BlocksStayOnHopper) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const Plan plan = plan_mma_sync(product(4096, 4096, 512, {128, 256, 64}), h100).front().plan;
  EXPECT_EQ(plan.launch.grid, (std::array<std::int64_t, 3>{132, 1, 1}));  // of 512 tiles
  EXPECT_EQ(plan.scheduler, TileScheduler::persistent);
  // Stages; 16 rows of 64 elements and 8 more for each of 8 warps; two barriers a stage.
  EXPECT_EQ(plan.launch.shared_bytes, 3 * (128 + 256) * 128 + 8 * 16 * (64 + 8) * 2 + 3 * 2 * 8);
  EXPECT_DOUBLE_EQ(total_work(plan).tensor_flops[DType::bf16], 2.0 * 4096 * 4096 * 512);
  EXPECT_DOUBLE_EQ(total_work(plan).l2.write_bytes, 4096.0 * 4096 * 2);
  // Two blocks fit an SM; 64 tiles take 64 blocks.
  const Plan few = plan_mma_sync(product(1024, 1024, 512, {128, 128, 32}), h100).front().plan;
  EXPECT_EQ(few.launch.blocks(), 64);
}

TEST(MmaSync, Int8MultipliesTwiceAsFastAndStoresFp32) {
  const Gpu a100 = gpu_named("a100-sxm4-80gb");
  Problem p = product(1024, 1024, 1024, {128, 256, 128}, DType::int8);
  p[kTransposedB] = 1;
  const LaunchSequence program = plan_mma_sync(p, a100);
  ASSERT_EQ(program.size(), 1U);
  // 2·128·256·128 OP a step.
  EXPECT_EQ(testing::first_step(program.front().plan).issued.tensor_flops[DType::int8],
            2.0 * 128 * 256 * 128);
  EXPECT_DOUBLE_EQ(product_work(p).compulsory.read_bytes, 2.0 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(product_work(p).compulsory.write_bytes, 4.0 * 1024 * 1024);
  p[kTransposedB] = 0;  // stored by rows of k: transposed first
  EXPECT_EQ(plan_mma_sync(p, a100).size(), 2U);
}

TEST(TensorProducts, ABatchIsAsMuchWorkAndOneLaunch) {
  const Gpu h100 = gpu_named("h100-sxm5");
  struct Kernel {
    LaunchSequence (*plan)(const Problem&, const Gpu&);
    Problem one;
  };
  for (const Kernel& kernel : {Kernel{plan_wgmma, product(300, 520, 1024, {128, 256, 64})},
                               {plan_mma_sync, product(300, 520, 1024, {128, 256, 64})},
                               {plan_skinny, product(8, 520, 1024, {8, 64, 32})}}) {
    Problem seven = kernel.one;
    seven[kBatch] = 7;
    const LaunchSequence once = kernel.plan(kernel.one, h100), often = kernel.plan(seven, h100);
    ASSERT_EQ(often.size(), once.size());
    const Work each = total_work(once.back().plan), all = total_work(often.back().plan);
    EXPECT_NEAR(all.tensor_flops[DType::bf16], 7 * each.tensor_flops[DType::bf16], 1);
    EXPECT_NEAR(all.l2.read_bytes, 7 * each.l2.read_bytes, 1);
    EXPECT_NEAR(all.l2.write_bytes, 7 * each.l2.write_bytes, 1);
    EXPECT_DOUBLE_EQ(product_work(seven).compulsory.total_bytes(),
                     7 * product_work(kernel.one).compulsory.total_bytes());
  }
}

TEST(TensorProducts, LeadingDimensionsDecideWhatIsCopied) {
  const Gpu h100 = gpu_named("h100-sxm5");
  Problem p = product(256, 512, 1001, {128, 256, 64});
  EXPECT_EQ(plan_wgmma(p, h100).size(), 2U);  // rows of A are not of 16 bytes: copied
  p[kLda] = 1008;
  EXPECT_EQ(plan_wgmma(p, h100).size(), 1U);
  p[kLdb] = 513;
  EXPECT_EQ(plan_wgmma(p, h100).size(), 2U);
  p[kLdb] = 0, p[kTransposedA] = 1;  // [k,m]
  EXPECT_THAT(
      [&] {
        p[kLda] = 255;
        (void)plan_wgmma(p, h100);
      },
      ThrowsMessage<InputError>(HasSubstr("lda is 255 and a row holds 256 elements")));
  p[kLda] = 0;
  EXPECT_EQ(plan_wgmma(p, h100).size(), 2U);  // transposed
}

TEST(MmaSync, RowsOffASectorAndResultsByElement) {
  const Gpu h200 = gpu_named("h200-sxm");
  // Rows of 520 elements begin at odd multiples of 16 bytes: every other box's line of 128 bytes
  // touches five sectors in place of four.
  const Plan plan = plan_mma_sync(product(1000, 1028, 520, {128, 256, 64}), h200).back().plan;
  EXPECT_DOUBLE_EQ(total_work(plan).l2.read_bytes,
                   5.0 * 1000 * 520 * 2 * 4.5 / 4 + 8.0 * 520 * 1028 * 2);  // B is copied
  // Rows of C are no multiples of 16 bytes: each two results in a sector of their own.
  EXPECT_DOUBLE_EQ(total_work(plan).l2.write_bytes, 1000.0 * 1028 / 2 * 32);
  EXPECT_DOUBLE_EQ(plan.blocks.front().phases.back().step.wavefronts.l1 * 40, 1000.0 * 1028 / 2);
}

TEST(MmaSync, AGpuWithoutRoomForATileTakesAnother) {
  const Gpu rtx4090 = gpu_named("rtx4090");
  Problem p = product(4096, 4096, 4096, {0, 0, 0});
  p[kSplitK] = p[kCluster] = p[kSplitRest] = 0;
  for (const Problem& one : mma_sync_candidates(p, rtx4090)) {
    EXPECT_LE((one[kTileM] + one[kTileN]) * one[kTileK] * 2 * 3, 99 * 1024);
  }
}

TEST(Skinny, WeightsAreReadOnceAndTokensByEachBlock) {
  const Gpu h200 = gpu_named("h200-sxm");
  Problem p = product(8, 4096, 4096, {8, 16, 32});
  p[kTransposedB] = 1;
  const Plan plan = plan_skinny(p, h200).front().plan;
  EXPECT_EQ(plan.launch.blocks(), 256);
  // Eight warps take four blocks of 32 k at once: 1024 k a round.
  EXPECT_EQ(plan.blocks.front().phases.front().repeats, 4);
  const double weights = 4096.0 * 4096 * 2, tokens = 8.0 * 4096 * 2;
  EXPECT_DOUBLE_EQ(total_work(plan).l2.read_bytes, weights + 256 * tokens);
}

TEST(Skinny, FewColumnsTakeAAsWeights) {
  const Gpu h200 = gpu_named("h200-sxm");
  const LaunchSequence program = plan_skinny(product(4096, 8, 4096, {8, 16, 32}), h200);
  ASSERT_EQ(program.size(), 2U);  // B is transposed first
  EXPECT_EQ(program.back().plan.launch.blocks(), 256);
  EXPECT_THAT(
      [&] {
        (void)plan_skinny(product(65, 65, 64, {64, 32, 32}), h200);
      },
      ThrowsMessage<InputError>(HasSubstr("at most 64")));
}

TEST(Skinny, MoreTokensGoThroughARingOfSharedMemory) {
  const Gpu h200 = gpu_named("h200-sxm");
  const LaunchSequence program = plan_skinny(product(32, 14336, 4096, {32, 128, 64}), h200);
  ASSERT_EQ(program.size(), 1U);
  const Plan& plan = program.front().plan;
  EXPECT_EQ(plan.launch.blocks(), 112);
  EXPECT_EQ(plan.launch.shared_bytes, 5 * (32 + 128) * 128);
  EXPECT_EQ(testing::loop_steps(plan), 64);
  // The weights once, and the tokens once for each 128 rows of weights: a quarter of that.
  const double weights = 14336.0 * 4096 * 2;
  EXPECT_DOUBLE_EQ(total_work(plan).l2.read_bytes, 1.25 * weights);
}

TEST(Skinny, TheLastPartOfKJoinsTheOthersInTheSameLaunch) {
  const Gpu h200 = gpu_named("h200-sxm");
  for (const auto& [tokens, rows, depth] :
       {std::array<std::int64_t, 3>{32, 128, 64}, {8, 64, 32}}) {
    Problem p = product(tokens, 14336, 4096, {tokens, rows, depth});
    const Plan whole = plan_skinny(p, h200).front().plan;
    p[kSplitK] = 3;
    const LaunchSequence program = plan_skinny(p, h200);
    ASSERT_EQ(program.size(), 1U);
    const Plan& plan = program.front().plan;
    EXPECT_EQ(plan.launch.blocks(), 3 * whole.launch.blocks());
    // Two parts of three leave their sums, which the third reads.
    const double c = as_double(tokens) * 14336, sums = 2 * c * 4;
    EXPECT_DOUBLE_EQ(total_work(plan).l2.write_bytes, c * 2 + sums);
    EXPECT_NEAR(total_work(plan).l2.read_bytes, total_work(whole).l2.read_bytes + sums, 1);
  }
}

TEST(Skinny, TilesOf64TokensAreThoseOfWgmmaWhereThereIsThat) {
  const Gpu h200 = gpu_named("h200-sxm"), a100 = gpu_named("a100-sxm4-80gb");
  const Problem p = product(64, 14336, 4096, {64, 128, 64});
  EXPECT_TRUE(is_persistent(plan_skinny(p, h200).front().plan.scheduler));
  EXPECT_EQ(plan_skinny(p, a100).front().plan.scheduler, TileScheduler::hardware);
  // Where A holds the weights, tiles of 64 tokens have 64 rows alone; without wgmma none exist.
  const Problem columns = product(14336, 64, 4096, {64, 64, 64});
  EXPECT_TRUE(is_persistent(plan_skinny(columns, h200).front().plan.scheduler));
  EXPECT_THAT([&] { (void)plan_skinny(columns, a100); },
              ThrowsMessage<InputError>(HasSubstr("no tile 64x64x64")));
  // k is split where the tiles leave SMs idle: 4096 columns are 64 tiles.
  Problem open = product(64, 4096, 4096, {64, 64, 64});
  open[kSplitK] = 0;
  std::vector<std::int64_t> splits;
  for (const Problem& one : skinny_candidates(open, h200)) splits.push_back(one[kSplitK]);
  EXPECT_THAT(splits, ::testing::ElementsAre(1, 2));
}

TEST(Skinny, TokensByRowsOfKNeedNoCopyInARing) {
  const Gpu h200 = gpu_named("h200-sxm");
  const LaunchSequence whole = plan_skinny(product(4096, 16, 4096, {16, 128, 128}), h200);
  ASSERT_EQ(whole.size(), 1U);
  // Rows of 12 tokens are no multiples of 16 bytes: they are transposed first.
  const LaunchSequence program = plan_skinny(product(4096, 12, 4096, {16, 128, 128}), h200);
  ASSERT_EQ(program.size(), 2U);
  EXPECT_EQ(program.back().plan.launch.blocks(), whole.back().plan.launch.blocks());
  EXPECT_EQ(program.back().plan.launch.shared_bytes, whole.back().plan.launch.shared_bytes);
}

TEST(Skinny, TheSmallestTilesThatHoldTheTokensAreCandidates) {
  using Tiles = std::set<std::int64_t>;
  const auto tiles_of = [](std::int64_t tokens, std::int64_t k, const char* gpu) {
    Problem p = product(tokens, 4096, k, {0, 0, 0});
    p[kSplitK] = 0, p[kTransposedB] = 1;
    Tiles tiles;
    for (const Problem& one : skinny_candidates(p, gpu_named(gpu))) tiles.insert(one[kTileM]);
    return tiles;
  };
  const char* const a100 = "a100-sxm4-80gb";
  EXPECT_EQ(tiles_of(1, 4096, a100), Tiles({8, 16}));  // by registers, or through the smallest ring
  EXPECT_EQ(tiles_of(9, 4096, a100), Tiles({16}));
  EXPECT_EQ(tiles_of(17, 4096, a100), Tiles({32}));
  EXPECT_EQ(tiles_of(33, 4096, a100), Tiles({64}));
  EXPECT_EQ(tiles_of(8, 4097, a100), Tiles({8}));  // rows off 16 bytes cannot be copied to a ring
  EXPECT_EQ(tiles_of(1, 4096, "h200-sxm"), Tiles({8, 16, 64}));  // or by gemm.wgmma's tiles
  EXPECT_EQ(tiles_of(17, 4096, "h200-sxm"), Tiles({32, 64}));
}

TEST(TensorProducts, TheChosenTileIsTheFastestOfAll) {
  const Gpu h200 = gpu_named("h200-sxm");
  const KernelRef wgmma = find_kernel("gemm.wgmma");
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{4096, 4096, 4096},
                                {100, 8192, 8192},
                                {777, 13824, 5120},
                                {2107, 2224, 16072},
                                {16384, 300, 2048}}) {
    Problem p = product(m, n, k, {0, 0, 0});
    p[kSplitK] = p[kCluster] = p[kSplitRest] = 0;
    const double chosen_s = predict(wgmma, p, h200).time->expected_s;
    for (const Problem& one : wgmma_candidates(p, h200)) {
      EXPECT_LE(chosen_s, predict(wgmma, one, h200).time->expected_s * 1.02);
    }
  }
}

}  // namespace
}  // namespace roofcast::gemm::tensor
