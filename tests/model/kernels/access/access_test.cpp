// What access patterns move, and what the traffic ladder says of it, worked out by hand.
#include "model/kernels/access/access.hpp"

#include <gtest/gtest.h>

#include "model/predict.hpp"
#include "tests/model/devices.hpp"
#include "tests/model/plans.hpp"

namespace roofcast::access {
namespace {

Plan plan_of(std::string_view variant, const Problem& p, std::int64_t dram_access_bytes = 32) {
  Gpu gpu = testing::hopper_like();
  gpu.memory.dram_access_bytes = static_cast<double>(dram_access_bytes);
  return find_kernel(variant).kernel->plan(p, gpu).front().plan;
}

std::string reason(const Plan& plan, Level level) {
  for (const TrafficReason& each : plan.notes.traffic_reasons) {
    if (each.level == level) return each.text;
  }
  return "none";
}

// 32 lanes of 4 B, 8 B apart, span 256 B: 8 sectors, 8 B a lane.
TEST(Access, EveryOtherElementMovesTwiceTheBytes) {
  const Plan plan = plan_of("access.strided", {.values = {1 << 20, 2, 1}});
  EXPECT_EQ(total_work(plan).l1.read_bytes, 2 * 4 * (1 << 20));
  EXPECT_EQ(total_work(plan).l1.write_bytes, 4 * (1 << 20));
  EXPECT_EQ(reason(plan, Level::l1), "stride 2: 8 B moved for 4 B used");
  EXPECT_EQ(reason(plan, Level::dram), "stride 2: 8 B moved for 4 B used");
}

// 64 B apart each lane has a sector of 32 B and a DRAM access of 64 B to itself.
TEST(Access, FarElementsHaveASectorEach) {
  const Plan plan = plan_of("access.strided", {.values = {1 << 20, 16, 1}}, 64);
  EXPECT_EQ(reason(plan, Level::l1), "stride 16: 32 B moved for 4 B used");
  EXPECT_EQ(reason(plan, Level::dram), "stride 16: 64 B moved for 4 B used");
  EXPECT_EQ(total_work(plan).dram_footprint.read_bytes, 64 * (1 << 20));
}

// Accesses of two elements, end to end: nothing is wasted, and no reason is given.
TEST(Access, AccessesEndToEndWasteNothing) {
  const Plan plan = plan_of("access.strided", {.values = {1 << 20, 2, 2}});
  EXPECT_EQ(plan.launch.blocks(), (1 << 20) / 2 / 256);
  EXPECT_EQ(total_work(plan).l1.read_bytes, 4 * (1 << 20));
  EXPECT_TRUE(plan.notes.traffic_reasons.empty());
}

TEST(Access, WidthsThatNoAccessHasAreRefused) {
  const auto strided = [](std::int64_t n, std::int64_t stride, std::int64_t width, DType type) {
    return plan_of("access.strided", {.dtype = type, .values = {n, stride, width}});
  };
  EXPECT_THROW((void)strided(12, 3, 3, DType::fp32), InputError);
  EXPECT_THROW((void)strided(16, 8, 8, DType::fp32), InputError);  // 32 B
  EXPECT_NO_THROW((void)strided(16, 8, 8, DType::bf16));
  EXPECT_NO_THROW((void)strided(16, 4, 4, DType::fp32));
  EXPECT_THROW((void)strided(15, 2, 2, DType::fp32), InputError);
  EXPECT_THROW((void)strided(16, 3, 2, DType::fp32), InputError);
  const auto shared = [](std::int64_t stride, std::int64_t width, std::int64_t repeats) {
    return plan_of("access.shared", {.values = {1024, stride, width, repeats}});
  };
  EXPECT_THROW((void)shared(3, 3, 64), InputError);
  EXPECT_THROW((void)shared(8, 8, 64), InputError);
  EXPECT_THROW((void)shared(4, 4, 60), InputError);
  EXPECT_NO_THROW((void)shared(4, 4, 64));
}

TEST(Access, OffsetsShareASectorBetweenWarps) {
  const Plan plan = plan_of("access.offset", {.values = {1 << 20, 1}});
  EXPECT_EQ(reason(plan, Level::l1),
            "offset 1: no warp begins on a sector boundary, so each takes one sector more");
  // 5 sectors of 32 B for each warp's 128 B; a block's 1024 B lie in 33.
  EXPECT_EQ(total_work(plan).l1.read_bytes, (1 << 20) / 32 * 5 * 32);
  EXPECT_EQ(total_work(plan).l2.read_bytes, (1 << 20) / 256 * 33 * 32);
  EXPECT_TRUE(plan_of("access.offset", {.values = {1 << 20, 8}}).notes.traffic_reasons.empty());
}

// Lanes of a warp are neighbours in a column, a row of 4 KiB apart.
TEST(Access, LanesDownAColumnHaveASectorEach) {
  const Plan plan = plan_of("access.column_wise", {.values = {1024, 1024}});
  EXPECT_EQ(reason(plan, Level::l1), "lanes a row apart: 32 B moved for 4 B used");
  EXPECT_EQ(total_work(plan).l1.read_bytes, 32 * 1024 * 1024);
  EXPECT_EQ(total_work(plan).l2.read_bytes, 4 * 1024 * 1024);
  EXPECT_EQ(plan.arrays.back().pattern.partial_writes, 1024 * 1024);
}

// 16 rows of one element of 2 bytes share a sector: L2 reads no more than L1.
TEST(Access, RowsShorterThanASectorShareIt) {
  const Plan plan = plan_of("access.column_wise", {.dtype = DType::bf16, .values = {65536, 1}});
  EXPECT_EQ(total_work(plan).l1.read_bytes, 2 * 65536);
  EXPECT_EQ(total_work(plan).l2.read_bytes, 2 * 65536);
}

Problem gather(std::int64_t n, std::int64_t window, std::int64_t distribution) {
  return {.values = {n, window, distribution}};
}

// In a window of 2²⁰ places the multiplier 2654435761 takes a step of 489905; no two of a block's
// 256 lanes are nearer than 422 elements (122 steps), so each has a sector to itself.
TEST(Access, AShuffledWindowHasASectorForEachLane) {
  const Plan plan = plan_of("access.gather", gather(1 << 20, 1 << 20, gather::kShuffled));
  EXPECT_EQ(reason(plan, Level::l1), "shuffled gather: 32 B moved for 4 B used");
  EXPECT_EQ(reason(plan, Level::l2), "shuffled gather: 32 B moved for 4 B used");
  // The indices come in order.
  EXPECT_EQ(total_work(plan).l1.read_bytes, (32 + 4) * (1 << 20));
  const Plan in_order = plan_of("access.gather", gather(1 << 20, 1, gather::kShuffled));
  EXPECT_EQ(reason(in_order, Level::l1), "shuffled gather: 4 B moved for 4 B used");
  EXPECT_EQ(total_work(in_order).l1.read_bytes, 8 * (1 << 20));
}

// Two of 32 lanes meet in one of 2²⁷ sectors hardly ever.
TEST(Access, AUniformGatherFromALargeTable) {
  const Plan plan = plan_of("access.gather", gather(1 << 20, 1 << 30, gather::kUniform));
  EXPECT_EQ(reason(plan, Level::l1), "uniform gather: 32 B moved for 4 B used");
  ASSERT_TRUE(plan.arrays[1].random);
  EXPECT_NEAR(plan.arrays[1].random->sectors, 1 << 20, 1);
  EXPECT_EQ(plan.arrays[1].random->table_bytes, 4.0 * (1 << 30));
  EXPECT_EQ(plan.arrays[1].random->streamed_lines, 1.0 / 32);  // a line of 32 indices
  EXPECT_THROW((void)plan_of("access.gather", gather(1 << 20, 3, gather::kUniform)), InputError);
  EXPECT_THROW((void)plan_of("access.gather", gather(1000, 16, gather::kShuffled)), InputError);
}

// A thread adds up what it reads: 64 accesses of four words.
TEST(Access, SharedLoadsAreAddedUp) {
  const Plan plan = plan_of("access.shared", {.values = {1 << 20, 4, 4, 64}});
  EXPECT_EQ(plan.useful.vector_flops, 4.0 * 64 * (1 << 20));
  EXPECT_EQ(issued_by_launch(plan).vector_flops, plan.useful.vector_flops);
}

// 256 threads fill shared memory, one word each a turn, and wait for every turn. The words: 31
// strides and the eight accesses of the last lane.
TEST(Access, SharedMemoryIsFilledWordByWord) {
  const auto turns = [](std::int64_t stride, std::int64_t width) {
    return testing::first_step(plan_of("access.shared", {.values = {1024, stride, width, 64}}))
        .waits.global;
  };
  EXPECT_EQ(turns(1, 1), 1);
  EXPECT_EQ(turns(60, 4), 8);    // 1860 + 32 words
  EXPECT_EQ(turns(172, 4), 21);  // 5332 + 32
}

// Accesses of 16 B, 48 B apart, lie in a sector each. Of 32 lanes 12 B apart the 384 B are 12
// sectors, 12 B a lane.
TEST(Access, OddStrides) {
  EXPECT_EQ(reason(plan_of("access.strided", {.values = {1 << 20, 12, 4}}), Level::l1),
            "stride 12: 32 B moved for 16 B used");
  EXPECT_EQ(reason(plan_of("access.strided", {.values = {1 << 20, 3, 1}}), Level::l1),
            "stride 3: 12 B moved for 4 B used");
}

}  // namespace
}  // namespace roofcast::access
