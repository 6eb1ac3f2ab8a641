#include "model/types/compilation.hpp"

#include <gtest/gtest.h>

#include <array>

namespace roofcast {
namespace {

std::int64_t registers_of_generation(std::optional<int> major) {
  constexpr std::array kAll = {Compilation{7, 36}, Compilation{8, 31}, Compilation{10, 42}};
  Gpu gpu;
  if (major) gpu.compute_capability = {*major, 0};
  return compiled_for(gpu, kAll).registers;
}

TEST(Compilation, EachGenerationRunsTheNewestThatItCan) {
  EXPECT_EQ(registers_of_generation(7), 36);
  EXPECT_EQ(registers_of_generation(8), 31);
  EXPECT_EQ(registers_of_generation(9), 31);
  EXPECT_EQ(registers_of_generation(12), 42);
}

TEST(Compilation, TheOldestServesWhatIsOlderOrUnknown) {
  EXPECT_EQ(registers_of_generation(3), 36);
  EXPECT_EQ(registers_of_generation(std::nullopt), 36);
}

}  // namespace
}  // namespace roofcast
