// Products with one row or one column by a library.
#include "model/libraries/gemm_catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "model/counting/totals.hpp"
#include "model/libraries/gemm.hpp"
#include "model/predict.hpp"
#include "tests/model/plans.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast::gemm {
namespace {

using roofcast::testing::gpu_named;

Problem product(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout,
                DType type = DType::fp32) {
  Problem p = library_problem(type, m, n, k);
  p[kLayout] = layout;
  return p;
}

Problem in_blocks(Problem p, std::int64_t outputs, std::int64_t splits = 1) {
  p[kTileM] = p[kTileN] = 1;
  p[p[kM] == 1 ? kTileN : kTileM] = outputs;
  p[kSplitK] = splits;
  return p;
}

std::vector<std::int64_t> outputs_weighed_up(const Problem& p) {
  std::vector<std::int64_t> found;
  for (const Problem& one : library_candidates(p, gpu_named("h100-sxm5"), true)) {
    found.push_back(std::max(one[kTileM], one[kTileN]));
  }
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

TEST(GemmVector, IsAProductOfFp32OrOfRowsOffVectors) {
  EXPECT_TRUE(is_vector_product(product(1, 4096, 1024, kNT)));
  EXPECT_TRUE(is_vector_product(product(4096, 1, 1024, kNN)));
  EXPECT_FALSE(is_vector_product(product(2, 4096, 1024, kNT)));
  EXPECT_TRUE(is_vector_product(product(1, 4096, 1024, kNT, DType::tf32)));
  EXPECT_FALSE(is_vector_product(product(1, 4096, 1024, kNT, DType::bf16)));
  EXPECT_TRUE(is_vector_product(product(1, 4097, 1024, kNT, DType::bf16)));
  EXPECT_TRUE(is_vector_product(product(1, 4096, 1020, kNT, DType::bf16)));
  EXPECT_TRUE(is_vector_product(product(86, 1, 4008, kNN, DType::bf16)));  // its column is C
}

TEST(GemmVector, TakesATileThatIsAskedForAndEpilogues) {
  Problem p = product(1, 4096, 1024, kNT);
  p[kTileM] = 64, p[kTileN] = 64;
  EXPECT_FALSE(is_vector_product(p));
  EXPECT_NO_THROW(predict(find_kernel("gemm.library"), p, gpu_named("h100-sxm5")));
  p = product(1, 4096, 1024, kNT);
  p[kEpilogue] = 1;
  EXPECT_FALSE(is_vector_product(p));
}

TEST(GemmVector, BlocksSumFourToThirtyTwoOutputs) {
  const std::vector<std::int64_t> outputs = {4, 8, 16, 32};
  EXPECT_EQ(outputs_weighed_up(product(1, 4096, 1024, kNT)), outputs);
  EXPECT_EQ(outputs_weighed_up(product(4096, 1, 1024, kTN)), outputs);
}

TEST(GemmVector, ReadsTheMatrixOnceAndTheVectorInEachBlock) {
  const Plan plan = plan_vector_product(in_blocks(product(1, 1001, 500, kNT), 4)).front().plan;
  EXPECT_EQ(plan.launch.blocks(), 251);
  EXPECT_EQ(plan.launch.block[0], 128);
  EXPECT_NEAR(issued_by_launch(plan).requested.read_bytes, 4.0 * (1001 * 500 + 251 * 500), 1);
  EXPECT_NEAR(issued_by_launch(plan).vector_flops, 2.0 * 1001 * 500, 1);
  EXPECT_DOUBLE_EQ(issued_by_launch(plan).requested.write_bytes, 4.0 * 1001);
  EXPECT_DOUBLE_EQ(plan.arrays[1].compulsory.read_bytes, 4.0 * 1001 * 500);
}

// 4660 elements: 20 lanes have 146, 12 have 145. Trips: two for parameters, two of 64 elements, one
// of 16, two for the last elements; lanes with one element less wait with the others.
TEST(GemmVector, WaitsForEachChunkOfLoads) {
  const auto trips = [](std::int64_t k, std::int64_t outputs) {
    const Plan plan = plan_vector_product(in_blocks(product(1, 152, k, kNT), outputs)).front().plan;
    return testing::waits_of_block(plan, &Waits::global);
  };
  EXPECT_DOUBLE_EQ(trips(4660, 4), 2 + 2 + 1 + 2);
  EXPECT_DOUBLE_EQ(trips(2048, 4), 2 + 1);
  // Lanes with 64 elements take one trip. Those with 63 take trips of 32, 16, three of 4, and two.
  EXPECT_DOUBLE_EQ(trips(2028, 4), 2 + 1 + 1 + 1 + 3 + 2);
  EXPECT_DOUBLE_EQ(trips(1024, 8), 2 + 4);  // 16 lanes, 16 at once
}

TEST(GemmVector, PartsOfKAreAddedByAnotherLaunchButNotOfBatches) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const LaunchSequence split = plan_vector_product(in_blocks(product(1, 128, 65536, kNN), 32, 4));
  ASSERT_EQ(split.size(), 2U);
  EXPECT_DOUBLE_EQ(split.back().plan.arrays[0].footprint.read_bytes, 4 * 4.0 * 128);
  Problem batch = product(1, 32, 4096, kNN);
  const auto parts = [](const Problem& one) { return one[kSplitK] > 1; };
  auto all = library_candidates(batch, h100, true);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), parts));
  batch[kBatch] = 2;
  all = library_candidates(batch, h100, true);
  EXPECT_TRUE(std::none_of(all.begin(), all.end(), parts));
}

TEST(GemmVector, SaysWhichBlocksThereAre) {
  try {
    (void)library_candidates(in_blocks(product(1, 4096, 1024, kNT), 5), gpu_named("h100-sxm5"),
                             true);
    FAIL() << "taken";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "gemm.library has no block of 5 outputs for this product with a vector: choose "
                 "one of 4, 8, 16, 32");
  }
}

// One row of fp32 is faster by this kernel than by tiles of 32 rows.
TEST(GemmVector, IsFasterThanTiles) {
  const Gpu h100 = gpu_named("h100-sxm5");
  const auto time_s = [&](const Problem& p) {
    return predict(find_kernel("gemm.library"), p, h100).time->expected_s;
  };
  for (const Layout layout : {kNN, kNT}) {
    const Problem vector = product(1, 4096, 4096, layout);
    Problem tile = vector;
    tile[kTileM] = 32, tile[kTileN] = 32;
    EXPECT_LT(time_s(vector), time_s(tile)) << kLayoutNames[layout];
  }
}

}  // namespace
}  // namespace roofcast::gemm
