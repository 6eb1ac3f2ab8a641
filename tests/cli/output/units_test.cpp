#include "cli/output/units.hpp"

#include <gtest/gtest.h>

namespace roofcast::cli {
namespace {

TEST(Units, MemoriesOfPowersOfTwo) {
  EXPECT_EQ(binary_bytes(48 * 1024), "48 KiB");
  EXPECT_EQ(binary_bytes(50 * 1024 * 1024), "50 MiB");
  EXPECT_EQ(binary_bytes(80 * 1024.0 * 1024 * 1024), "80 GiB");
  EXPECT_EQ(binary_bytes(16), "16 B");
}

}  // namespace
}  // namespace roofcast::cli
