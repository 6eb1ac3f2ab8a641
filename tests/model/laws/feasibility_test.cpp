// What a device refuses to run.
#include "model/laws/occupancy.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "model/laws/l2_reuse.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

Plan plan() {
  Plan found;
  found.launch.grid = {1000, 1, 1};
  found.launch.block = {256, 1, 1};
  found.launch.registers = 32;
  return found;
}

TEST(Feasibility, WhatFitsHasItsOccupancy) {
  // 2048 threads ÷ 256, and as many by registers: 65536 ÷ (256 · 32).
  EXPECT_EQ(checked_occupancy(plan(), testing::hopper_like()).blocks_per_sm, 8);
}

struct Refusal {
  const char* what;
  std::function<void(Plan&, Gpu&)> change;
  const char* message;
};

const Refusal kRefusals[] = {
    {"instruction",
     [](Plan& plan, Gpu& gpu) {
       plan.needs = {Instruction::cp_async, Instruction::wgmma};
       gpu.features.instructions[static_cast<std::size_t>(Instruction::wgmma)] = false;
     },
     "the kernel needs wgmma, which test-gpu does not have: choose another variant"},
    {"no clusters",
     [](Plan& plan, Gpu& gpu) {
       plan.launch.cluster = {1, 2, 1};
       gpu.features.cluster_blocks_max.reset();
     },
     "the kernel needs clusters of 2 blocks, and test-gpu has no clusters: choose another variant"},
    {"cluster too large",
     [](Plan& plan, Gpu&) {
       plan.launch.cluster = {17, 1, 1};
     },
     "a cluster of 17 blocks: test-gpu takes at most 16"},
    {"grid too large",
     [](Plan& plan, Gpu&) {
       plan.launch.grid = {1, 1, 65536};
     },
     "the kernel would launch 65536 blocks along z, and test-gpu takes at most 65535: choose a "
     "smaller problem or larger tiles"},
    {"grid too wide",
     [](Plan& plan, Gpu&) {
       plan.launch.grid = {2147483648, 1, 1};
     },
     "the kernel would launch 2147483648 blocks along x, and test-gpu takes at most 2147483647: "
     "choose a smaller problem or larger tiles"},
    {"too much shared memory", [](Plan& plan, Gpu&) { plan.launch.shared_bytes = 227 * 1024 + 1; },
     "a block of 256 threads, 32 registers a thread and 232449 B of shared memory does not fit an "
     "SM of test-gpu, which gives a block 65536 registers, 255 a thread, and 232448 B: choose "
     "smaller tiles, or fewer threads"},
    {"too many registers", [](Plan& plan, Gpu&) { plan.launch.registers = 256; },
     "a block of 256 threads, 256 registers a thread and 0 B of shared memory does not fit an SM "
     "of test-gpu, which gives a block 65536 registers, 255 a thread, and 232448 B: choose smaller "
     "tiles, or fewer threads"},
};

TEST(Feasibility, ARefusalNamesWhatIsMissingAndTheMend) {
  for (const Refusal& refusal : kRefusals) {
    Plan changed = plan();
    Gpu gpu = testing::hopper_like();
    refusal.change(changed, gpu);
    try {
      checked_occupancy(changed, gpu);
      ADD_FAILURE() << refusal.what << " is accepted";
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), refusal.message);
    }
  }
}

TEST(Feasibility, TheMostIsAccepted) {
  const Gpu gpu = testing::hopper_like();
  Plan most = plan();
  most.needs = {Instruction::wgmma};
  most.launch.cluster = {4, 4, 1};
  most.launch.grid = {2147483647, 65535, 65535};
  most.launch.shared_bytes = 227 * 1024;
  EXPECT_EQ(checked_occupancy(most, gpu).blocks_per_sm, 1);
  Gpu unlimited = gpu;
  unlimited.features.grid_max = {};
  most.launch.grid = {2147483648, 65536, 65536};
  EXPECT_EQ(checked_occupancy(most, unlimited).blocks_per_sm, 1);
}

TEST(Feasibility, ABlockAloneNeedsNoClusters) {
  Gpu gpu = testing::hopper_like();
  gpu.features.cluster_blocks_max.reset();
  EXPECT_EQ(checked_occupancy(plan(), gpu).blocks_per_sm, 8);
}

}  // namespace
}  // namespace roofcast
