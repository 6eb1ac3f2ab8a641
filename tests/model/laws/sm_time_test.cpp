// Cycles of the busiest SM, step by step: P(1) + ‖r·P(r) - P(1), W‖, where P is the cycles of a block's
// pipes, W what it waits. The pipes of one block need the same with others beside it here, so r·P.
#include "model/laws/sm_time.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

constexpr std::int64_t kSms = 132;

Gpu device() {
  Gpu gpu = testing::hopper_like();
  gpu.sm.conversion_per_clk = 64;
  gpu.sustained.overlap_exponent = 2;
  gpu.sustained.l1_tags_per_clk = 4;
  return gpu;
}

/// So many blocks of 8 warps on each SM, each a step `repeats` times over.
Plan plan_of(const Step& step, double repeats = 1, std::int64_t blocks_per_sm = 1) {
  Plan plan;
  plan.launch.grid[0] = kSms * blocks_per_sm;
  plan.launch.block[0] = 256;
  plan.blocks = {{plan.launch.grid[0], {{step, repeats}}}};
  return plan;
}

Occupancy at_once(std::int64_t blocks) {
  return {blocks, 8 * blocks, OccupancyLimiter::warps};
}

double cycles(const Plan& plan, const Gpu& gpu, std::int64_t resident = 1,
              const WaitShares& shares = {}) {
  return sm_time(plan, at_once(resident), shares, gpu).cycles;
}

double of(const CyclesByResource& all, Resource resource) {
  return all[static_cast<std::size_t>(resource)];
}

// 100 cycles of the vector pipe and a wait for L2, 265.
Step vector_and_wait_apart() {
  Step step;
  step.issued.vector_flops = 256 * 100;
  step.waits.global = 1;
  return step;
}

// With a barrier, which costs nothing by itself here, all warps of a block wait together.
Step vector_and_wait() {
  Step step = vector_and_wait_apart();
  step.waits.barriers = 1;
  return step;
}

TEST(SmTime, ResidentBlocksHideLatencyUntilAPipeIsFull) {
  EXPECT_NEAR(cycles(plan_of(vector_and_wait(), 10), device()), 10 * (100 + 265), 1e-9);
  // Five: P + ‖5·P - P, W‖₂.
  const Plan five = plan_of(vector_and_wait(), 10, 5);
  const double together = 10 * (100 + std::hypot(400, 265));
  EXPECT_NEAR(cycles(five, device(), 5), together, 1e-9);
  // The pipe works 500 of each step's cycles, the rest is waited.
  const SmTime time = sm_time(five, at_once(5), {}, device());
  EXPECT_NEAR(of(time.busy_cycles, Resource::vector), 10 * 500, 1e-9);
  EXPECT_NEAR(of(time.busy_cycles, Resource::latency), together - 10 * 500, 1e-9);
  EXPECT_NEAR(of(time.spent_cycles, Resource::vector), 10 * 500, 1e-9);
  EXPECT_NEAR(of(time.spent_cycles, Resource::latency), together - 10 * 500, 1e-9);
  EXPECT_NEAR(time.idle_cycles, 0, 1e-9);
  EXPECT_EQ(time.fullest, Resource::vector);
  EXPECT_NEAR(time.waiting_share, 265.0 / (265 + 400), 1e-12);
}

// P(1) is that of one of the 8 warps, 12.5: the seven others hide its wait like further blocks.
TEST(SmTime, WarpsOfALoopWithoutABarrierWaitEachForItself) {
  const Step step = vector_and_wait_apart();
  Gpu apart = device();
  apart.sustained.latency_overlap_exponent = 2;  // warps that drift apart
  EXPECT_NEAR(cycles(plan_of(step, 10), apart), 10 * (12.5 + std::hypot(100 - 12.5, 265)), 1e-9);
  const SmTime five = sm_time(plan_of(step, 10, 5), at_once(5), {}, apart);
  EXPECT_NEAR(five.cycles, 10 * (12.5 + std::hypot(500 - 12.5, 265)), 1e-9);
  EXPECT_NEAR(five.waiting_share, 265 / (265 + 500 - 12.5), 1e-12);
  // What runs once has one start for all warps.
  EXPECT_NEAR(cycles(plan_of(step), apart), 100 + 265, 1e-9);
}

TEST(SmTime, RoundsFollowEachOther) {
  const double one = 10 * (100 + 265);
  const double five = 10 * (100 + std::hypot(400, 265));
  EXPECT_NEAR(cycles(plan_of(vector_and_wait(), 10, 10), device(), 5), 2 * five, 1e-9);
  // A sixth block runs alone, on each SM; 4 of 5 places are empty meanwhile.
  const SmTime sixth = sm_time(plan_of(vector_and_wait(), 10, 6), at_once(5), {}, device());
  EXPECT_NEAR(sixth.cycles, five + one, 1e-9);
  EXPECT_NEAR(of(sixth.busy_cycles, Resource::vector), 10 * 600, 1e-9);
  // One block more than places begins a round of its own.
  Plan more = plan_of(vector_and_wait(), 10, 5);
  more.blocks[0].count += 1;
  more.launch.grid[0] += 1;
  const SmTime tail = sm_time(more, at_once(5), {}, device());
  EXPECT_NEAR(tail.cycles, five + one, 1e-9);
  EXPECT_NEAR(tail.idle_cycles, one * (1 - 1.0 / kSms), 1e-6);
}

TEST(SmTime, ClassesOfBlocksInOrder) {
  Plan plan = plan_of(vector_and_wait(), 10);
  plan.launch.grid[0] = 2 * kSms;
  plan.blocks.push_back({kSms, {{vector_and_wait(), 30}}});
  EXPECT_NEAR(cycles(plan, device()), (10 + 30) * 365, 1e-9);
}

// Two places on each SM: half of them take a block of 10 steps, half one of 9, and the last blocks
// begin where those of 9 end. Alone a step takes 365, as one of two 100 + ‖100, 265‖.
TEST(SmTime, LastBlocksBeginInPlacesThatAreFreeEarly) {
  const double of_two = 100 + std::hypot(100, 265);
  Plan plan;
  plan.launch.grid[0] = 3 * kSms;
  plan.launch.block[0] = 256;
  plan.blocks = {{kSms, {{vector_and_wait(), 10}}}, {2 * kSms, {{vector_and_wait(), 9}}}};
  const SmTime time = sm_time(plan, at_once(2), {}, device());
  EXPECT_NEAR(time.cycles, 9 * of_two + 9 * 365, 1e-9);
  // By rounds the places would be held 9.5 steps of two and 9 of one: more than there is.
  EXPECT_EQ(time.idle_cycles, 0);
  double spent = 0;
  for (const double cycles : time.spent_cycles) spent += cycles;
  EXPECT_NEAR(spent, time.cycles, 1e-9);
}

// Blocks that do nothing but start take 100 cycles each; five whose one step waits 265 for L2 take
// 100 and what the starts of the others, 400, and the wait leave together: ‖400, 265‖.
TEST(SmTime, BlocksWorkWhileOthersStart) {
  Gpu gpu = device();
  gpu.sustained.block_launch_cycles = 100;
  gpu.sustained.memory_overlap_exponent = 2;
  Step step;
  step.waits.global = 1;
  EXPECT_NEAR(cycles(plan_of(step), gpu), 100 + 265, 1e-9);
  EXPECT_NEAR(cycles(plan_of(step, 1, 5), gpu, 5), 100 + std::hypot(400, 265), 1e-9);
}

// Of clusters of four the last of four starts comes after 1 + 1/2 + 1/3 + 1/4 mean waits, 13/12 more
// than that of one block; a mean wait is 1.5 times the start of the other block on the SM. Clusters
// that find their places empty do not wait.
TEST(SmTime, AClusterWaitsForTheLastOfItsPlaces) {
  Gpu gpu = device();
  gpu.sustained.block_launch_cycles = 100;
  gpu.sustained.memory_overlap_exponent = 2;
  Step step;
  step.waits.arithmetic = 100;  // of 4 cycles
  const auto of_two = [&](std::int64_t cluster) {
    Plan plan = plan_of(step, 1, 4);
    plan.launch.cluster[0] = cluster;
    return cycles(plan, gpu, 2);
  };
  EXPECT_NEAR(of_two(1), 2 * (100 + std::hypot(100, 400)), 1e-9);
  EXPECT_NEAR(of_two(4), 2 * (100 + std::hypot(100, 400 + 1.5 * 13 / 12 * 100)), 1e-9);
}

TEST(SmTime, EachWaitByItsLatency) {
  Gpu gpu = device();
  gpu.sustained.barrier_cycles = 20;
  gpu.sustained.tile_load_latency_cycles = 1000;
  const auto waited = [&](const Waits& waits, const WaitShares& shares = {}) {
    Step step;
    step.waits = waits;
    return cycles(plan_of(step), gpu, 1, shares);
  };
  EXPECT_DOUBLE_EQ(waited({.global = 2}), 2 * 265);
  EXPECT_DOUBLE_EQ(waited({.shared = 2}), 2 * 29);
  EXPECT_DOUBLE_EQ(waited({.arithmetic = 10}), 10 * 4);
  EXPECT_DOUBLE_EQ(waited({.barriers = 3}), 3 * 20);
  EXPECT_DOUBLE_EQ(waited({.tile_loads = 1}), 1000);
  EXPECT_DOUBLE_EQ(waited({1, 1, 1, 1, 1}), 265 + 1000 + 29 + 4 + 20);
  // Half of the waits go on to DRAM, 390 further; half end in L1 after 34.
  EXPECT_DOUBLE_EQ(waited({.global = 1}, {.dram = 0.5}), 265 + 195);
  EXPECT_DOUBLE_EQ(waited({.global = 1}, {.l1 = 0.5}), (265 + 34) / 2.0);
  EXPECT_DOUBLE_EQ(waited({}, {.dram = 1, .random_waits = 3}), 3 * 655);
  // A tile takes 1000 even from L2; from DRAM at 1400 half of the waits take 400 more.
  EXPECT_DOUBLE_EQ(waited({.tile_loads = 1}, {.dram = 0.5}), 1000);
  gpu.sustained.dram_latency_cycles = 1400;
  EXPECT_DOUBLE_EQ(waited({.tile_loads = 1}, {.dram = 0.5}), 1000 + 200);
}

// All loads that L1 misses, on their way to L2 or beyond; a tile's measured latency has it already.
TEST(SmTime, LoadsQueueForL2) {
  Gpu gpu = device();
  gpu.sustained.l2_queue_cycles = 100;
  const auto waited = [&](const Waits& waits, const WaitShares& shares = {}) {
    Step step;
    step.waits = waits;
    return cycles(plan_of(step), gpu, 1, shares);
  };
  EXPECT_DOUBLE_EQ(waited({.global = 1}), 265 + 100);
  EXPECT_DOUBLE_EQ(waited({.global = 1}, {.dram = 1}), 655 + 100);
  EXPECT_DOUBLE_EQ(waited({.global = 1}, {.l1 = 0.5}), (34 + 265 + 100) / 2.0);
  EXPECT_DOUBLE_EQ(waited({.global = 1}, {.l1 = 0.5, .dram = 0.25}),
                   0.5 * 34 + 0.25 * 265 + 0.25 * 655 + 0.5 * 100);
  EXPECT_DOUBLE_EQ(waited({.tile_loads = 1}), 265 + 100);
  gpu.sustained.tile_load_latency_cycles = 300;
  EXPECT_DOUBLE_EQ(waited({.tile_loads = 1}), 300);
  // Where memory is busy, so much longer.
  EXPECT_DOUBLE_EQ(waited({.global = 1}, {.l1 = 0.5, .queue_cycles = 40}),
                   (34 + 265 + 100 + 40) / 2.0);
  EXPECT_DOUBLE_EQ(waited({.tile_loads = 1}, {.queue_cycles = 40}), 340);
}

TEST(SmTime, MeasuredLatenciesComeBeforeTheDatasheets) {
  Gpu gpu = device();
  gpu.sustained.l1_latency_cycles = 40;
  gpu.sustained.l2_latency_cycles = 300;
  gpu.sustained.dram_latency_cycles = 700;
  gpu.sustained.shared_latency_cycles = 31;
  gpu.sustained.fma_latency_cycles = 5;
  Step step;
  step.waits = {.global = 1, .shared = 1, .arithmetic = 1};
  EXPECT_DOUBLE_EQ(cycles(plan_of(step), gpu, 1, {.l1 = 1}), 40 + 31 + 5);
  EXPECT_DOUBLE_EQ(cycles(plan_of(step), gpu), 300 + 31 + 5);
  EXPECT_DOUBLE_EQ(cycles(plan_of(step), gpu, 1, {.dram = 1}), 700 + 31 + 5);
}

struct Pipe {
  Resource resource;
  void (*fill)(Step&);  ///< for 100 cycles
};

constexpr Pipe kPipes[] = {
    {Resource::vector, [](Step& step) { step.issued.vector_flops = 25600; }},
    {Resource::tensor, [](Step& step) { step.issued.tensor_flops[DType::fp16] = 409600; }},
    {Resource::special, [](Step& step) { step.issued.special_flops = 1600; }},
    {Resource::conversion, [](Step& step) { step.issued.conversions = 6400; }},
    {Resource::issue, [](Step& step) { step.warp_instructions = 400; }},
    {Resource::shared, [](Step& step) { step.wavefronts.shared = 100; }},
    {Resource::l1, [](Step& step) { step.wavefronts.l1 = 100; }},
    {Resource::l1, [](Step& step) { step.wavefronts.l1_lookups = 400; }},
    {Resource::l2,
     [](Step& step) {
       step.issued.l2 = {4000, 2400};
     }},
};

TEST(SmTime, EachPipeByItsRate) {
  for (const auto& [resource, fill] : kPipes) {
    Step step;
    fill(step);
    step.waits.barriers = 1;
    const SmTime time = sm_time(plan_of(step, 7), at_once(1), {}, device());
    EXPECT_DOUBLE_EQ(time.cycles, 700) << name(resource);
    EXPECT_DOUBLE_EQ(of(time.busy_cycles, resource), 700) << name(resource);
  }
}

TEST(SmTime, PipesOverlapAsTheirWarpsLetThem) {
  const auto both = [](double special, double conversions, std::int64_t threads) {
    Step step;
    step.issued.special_flops = special;
    step.issued.conversions = conversions;
    Plan plan = plan_of(step);
    plan.launch.block[0] = threads;
    return cycles(plan, device());
  };
  EXPECT_DOUBLE_EQ(both(1600, 6400 * 0.75, 256), 125);                      // ‖100, 75‖₂
  EXPECT_DOUBLE_EQ(both(1600, 6400 * 0.75, 512), std::cbrt(1e6 + 421875));  // 16 warps: p = 3
  EXPECT_DOUBLE_EQ(both(1600, 6400 * 0.75, 128), std::pow(1000 + std::pow(75, 1.5), 1 / 1.5));
  // Vector work is issued too, so the fuller counts; shared memory and L1 are one pipe.
  Step step;
  step.issued.vector_flops = 25600;
  step.warp_instructions = 240;
  EXPECT_DOUBLE_EQ(cycles(plan_of(step), device()), 100);
  step = {};
  step.wavefronts.shared = 60;
  step.wavefronts.l1 = 40;
  EXPECT_DOUBLE_EQ(cycles(plan_of(step), device()), 100);
}

// p = 1 + (6 - 1)·64/8 = 41 would be sharper than any overlap seen: 20 at the most.
TEST(SmTime, ManyWarpsOverlapNoSharperThanTheTwentiethPower) {
  Gpu gpu = device();
  gpu.sustained.overlap_exponent = 6;
  Step step;
  step.issued.special_flops = 1600;
  step.issued.conversions = 6400;
  Plan plan = plan_of(step);
  plan.launch.block[0] = 64 * 32;
  EXPECT_DOUBLE_EQ(cycles(plan, gpu), 100 * std::pow(2, 1.0 / 20));
}

// Eight warps leave a fifth of the slots empty, ¼ as much as they fill; sixteen lose half of that.
TEST(SmTime, MoreWarpsFillMoreIssueSlots) {
  Gpu gpu = device();
  gpu.sustained.issue_efficiency = 0.8;
  const auto of_threads = [&](std::int64_t threads) {
    Step step;
    step.warp_instructions = 400;
    Plan plan = plan_of(step);
    plan.launch.block[0] = threads;
    return cycles(plan, gpu);
  };
  EXPECT_DOUBLE_EQ(of_threads(256), 100 * 1.25);
  EXPECT_DOUBLE_EQ(of_threads(512), 100 * 1.125);
  EXPECT_DOUBLE_EQ(of_threads(128), 100 * 1.5);
}

TEST(SmTime, OneWarpCannotIssueEveryCycle) {
  Gpu gpu = device();
  gpu.sustained.warp_issue_cycles = 2;
  Step step;
  step.warp_instructions = 400;  // one warp: 800 cycles in a row, 100 of the issue slots
  Plan plan = plan_of(step);
  plan.launch.block[0] = 32;
  EXPECT_DOUBLE_EQ(cycles(plan, gpu), 800);
}

// 100 and 2 for each of 8 warps; stores drain for 850 more. A loop pays once.
TEST(SmTime, ABlockStartsAndEndsOnce) {
  Gpu gpu = device();
  gpu.sustained.block_launch_cycles = 100;
  gpu.sustained.warp_launch_cycles = 2;
  gpu.sustained.store_drain_cycles = 850;
  EXPECT_DOUBLE_EQ(cycles(plan_of(Step{}), gpu), 116);
  EXPECT_DOUBLE_EQ(cycles(plan_of(vector_and_wait(), 10), gpu), 116 + 3650);
  Plan writing = plan_of(vector_and_wait(), 10);
  writing.arrays = {{.array = 0, .compulsory = {0, 1}, .footprint = {0, 1}}};
  EXPECT_DOUBLE_EQ(cycles(writing, gpu), 116 + 850 + 3650);
}

// So many steps as there are buffers take the wait and one step, 365 cycles, or their own time.
TEST(SmTime, BuffersDivideWhatIsLeftOfAWait) {
  Plan plan = plan_of(vector_and_wait(), 10);
  plan.blocks[0].phases[0].stages = 2;
  EXPECT_DOUBLE_EQ(cycles(plan, device()), 10 * 365 / 2.0);
  plan.blocks[0].phases[0].stages = 3;
  EXPECT_DOUBLE_EQ(cycles(plan, device()), 10 * 365 / 3.0);
  plan.blocks[0].phases[0].stages = 4;
  EXPECT_DOUBLE_EQ(cycles(plan, device()), 10 * 100);
  // The steps of five blocks, 500 cycles, outlast the wait.
  Plan five = plan_of(vector_and_wait(), 10, 5);
  five.blocks[0].phases[0].stages = 2;
  EXPECT_DOUBLE_EQ(cycles(five, device(), 5), 10 * 500);
}

// Only loads are issued ahead: a barrier or a dependent operation is waited for in every step.
TEST(SmTime, BuffersHideLoadsOnly) {
  Step step = vector_and_wait();
  step.waits.arithmetic = 10;
  Plan plan = plan_of(step, 10);
  plan.blocks[0].phases[0].stages = 4;
  EXPECT_DOUBLE_EQ(cycles(plan, device()), 10 * (100 + 10 * 4));
}

}  // namespace
}  // namespace roofcast
