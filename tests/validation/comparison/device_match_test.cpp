#include "validation/comparison/device_match.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace roofcast::validation {
namespace {

Gpu gpu(const char* name, ComputeCapability capability, std::int64_t sms, double memory) {
  Gpu out;
  out.name = name;
  out.compute_capability = capability;
  out.sm_count = sms;
  out.memory.dram_bytes = memory;
  return out;
}

const std::vector<Gpu> kAll = {gpu("a40", {8, 0}, 108, 40e9), gpu("a80", {8, 0}, 108, 80e9),
                               gpu("h100", {9, 0}, 132, 80e9), gpu("h200", {9, 0}, 132, 141e9)};

TEST(MatchDevice, TakesTheNearestMemoryOfEqualChips) {
  EXPECT_EQ(match_device({"9.0", 132, 139.8e9}, kAll)->name, "h200");
  EXPECT_EQ(match_device({"9.0", 132, 79.1e9}, kAll)->name, "h100");
  EXPECT_EQ(match_device({"8.0", 108, 42e9}, kAll)->name, "a40");
}

TEST(MatchDevice, FindsNothingForStrangers) {
  EXPECT_EQ(match_device({"9.0", 114, 80e9}, kAll), nullptr);
  EXPECT_EQ(match_device({"8.6", 108, 40e9}, kAll), nullptr);
  EXPECT_EQ(match_device({"9.0", 132, 20e9}, kAll), nullptr);
  EXPECT_EQ(match_device({"9.0", 132, 80e9}, {}), nullptr);
}

TEST(MatchDevice, PassesOverSpecificationsWithoutMemory) {
  Gpu vague = gpu("vague", {9, 0}, 132, 0);
  vague.memory.dram_bytes.reset();
  const std::vector<Gpu> all = {vague};
  EXPECT_EQ(match_device({"9.0", 132, 80e9}, all), nullptr);
}

}  // namespace
}  // namespace roofcast::validation
