// The limit: each resource alone takes a second for the work that fills it for a second.
#include "model/laws/bounds.hpp"

#include <gtest/gtest.h>

#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

Gpu device() {
  Gpu gpu = testing::hopper_like();
  gpu.sm.conversion_per_clk = 64;
  gpu.sm.l1_bytes_per_clk = 128;
  return gpu;
}

constexpr double kSmClocks = 132 * 2e9;  // SM clocks of a second, at the highest clock

Plan one_block(const Step& step) {
  Plan plan;
  plan.blocks = {{1, {{step}}}};
  return plan;
}

ArrayUse use(ArrayId array, const Traffic& bytes) {
  return {.array = array, .compulsory = bytes, .footprint = bytes};
}

struct Filled {
  Resource resource;
  Plan plan;
};

std::vector<Filled> filled_for_a_second() {
  std::vector<Filled> all;
  const auto useful = [&all](Resource resource, const auto& set) {
    Plan plan;
    set(plan.useful);
    all.push_back({resource, plan});
  };
  const auto issued = [&all](Resource resource, const auto& set) {
    Step step;
    set(step.issued);
    all.push_back({resource, one_block(step)});
  };
  useful(Resource::vector, [](Work& work) { work.vector_flops = 256 * kSmClocks; });
  useful(Resource::tensor, [](Work& work) {
    work.tensor_flops[DType::fp16] = 0.25 * 4096 * kSmClocks;
    work.tensor_flops[DType::bf16] = 0.75 * 4096 * kSmClocks;
  });
  useful(Resource::special, [](Work& work) { work.special_flops = 16 * kSmClocks; });
  useful(Resource::conversion, [](Work& work) { work.conversions = 64 * kSmClocks; });
  issued(Resource::l2, [](Work& work) { work.l2.read_bytes = 64 * kSmClocks; });
  issued(Resource::shared, [](Work& work) { work.shared_bytes = 128 * kSmClocks; });
  issued(Resource::l1, [](Work& work) { work.l1 = {100 * kSmClocks, 28 * kSmClocks}; });
  Plan dram;  // 60 MB of what is written can stay in L2
  dram.arrays = {use(0, {1.8e12, 0}), use(1, {0, 3e12 + 60e6})};
  all.push_back({Resource::dram, dram});
  return all;
}

TEST(Bounds, EachResourceBindsByItself) {
  for (const auto& [resource, plan] : filled_for_a_second()) {
    const Limit found = limit({{plan}}, device());
    EXPECT_DOUBLE_EQ(found.time_s, 1) << name(resource);
    EXPECT_DOUBLE_EQ(found.terms.total(), 1) << name(resource);
    EXPECT_EQ(binding(found.terms), resource);
    EXPECT_DOUBLE_EQ(limit({{plan, 3}}, device()).time_s, 3) << "three launches";
  }
}

TEST(Bounds, AResourceWithoutARateDoesNotBind) {
  Gpu gpu = device();
  gpu.sm = {};
  gpu.memory.dram_bandwidth_bytes_per_s.reset();
  for (const auto& [resource, plan] : filled_for_a_second()) {
    EXPECT_EQ(limit({{plan}}, gpu).time_s, 0) << name(resource);
  }
}

// TPUs and boards of two dies publish peaks of the whole device only.
TEST(Bounds, APeakOfTheWholeDeviceBinds) {
  Gpu gpu = device();
  gpu.sm_count.reset();
  gpu.peak_flops_per_s[DType::fp32] = 8e12;
  gpu.peak_flops_per_s[DType::bf16] = 2e14;
  Plan vector;
  vector.useful.vector_flops = 8e12;
  EXPECT_DOUBLE_EQ(limit({{vector}}, gpu).time_s, 1);
  EXPECT_EQ(binding(limit({{vector}}, gpu).terms), Resource::vector);
  Plan tensor;
  tensor.useful.tensor_flops[DType::bf16] = 1e14;
  EXPECT_DOUBLE_EQ(limit({{tensor}}, gpu).time_s, 0.5);
  vector.compute = DType::fp64;
  EXPECT_THROW((void)limit({{vector}}, gpu), InputError) << "no peak is known";
}

TEST(Bounds, TheLargestOfALaunchCountsAndLaunchesAddUp) {
  Plan both;  // 1 s and 0.5 s
  both.useful.vector_flops = 256 * kSmClocks;
  both.arrays = {use(0, {2.4e12, 0})};
  Plan second;  // reads what is there already, and 2.4 TB more
  second.arrays = {use(0, {2.4e12, 0}), use(1, {2.4e12, 0})};
  const Limit found = limit({{both}, {second}}, device());
  EXPECT_DOUBLE_EQ(found.time_s, 1 + 0.5);
  EXPECT_EQ(binding(found.terms), Resource::vector);
  EXPECT_DOUBLE_EQ(found.terms.total(), 2);
  for (const double term_s : found.terms) EXPECT_TRUE(term_s == 0 || term_s == 1) << term_s;
}

TEST(Bounds, OfAFamilyOnItsFastestPipe) {
  Work work;
  work.vector_flops = 256 * kSmClocks;
  work.compulsory = {1.2e12, 0};
  EXPECT_DOUBLE_EQ(limit(work, DType::fp32, device()).time_s, 1);
  EXPECT_EQ(binding(limit(work, DType::fp32, device()).terms), Resource::vector);
  EXPECT_DOUBLE_EQ(limit(work, DType::fp16, device()).time_s, 0.25);  // 256 of 4096: 1/16 s
  EXPECT_EQ(binding(limit(work, DType::fp16, device()).terms), Resource::dram);
  EXPECT_THROW(limit(work, DType::fp4, device()), InputError);
  work.vector_flops = 0;
  EXPECT_DOUBLE_EQ(limit(work, DType::fp4, device()).time_s, 0.25);
}

TEST(Limit, WarmWhatL2MayHoldOfAnActivationIsNotRead) {
  const double l2 = *device().memory.l2_bytes;
  const double bandwidth = *device().memory.dram_bandwidth_bytes_per_s;
  Plan plan;
  plan.arrays = {use(0, {4 * l2, 0}), use(1, {3 * l2, 0})};
  const auto seconds = [&plan](CacheState cache) {
    return limit({{plan}}, device(), cache).time_s;
  };
  EXPECT_DOUBLE_EQ(seconds(CacheState::warm), 7 * l2 / bandwidth) << "no activation";
  plan.arrays[0].activation = true;
  EXPECT_DOUBLE_EQ(seconds(CacheState::cold), 7 * l2 / bandwidth);
  EXPECT_DOUBLE_EQ(seconds(CacheState::steady), 7 * l2 / bandwidth);
  EXPECT_DOUBLE_EQ(seconds(CacheState::warm), 6 * l2 / bandwidth);
  plan.arrays[0].compulsory.read_bytes = l2 / 2;  // all of it fits
  EXPECT_DOUBLE_EQ(seconds(CacheState::warm), 3 * l2 / bandwidth);
  // The second launch finds the array in L2 either way: a warm start saves its bytes once.
  Plan again = plan;
  EXPECT_DOUBLE_EQ(limit({{plan}, {again}}, device(), CacheState::warm).time_s,
                   limit({{plan}, {again}}, device()).time_s - l2 / 2 / bandwidth);
  Work work;  // any input of a family may be the activation
  work.compulsory = {3 * l2, 0};
  EXPECT_DOUBLE_EQ(limit(work, DType::fp32, device(), CacheState::warm).time_s, 2 * l2 / bandwidth);
}

}  // namespace
}  // namespace roofcast
