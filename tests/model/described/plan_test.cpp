#include <gtest/gtest.h>

#include "model/described/kernel.hpp"
#include "model/predict.hpp"
#include "tests/model/devices.hpp"

namespace roofcast::described {
namespace {

Quantity number(std::string_view text, std::span<const std::string> names = {}) {
  return Quantity(text, names);
}

const std::vector<std::string> kNames = {"n"};

Description copy_of_n() {
  Description d;
  d.name = "mine";
  d.summary = "a copy";
  d.parameters = {{"n", "elements"}};
  d.threads = number("256");
  d.registers = number("16");
  d.arrays = {{number("4*n", kNames)}, {number("0"), number("4*n", kNames)}};
  return d;
}

Problem of(std::int64_t n) {
  Problem problem;
  problem[0] = n;
  return problem;
}

Plan plan_of(const Description& d, std::int64_t n) {
  return make_kernel(d).kernel->plan_of(of(n), testing::hopper_like()).front().plan;
}

TEST(DescribedPlan, WithoutAGridAThreadMovesSixteenBytes) {
  EXPECT_EQ(plan_of(copy_of_n(), 256 * 4 * 10).launch.grid[0], 10);
  EXPECT_EQ(plan_of(copy_of_n(), 256 * 4 * 10 + 1).launch.grid[0], 11);
}

TEST(DescribedPlan, TheBlocksDoTheWorkOfTheLaunch) {
  Description d = copy_of_n();
  d.flops = {{DType::fp32, number("3*n", kNames)}};
  d.phases = {{number("0.25"), number("4"), number("1"), number("1")},
              {number("0.75"), number("1"), number("0"), number("2")}};
  const Prediction answer = predict(make_kernel(d), of(1 << 20), testing::hopper_like());
  EXPECT_DOUBLE_EQ(answer.work.vector_flops, 3.0 * (1 << 20));
  EXPECT_DOUBLE_EQ(answer.work.requested.read_bytes, 4.0 * (1 << 20));
  EXPECT_DOUBLE_EQ(answer.work.compulsory.total_bytes(), 8.0 * (1 << 20));
  ASSERT_TRUE(answer.time);
  EXPECT_GE(answer.time->expected_s, answer.limit.time_s);
}

TEST(DescribedPlan, SharesAddUpToOne) {
  Description d = copy_of_n();
  d.phases = {{number("0.5"), number("1"), number("0"), number("1")}};
  EXPECT_THROW(plan_of(d, 1024), InputError);
}

TEST(DescribedPlan, AStrideTakesWholeSectors) {
  Description d = copy_of_n();
  d.arrays[0].access = Access::strided;
  d.arrays[0].element_bytes = number("4");
  d.arrays[0].stride_bytes = number("64");
  const Prediction answer = predict(make_kernel(d), of(1 << 20), testing::hopper_like());
  EXPECT_DOUBLE_EQ(answer.work.l1.read_bytes, 32.0 * (1 << 20));
}

TEST(DescribedPlan, EveryBlockReadsWhatIsBroadcast) {
  Description d = copy_of_n();
  d.arrays[0] = {number("1024"), number("0"), Access::broadcast};
  d.grid = {number("8"), number("1"), number("1")};
  const Prediction answer = predict(make_kernel(d), of(1 << 10), testing::hopper_like());
  EXPECT_DOUBLE_EQ(answer.work.requested.read_bytes, 8 * 1024);
  EXPECT_DOUBLE_EQ(answer.work.compulsory.read_bytes, 1024);
}

TEST(DescribedPlan, AKernelThatDoesNotFitIsRefused) {
  Description d = copy_of_n();
  d.shared_bytes = number("n", kNames);
  EXPECT_THROW(predict(make_kernel(d), of(300000), testing::hopper_like()), InputError);
  d.shared_bytes = number("0 - n", kNames);
  EXPECT_THROW(plan_of(d, 4), InputError);
}

TEST(DescribedPlan, AnUnknownNameIsRefused) {
  EXPECT_THROW(number("2*m", kNames), InputError);
  EXPECT_NO_THROW(number("element_bytes*n", kNames));
}

}  // namespace
}  // namespace roofcast::described
