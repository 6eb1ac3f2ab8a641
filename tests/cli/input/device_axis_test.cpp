#include "cli/input/device_axis.hpp"

#include <gtest/gtest.h>

namespace roofcast::cli {
namespace {

Options asked(std::vector<std::string> sets) {
  Options options;
  options.add("gpu", {"h200-sxm,h100-sxm5"});
  options.add("set", std::move(sets));
  return options;
}

TEST(DeviceAxis, EachDeviceHasEachValueTheLastKeyFastest) {
  const std::vector<Gpu> gpus =
      load_devices(asked({"sm_count=100:120:20", "power_w=500", "memory/l2_bytes=1e7:4e7:*2"}));
  ASSERT_EQ(gpus.size(), 2U * 2U * 3U);
  EXPECT_EQ(gpus[1].name, "h200-sxm sm_count=100 memory/l2_bytes=20000000");
  EXPECT_EQ(gpus[1].sm_count, 100);
  EXPECT_EQ(gpus[1].memory.l2_bytes, 2e7);
  EXPECT_EQ(gpus[5].sm_count, 120);
  EXPECT_EQ(gpus[6].name, "h100-sxm5 sm_count=100 memory/l2_bytes=10000000");
}

TEST(DeviceAxis, OneValueIsNoAxis) {
  const std::vector<Gpu> gpus = load_devices(asked({"sm_count=100"}));
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].name, "h200-sxm");
}

TEST(DeviceAxis, AnEmptyRangeIsRefused) {
  EXPECT_THROW(load_devices(asked({"sm_count=100:90:10"})), InputError);
}

}  // namespace
}  // namespace roofcast::cli
