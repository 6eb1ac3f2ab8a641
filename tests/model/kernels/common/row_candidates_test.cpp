// Which settings of the kernels over rows are worth a forecast.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "tests/model/kernels/common/row_problems.hpp"

namespace roofcast {
namespace {

using namespace testing;

/// The values of a setting among the candidates, in order, each once.
std::vector<std::int64_t> tried(std::string_view variant, const Problem& p, std::size_t setting) {
  std::set<std::int64_t> values;
  for (const Problem& one : find_kernel(variant).kernel->candidates(p, gpu_with_l1())) {
    values.insert(one[setting]);
  }
  return {values.begin(), values.end()};
}

using Values = std::vector<std::int64_t>;

TEST(RowCandidates, FromOneWarpToAsManyThreadsAsABlockMayHave) {
  // 1000 fp32 are 250 vectors: 8 a lane of one warp, or 1 of 250 threads.
  EXPECT_EQ(tried("softmax.registers", problem(10, 1000), softmax::kVectors), Values({1, 2, 4, 8}));
  // 16384 fp32 are 4096 vectors: 4 of 1024 threads, or 8 of 512.
  EXPECT_EQ(tried("softmax.registers", problem(10, 16384), softmax::kVectors), Values({4, 8}));
  EXPECT_EQ(tried("softmax.registers", problem(10, 16384, DType::fp32, 2), softmax::kVectors),
            Values({2}));
}

TEST(RowCandidates, ClustersFromTheSmallestThatHoldsARow) {
  // 256 KiB in slices of 64 KiB, for few rows and many: scan/chosen_test.cpp holds that no cluster
  // size is faster than the chosen one.
  EXPECT_EQ(tried("softmax.cluster", problem(7, 65536), softmax::kCluster), Values({4, 8, 16}));
  EXPECT_EQ(tried("softmax.cluster", problem(4096, 65536), softmax::kCluster), Values({4, 8, 16}));
  EXPECT_EQ(tried("softmax.cluster", softmax_cluster(problem(7, 65536), 8, 0), softmax::kCluster),
            Values({8}));
}

TEST(RowCandidates, SeveralRowsAClusterAsFarAsThereAreRows) {
  const auto in_turn = [](std::int64_t rows) {
    return tried("softmax.cluster", softmax_cluster(problem(rows, 65536), 4, kToChoose),
                 softmax::kRowsPerCluster);
  };
  EXPECT_EQ(in_turn(4096), Values({1, 2, 4, 8, 16}));
  EXPECT_EQ(in_turn(5), Values({1, 2, 4, 8}));
  EXPECT_EQ(in_turn(1), Values({1}));
}

TEST(RowCandidates, NormStreamsWhereBulkCopiesCanTakeTheRows) {
  const auto both = Values({norm::kInRegisters, norm::kInShared}),
             held = Values({norm::kInRegisters});
  EXPECT_EQ(tried("norm.rmsnorm", problem(1000, 4096), norm::kStaging), both);
  EXPECT_EQ(tried("norm.rmsnorm", problem(1000, 4097), norm::kStaging), held);
  EXPECT_EQ(tried("norm.rmsnorm", problem(1000, 4096, DType::bf16, kBackward), norm::kStaging),
            both);
  Gpu without = gpu_with_l1();
  without.features.instructions = {};
  for (const Problem& one :
       find_kernel("norm.rmsnorm").kernel->candidates(problem(1000, 4096), without)) {
    EXPECT_EQ(one[norm::kStaging], norm::kInRegisters);
  }
}

TEST(RowCandidates, SumsOfFewRowsAreSplit) {
  // 16 rows of 4 MiB: the largest powers of two with chunks of at least 2 KiB.
  EXPECT_EQ(tried("reduce.row", problem(16, 1 << 20), reduce::kSplit),
            Values({1, 128, 256, 512, 1024, 2048}));
  EXPECT_EQ(tried("reduce.row", problem(100000, 4096), reduce::kSplit), Values({1}));
  // A chunk of 32 vectors is one access of a warp; 1024 are 8 of 128 threads, or of 32.
  EXPECT_EQ(tried("reduce.row", problem(100000, 128), reduce::kThreads), Values({32}));
  EXPECT_EQ(tried("reduce.row", problem(100000, 4096), reduce::kThreads), Values({32, 128}));
}

// Every candidate of every shape holds the whole row.
RC_GTEST_PROP(RowCandidates, HoldTheWholeRow, ()) {
  const auto cols = *rc::gen::inRange<std::int64_t>(1, 262145);
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 5000);
  const auto type = *rc::gen::element(DType::fp32, DType::bf16);
  const std::int64_t width = type == DType::fp32 ? 4 : 8;
  for (const Problem& one :
       find_kernel("softmax.cluster")
           .kernel->candidates(softmax_cluster(problem(rows, cols, type), 0, 0), gpu_with_l1())) {
    const rows::Layout layout = softmax::cluster_layout(one);
    RC_ASSERT(layout.threads <= rows::kMaxThreads);
    RC_ASSERT(layout.threads % 32 == 0);
    RC_ASSERT(layout.threads * layout.vectors * layout.cluster >= cols / width);
  }
}

TEST(RowCandidates, APlanNeedsEverySetting) {
  for (const char* variant :
       {"softmax.registers", "softmax.cluster", "norm.layernorm", "reduce.row"}) {
    EXPECT_THROW((void)plans_of(variant, problem(8, 64)), InputError) << variant;
  }
}

}  // namespace
}  // namespace roofcast
