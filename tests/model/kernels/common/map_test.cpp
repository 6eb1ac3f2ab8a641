// Waits of stream and elementwise kernels, by type and vector.
#include "model/kernels/common/map.hpp"

#include <gtest/gtest.h>

namespace roofcast {
namespace {

double round_trips(const map::Operation& operation, DType type, std::int64_t vector_bytes) {
  constexpr std::int64_t kLoads = 4;
  const Problem p{.dtype = type, .values = {1 << 20, 256, vector_bytes, kLoads, 0}};
  return map::plan(operation, p).blocks.front().phases.front().step.waits.global;
}

// A thread's four loads take one round trip together, or four where each vector is unpacked before
// the next load.
TEST(Map, LoadsWaitWhereVectorsAreTakenApart) {
  const map::Operation copy, doubled = {.cost = {.flops = 1}};
  EXPECT_EQ(round_trips(copy, DType::fp16, 16), 4);
  EXPECT_EQ(round_trips(copy, DType::bf16, 8), 4);
  EXPECT_EQ(round_trips(doubled, DType::fp16, 8), 4);
  EXPECT_EQ(round_trips(doubled, DType::bf16, 8), 1);
  EXPECT_EQ(round_trips(copy, DType::fp16, 4), 1);
  EXPECT_EQ(round_trips(copy, DType::fp32, 16), 1);
}

}  // namespace
}  // namespace roofcast
