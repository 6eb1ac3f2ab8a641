// Waits of the warps of a sum, against counts by hand from kernels/reduce/sums.cu.
#include "model/kernels/reduce/reduce.hpp"

#include <gtest/gtest.h>

#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast {
namespace {

struct Sum {
  std::string_view name;
  DType dtype;
  std::int64_t rows, cols, split, threads;
};

LaunchSequence program_of(const Sum& sum) {
  for (const KernelRef& kernel : testing::all_variants()) {
    if (kernel.kernel->name != sum.name) continue;
    return kernel.kernel->plan(
        {.dtype = sum.dtype, .values = {sum.rows, sum.cols, sum.split, sum.threads}},
        testing::hopper_like());
  }
  throw InputError("no such kernel");
}

const std::vector<Phase>& phases_of(const LaunchSequence& program, std::size_t launch = 0) {
  return program.at(launch).plan.blocks.front().phases;
}

double round_trips(const LaunchSequence& program, std::size_t launch = 0) {
  return testing::waits_of_block(program.at(launch).plan, &Waits::global);
}

// A batch of a warp is 8 accesses a thread, 256 vectors. In fp32 the third access waits for the
// first: two round trips a batch.
TEST(Reduce, AThirdAccessInFp32WaitsForTheFirst) {
  EXPECT_DOUBLE_EQ(round_trips(program_of({"reduce.row", DType::fp32, 132, 4 * 1024, 1, 32})), 8);
  EXPECT_DOUBLE_EQ(round_trips(program_of({"reduce.row", DType::bf16, 132, 8 * 1024, 1, 32})), 4);
}

// A batch and 64 vectors, two a thread; then 65 vectors.
TEST(Reduce, ALastBatchOfTwoAccessesWaitsOnce) {
  EXPECT_DOUBLE_EQ(round_trips(program_of({"reduce.row", DType::fp32, 132, 4 * 320, 1, 32})), 3);
  EXPECT_DOUBLE_EQ(round_trips(program_of({"reduce.row", DType::fp32, 132, 4 * 321, 1, 32})), 4);
}

// 16-bit elements before the first vector are widened before the first batch is issued.
TEST(Reduce, NarrowEdgesAreWaitedForFirst) {
  EXPECT_DOUBLE_EQ(round_trips(program_of({"reduce.row", DType::fp16, 132, 1024, 1, 32})), 1);
  EXPECT_DOUBLE_EQ(round_trips(program_of({"reduce.row", DType::fp16, 132, 1025, 1, 32})), 2);
}

// Without vectors a batch of a row is 4 elements a thread, 128 a warp; with vectors 2 · 32 · 4.
TEST(Reduce, WeightedRowsWithoutVectorsGoByElements) {
  const LaunchSequence vectors = program_of({"reduce.weighted", DType::fp32, 8, 1024, 1, 32});
  const LaunchSequence elements = program_of({"reduce.weighted", DType::fp32, 8, 1025, 1, 32});
  EXPECT_DOUBLE_EQ(phases_of(vectors).front().repeats, 4);
  EXPECT_DOUBLE_EQ(phases_of(elements).front().repeats, 9);
  // The last access of a batch waits for an earlier one; the ninth batch has one element.
  EXPECT_NEAR(round_trips(elements), 2 * 8 + 1, 1e-12);
}

// A warp adds 64, 256 or 320 chunks: two loads one by one, eight at once, eight and two.
TEST(Reduce, TheSecondLaunchLoadsEightsTogetherAndTheRestInTurn) {
  const auto trips = [](std::int64_t split) {
    return round_trips(program_of({"reduce.row", DType::fp32, 4, 1 << 24, split, 256}), 1);
  };
  EXPECT_DOUBLE_EQ(trips(64), 2);
  EXPECT_DOUBLE_EQ(trips(256), 1);
  EXPECT_DOUBLE_EQ(trips(320), 3);
}

}  // namespace
}  // namespace roofcast
