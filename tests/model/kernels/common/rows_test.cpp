// Kernels over rows: how rows are spread, and what they ask of memory, worked out by hand.
#include "model/kernels/common/rows.hpp"

#include <gtest/gtest.h>

#include "tests/model/kernels/common/row_problems.hpp"
#include "tests/model/plans.hpp"

namespace roofcast {
namespace {

using namespace testing;

TEST(RowLayout, AShortRowIsAWarps) {
  // 1000 fp32 are 250 vectors: 8 a lane; four rows a block.
  const rows::Layout layout = softmax::registers_layout(problem(10, 1000, DType::fp32, 8));
  EXPECT_EQ(layout.vectors, 8);
  EXPECT_EQ(layout.threads, 32);
  EXPECT_EQ(layout.rows_per_block, 4);
  EXPECT_EQ(layout.blocks(10), 3);
}

TEST(RowLayout, ALongRowIsABlocks) {
  // 4096 fp32 are 1024 vectors: with 4 a thread 256 threads; 5000 are 1250, so 313, so 10 warps.
  EXPECT_EQ(softmax::registers_layout(problem(1, 4096, DType::fp32, 4)).threads, 256);
  EXPECT_EQ(softmax::registers_layout(problem(1, 5000, DType::fp32, 4)).threads, 320);
  // 65536 do not fit.
  EXPECT_GT(softmax::registers_layout(problem(1, 65536, DType::fp32, 8)).threads,
            rows::kMaxThreads);
  EXPECT_THROW((void)softmax_of("softmax.registers", problem(1, 65536, DType::fp32, 8)),
               InputError);
}

TEST(RowLayout, AClusterSharesWhatDoesNotFitABlock) {
  const Problem p = softmax_cluster(problem(7, 65536), 4, 1);
  const rows::Layout layout = softmax::cluster_layout(p);
  EXPECT_EQ(layout.threads * layout.vectors * 4 * layout.cluster, 65536);
  EXPECT_EQ(layout.blocks(7), 28);
  EXPECT_EQ(softmax_of("softmax.cluster", p).launch.cluster[0], 4);
}

TEST(RowLayout, RowsStreamThroughRingsInSharedMemory) {
  // 4096 rows of 65536 fp32: 512 clusters of 4 blocks take 8 each; a block has 16 warps with a
  // buffer of 8 accesses of 512 bytes and an arrival of 8 bytes.
  const Problem p = softmax_cluster(problem(4096, 65536), 4, 8);
  const Plan plan = softmax_of("softmax.cluster", p);
  EXPECT_EQ(plan.launch.blocks(), 2048);
  EXPECT_EQ(testing::loop_steps(plan), 8);
  EXPECT_EQ(rows::ring_bytes(softmax::cluster_layout(p), 1, 1), 16 * (4096 + 8));
  // Parts of 256 warps and an arrival, twice, in units of 128 bytes.
  EXPECT_EQ(rows::exchange_bytes(512, true), 4224);
  EXPECT_EQ(plan.launch.shared_bytes, 16 * (4096 + 8) + 4224);
}

TEST(RowMatrix, AlignedRowsAreWholeSectors) {
  const rows::Matrix matrix = rows::matrix_of(problem(10, 1024), {});
  EXPECT_EQ(matrix.accessed, 10 * 4096);
  EXPECT_EQ(matrix.distinct, 10 * 4096);
}

// Rows of 1028 fp32 are 4112 bytes: the second begins 16 bytes past a sector. 257 vectors are 8
// warps of 512 bytes, 17 sectors each, and one vector; L1 joins them to 129.
TEST(RowMatrix, AWarpThatBeginsInsideASectorTouchesOneMore) {
  const rows::Matrix first = rows::matrix_of(problem(1, 1028), {});
  const rows::Matrix both = rows::matrix_of(problem(2, 1028), {});
  EXPECT_EQ(first.accessed, (8 * 16 + 1) * 32);
  EXPECT_EQ(both.accessed - first.accessed, (8 * 17 + 1) * 32);
  EXPECT_EQ(both.distinct - first.distinct, 129 * 32);
}

TEST(Softmax, HeldRowsMoveCompulsoryBytesAlone) {
  const Plan plan = softmax_of("softmax.registers", problem(1000, 2048, DType::bf16, 4));
  const double bytes = 1000 * 2048 * 2;
  for (const Traffic& level :
       {total_work(plan).compulsory, total_work(plan).requested, total_work(plan).dram_footprint}) {
    EXPECT_EQ(level.read_bytes, bytes);
    EXPECT_EQ(level.write_bytes, bytes);
  }
  // Each sector is stored in four parts. With two warps a block L1 merges the later parts but for
  // 1 in 300.
  EXPECT_EQ(total_work(plan).l1.read_bytes, bytes);
  EXPECT_EQ(total_work(plan).l1.write_bytes, 4 * bytes);
  const Traffic l2 = testing::total(plan, gpu_with_l1()).l2;
  EXPECT_EQ(l2.read_bytes, bytes);
  EXPECT_NEAR(l2.write_bytes, bytes, 0.012 * bytes);
  EXPECT_EQ(total_work(plan).special_flops, 1000 * 2048);
  EXPECT_TRUE(plan.reuse.empty());
}

TEST(Softmax, ShortRowsAreSweptAgainFromL1) {
  // 5 blocks of 4 KiB fit 256 KiB.
  const Plan plan = softmax_of("softmax.three_pass", problem(10000, 1024, DType::fp32, 256));
  EXPECT_EQ(total_work(plan).requested.read_bytes, 3 * 10000 * 4096.0);
  EXPECT_EQ(testing::total(plan, gpu_with_l1()).l2.read_bytes, 10000 * 4096.0);
}

TEST(Softmax, LongRowsAreSweptAgainFromL2OrBeyond) {
  const Plan plan = softmax_of("softmax.online", problem(1000, 65536, DType::fp32, 256));
  EXPECT_EQ(testing::total(plan, gpu_with_l1()).l2.read_bytes, 2 * 1000 * 262144.0);
  ASSERT_EQ(plan.reuse.size(), 1U);
  EXPECT_EQ(plan.reuse[0].bytes, 1000 * 262144.0);
  EXPECT_EQ(plan.reuse[0].distance_bytes, 262144 * 1.5);  // one of two sweeps writes as much
  EXPECT_EQ(plan.reuse[0].l2_distance_bytes, 393216);     // and half as much written
}

// Dependent operations of a batch of four vectors, the mean over the sweeps. Three-pass: one sweep
// takes the maximum, one the sum, of 16 fp32. Online: the first of two sweeps takes both, with 14
// operations a vector to rescale.
TEST(Softmax, SweepsWaitForEachElementTheyReduce) {
  const auto batch = [](const char* name, DType type) {
    return testing::first_step(softmax_of(name, problem(1000, 4096, type, 256))).waits.arithmetic;
  };
  EXPECT_DOUBLE_EQ(batch("softmax.three_pass", DType::fp32), (2 * 16 + 3 * 15) / 3.0);
  EXPECT_DOUBLE_EQ(batch("softmax.online", DType::fp32), (2 * 16 + 4 * 14 + 2 * 15) / 2.0);
  EXPECT_DOUBLE_EQ(batch("softmax.online", DType::bf16), (2 * 32 + 4 * 14 + 2 * 15) / 2.0);
}

TEST(Softmax, BadSettingsSayWhatToGive) {
  EXPECT_THROW((void)softmax_of("softmax.three_pass", problem(1, 64, DType::fp32, 33)), InputError);
  EXPECT_THROW((void)softmax_of("softmax.registers", problem(1, 64, DType::fp32, 3)), InputError);
  EXPECT_THROW((void)softmax_of("softmax.cluster", softmax_cluster(problem(1, 65536), 3, 1)),
               InputError);
}

TEST(Norm, ForwardReadsOnceAndLeavesTheStatistics) {
  const Plan plan =
      plans_of("norm.layernorm", held_norm(problem(8000, 4096), 4, 1, 1)).front().plan;
  EXPECT_EQ(total_work(plan).compulsory.read_bytes, 8000 * 16384.0 + 2 * 16384);
  EXPECT_EQ(total_work(plan).compulsory.write_bytes, 8000 * 16384.0 + 2 * 4 * 8000);
  EXPECT_EQ(total_work(plan).requested.read_bytes, 3 * 8000 * 16384.0);
  // γ and β come to each of 132 SMs once; L1 has them for the rows after.
  EXPECT_EQ(testing::total(plan, gpu_with_l1()).l2.read_bytes, 8000 * 16384.0 + 132 * 2 * 16384);
}

TEST(Norm, RowsInTurnShareTheirParameters) {
  // 65536 fp32: 8 blocks of 8192; 4096 rows in 512 clusters of 8 rows, each reads γ and β once.
  const Problem p = held_norm(problem(4096, 65536), 4, 8, 8);
  const Plan plan = plans_of("norm.layernorm", p).front().plan;
  EXPECT_EQ(plan.launch.cluster[0], 8);
  EXPECT_EQ(plan.launch.blocks(), 512 * 8);
  EXPECT_EQ(total_work(plan).requested.read_bytes, (4096 + 2 * 512) * 262144.0);
  EXPECT_EQ(testing::total(plan, gpu_with_l1()).l2.read_bytes,
            total_work(plan).requested.read_bytes);
  EXPECT_GE(plan.launch.shared_bytes, 2 * 8192 * 4);
  // Ragged rows have other columns in a thread each time, so nothing is kept.
  EXPECT_EQ(norm::forward_bytes(held_norm(problem(4096, 65537), 4, 8, 8), 2), 0);
}

TEST(Norm, RootMeanSquareTakesOneParameterAndLeavesOneStatistic) {
  const Plan plan = plans_of("norm.rmsnorm", held_norm(problem(8000, 4096), 4, 1, 1)).front().plan;
  EXPECT_EQ(total_work(plan).compulsory.read_bytes, 8000 * 16384.0 + 16384);
  EXPECT_EQ(total_work(plan).compulsory.write_bytes, 8000 * 16384.0 + 4 * 8000);
}

TEST(Norm, LongRowsStreamBesideTheirScaleAndShift) {
  // 16384 bf16: one block of 256 threads; 4 KiB and an arrival for each of 8 warps, 32 KiB each of
  // γ and β, the parts of two rows.
  const Plan plan =
      plans_of("norm.layernorm", streamed_norm(problem(16384, 16384, DType::bf16), 1, 2))
          .front()
          .plan;
  EXPECT_EQ(plan.launch.threads(), 256);
  EXPECT_EQ(plan.launch.cluster[0], 1);
  EXPECT_EQ(plan.launch.blocks(), 8192);
  EXPECT_EQ(testing::loop_steps(plan), 2);
  EXPECT_EQ(plan.launch.shared_bytes, 8 * (4096 + 8) + 2 * 32768 + 384);
  // The row in registers, the ring, γ and β.
  EXPECT_EQ(plan.on_chip_bytes, 32768 + 8 * (4096 + 8) + 2 * 32768);
  EXPECT_EQ(plan.needs, std::vector{Instruction::bulk_copy});
  // Bulk copies take whole multiples of 16 bytes, and 8 accesses a thread.
  EXPECT_THROW((void)plans_of("norm.layernorm", streamed_norm(problem(16, 16383), 2, 1)),
               InputError);
  Problem p = streamed_norm(problem(16, 16384), 2, 1);
  p[norm::kVectors] = 4;
  EXPECT_THROW((void)plans_of("norm.layernorm", p), InputError);
}

TEST(Norm, ClustersOfStreamedRowsTakeEightRows) {
  // 16384 fp32: 2 blocks of 8192 elements a row; 8192 rows in 1024 clusters of 8 rows.
  const Problem p = streamed_norm(problem(8192, 16384), 2, 8);
  EXPECT_EQ(norm::forward_layout(p).blocks(8192), 2 * 1024);
  // γ and β once a cluster: 1 + 2/8 times the row's bytes.
  const Plan plan = plans_of("norm.layernorm", p).front().plan;
  EXPECT_EQ(total_work(plan).requested.read_bytes, (8192 + 2 * 1024) * 65536.0);
  EXPECT_EQ(norm::forward_layout(streamed_norm(problem(8192, 16384), 2, 3)).blocks(8192), 2 * 2731);
}

// Each row of a streaming block waits for one tile load; no thread waits for loads of its own.
TEST(Norm, StreamedRowsWaitForBulkCopies) {
  const Plan plan =
      plans_of("norm.layernorm", streamed_norm(problem(64, 16384), 2, 8)).front().plan;
  const std::vector<Phase>& phases = plan.blocks.front().phases;
  ASSERT_EQ(phases.size(), 2U);
  EXPECT_EQ(phases[0].step.waits.tile_loads, 0);
  EXPECT_EQ(phases[1].step.waits.tile_loads, 1);
  EXPECT_EQ(phases[0].step.waits.global + phases[1].step.waits.global, 0);
}

// 64 threads of 16 bf16 columns store their sums one by one, so a sector of fp32 has eight parts.
// From its first part to its last a warp makes 16 stores of dγ and dβ, or 8 of dγ alone, and the
// other warp opens as many sectors meanwhile.
TEST(Norm, PartialSumsComeApartAmongTheOtherWarpsStores) {
  Problem p = problem(8000, 1024, DType::bf16, kBackward);
  p[norm::kStaging] = norm::kInShared;
  const auto split = [&](const char* name) {
    return plans_of(name, p).front().plan.arrays.back().split.value();
  };
  EXPECT_EQ(split("norm.layernorm").parts, 8);
  EXPECT_EQ(split("norm.layernorm").bytes_between, 32 * 2.5 * 16 * 16);
  EXPECT_EQ(split("norm.rmsnorm").bytes_between, 32 * 2.5 * 8 * 8);
}

TEST(Norm, BackwardMovesThreeMatricesAndItsPartialSums) {
  // 4096 fp32: 2 blocks of 128 threads of 16 elements; 264 clusters at once, strips of 31 rows.
  Problem p = problem(8000, 4096, DType::fp32, kBackward);
  p[norm::kStaging] = norm::kInShared;
  const LaunchSequence plans = plans_of("norm.layernorm", p);
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].plan.launch.blocks(), 2 * 264);
  EXPECT_EQ(plans[0].plan.launch.threads(), 128);
  const double partial = 2 * 264 * 4096 * 4;
  EXPECT_EQ(total_work(plans[0].plan).compulsory.read_bytes,
            2 * 8000 * 16384.0 + 16384 + 2 * 4 * 8000);
  EXPECT_EQ(total_work(plans[0].plan).compulsory.write_bytes, 8000 * 16384.0);
  EXPECT_EQ(total_work(plans[0].plan).dram_footprint.write_bytes, 8000 * 16384.0 + partial);
  EXPECT_EQ(testing::loop_steps(plans[0].plan), 31);  // rows of a strip
  // 264 strips of 31 rows are 184 rows too many, whose lanes issue too.
  EXPECT_DOUBLE_EQ(issued_by_launch(plans[0].plan).vector_flops,
                   plans[0].plan.useful.vector_flops * (264 * 31) / 8000);
  EXPECT_EQ(total_work(plans[1].plan).requested.read_bytes, partial);
  EXPECT_EQ(total_work(plans[1].plan).compulsory.write_bytes, 2 * 16384);
}

TEST(Reduce, ChunksAreWholeVectors) {
  EXPECT_EQ(reduce::chunk_elements(1000, 2, 7), 144);  // 142.9, in vectors of 8
}

TEST(Reduce, SumsReadOnce) {
  const LaunchSequence one = plans_of("reduce.row", sums(problem(100000, 4096), 1, 128));
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(total_work(one[0].plan).compulsory.read_bytes, 100000 * 16384.0);
  EXPECT_EQ(total_work(one[0].plan).compulsory.write_bytes, 100000 * 4.0);
  const LaunchSequence two = plans_of("reduce.global", sums(problem(4096, 4096), 2048, 256));
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(total_work(two[1].plan).requested.read_bytes, 2048 * 4);
  EXPECT_EQ(total_work(two[1].plan).compulsory.write_bytes, 4);
}

TEST(Reduce, FourRowsShareEachWeight) {
  const Plan plan = plans_of("reduce.weighted", sums(problem(100000, 4096), 1, 256)).front().plan;
  EXPECT_EQ(total_work(plan).requested.read_bytes, 1.25 * 100000 * 16384.0);
  EXPECT_EQ(total_work(plan).compulsory.read_bytes, 100001 * 16384.0);
}

TEST(Reduce, ThreadsArePowersOfTwo) {
  EXPECT_THROW((void)plans_of("reduce.row", sums(problem(10, 10), 1, 96)), InputError);
}

// One addition an element; a weighted sum's element is a multiply-add. 8192 fp32 are 2048 vectors:
// eight of 256 threads.
TEST(Reduce, ArithmeticOfAnElement) {
  const auto issued = [](std::string_view variant) {
    const Plan plan = plans_of(variant, sums(problem(100000, 8192), 1, 256)).front().plan;
    EXPECT_EQ(plan.useful.vector_flops, issued_by_launch(plan).vector_flops);
    return issued_by_launch(plan).vector_flops;
  };
  EXPECT_EQ(issued("reduce.row"), 100000 * 8192.0);
  EXPECT_EQ(issued("reduce.weighted"), 2 * 100000 * 8192.0);
}

// A row of one warp is merged by shuffles alone: no shared memory, no barrier.
TEST(Softmax, ARowOfAWarpMergesNothingBetweenWarps) {
  const Plan alone = softmax_of("softmax.three_pass", problem(10000, 1024, DType::fp32, 32));
  const Step& merge = alone.blocks.front().phases.back().step;
  const double of_warp = merge.warp_instructions / 4;
  EXPECT_EQ(merge.wavefronts.shared, 0);
  EXPECT_EQ(merge.waits.barriers, 0);
  const Plan shared = softmax_of("softmax.three_pass", problem(10000, 1024, DType::fp32, 128));
  // Four warps share the row, and each merges their parts.
  EXPECT_GT(shared.blocks.front().phases.back().step.warp_instructions, 4 * of_warp);
  EXPECT_EQ(shared.blocks.front().phases.back().step.waits.barriers, 2);
}

// Rows of 1024 fp32 begin on sectors, rows of 1001 do not.
TEST(Rows, SayWhereSectorsAreShared) {
  for (const char* variant :
       {"norm.layernorm", "norm.rmsnorm", "softmax.registers", "softmax.online"}) {
    const auto says_so = [&](std::int64_t cols) {
      Problem p = problem(10000, cols);
      check(find_kernel(variant), p, 0b11);
      const Prediction found = predict(find_kernel(variant), p, gpu_with_l1());
      return std::any_of(found.traffic_reasons.begin(), found.traffic_reasons.end(),
                         [](const TrafficReason& reason) { return reason.level == Level::l1; });
    };
    EXPECT_FALSE(says_so(1024)) << variant;
    EXPECT_TRUE(says_so(1001)) << variant;
  }
}

// Instructions of a warp, as an H200's counters gave them.
TEST(Rows, InstructionsAreThoseCounted) {
  const auto of_warp = [](const char* name, const Problem& p) {
    const Plan plan = plans_of(name, p).front().plan;
    const double warps = static_cast<double>(plan.launch.blocks() * plan.launch.threads() / 32);
    return issued_instructions(plan) / warps;
  };
  const auto expect = [&](const char* name, const Problem& p, double counted) {
    EXPECT_NEAR(of_warp(name, p), counted, 0.06 * counted) << name;
  };
  expect("softmax.registers", problem(8192, 16384, DType::fp32, 8), 539);
  expect("softmax.registers", problem(16384, 16384, DType::bf16, 4), 491);
  expect("softmax.registers", problem(8192, 1024, DType::fp32, 8), 471);
  expect("softmax.cluster", softmax_cluster(problem(8192, 32768, DType::bf16), 1, 1), 1126);
  expect("softmax.cluster", softmax_cluster(problem(4096, 32768), 2, 8), 8 * 709.7);
  expect("norm.layernorm", held_norm(problem(16384, 8192), 4, 1, 1), 513);
  expect("norm.rmsnorm", held_norm(problem(849, 4096, DType::fp16), 4, 1, 1), 489.5);
}

}  // namespace
}  // namespace roofcast
