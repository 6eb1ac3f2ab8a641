#include "reports/roofline_point.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/predict.hpp"
#include "tests/reports/samples.hpp"

namespace roofcast::reports {
namespace {

TEST(RooflinePoint, IsWhereForecastAndMeasurementOfACaseLie) {
  validation::Row row;
  row.kernel = "gemm.tiled";
  row.problem_text = "m=8 fp32";
  row.work_flops = 800;
  row.work_dram_bytes = 100;
  row.time_s = {2, 4};
  row.predicted_low_s = 1;
  row.predicted_high_s = 8;
  row.limit_s = 0.5;
  const RooflinePoint point = roofline_point(row, sample_gpu());
  EXPECT_EQ(point.label, "gemm.tiled m=8 fp32");
  EXPECT_EQ(point.intensity, 8);
  EXPECT_EQ(point.predicted_flops_per_s, 400);
  EXPECT_EQ(point.measured_flops_per_s, 200);
  EXPECT_EQ(point.low_flops_per_s, 100);
  EXPECT_EQ(point.high_flops_per_s, 800);
  EXPECT_EQ(point.limit_flops_per_s, 1600);
  EXPECT_EQ(point.measured_intensity, std::nullopt);
  row.dram_bytes = validation::Pair{100, 200};
  EXPECT_EQ(roofline_point(row, sample_gpu()).measured_intensity, 4);
  EXPECT_EQ(roofline_point(row, sample_gpu()).measured_dram_bytes_per_s, 50);
  row.work_dram_bytes = 0;  // has no place
  EXPECT_EQ(roofline_point(row, sample_gpu()).intensity, 0);
}

/// A forecast of 100 FLOP on the tensor cores in 2 s.
Prediction forecast() {
  Prediction prediction;
  prediction.problem.dtype = DType::bf16;
  prediction.problem.values = {8, 16, 32};
  prediction.work.tensor_flops[DType::bf16] = 100;
  prediction.work.l1 = {15, 5};
  prediction.work.shared_bytes = 30;
  prediction.work.l2 = {20, 5};
  prediction.work.dram = {4, 1};
  prediction.work.compulsory = {1, 1};
  prediction.limit.time_s = 1;
  Forecast time;
  time.expected_s = 2;
  time.low_s = 1;
  time.high_s = 4;
  prediction.time = time;
  return prediction;
}

TEST(RooflinePoint, HasTheIntensityOfEachLevel) {
  const RooflinePoint point = roofline_point(find_kernel("gemm.tiled"), forecast());
  EXPECT_EQ(point.label, "gemm.tiled m=8 n=16 k=32 bf16");
  EXPECT_EQ(point.intensity, 20);
  ASSERT_EQ(point.levels.size(), 2U);
  EXPECT_EQ(point.levels[0].level, "L1 + shared");
  EXPECT_EQ(point.levels[0].intensity, 2);  // 20 B through L1 and 30 B through shared memory
  EXPECT_EQ(point.levels[1].level, "L2");
  EXPECT_EQ(point.levels[1].intensity, 4);
  ASSERT_EQ(point.roofs.size(), 1U);
  EXPECT_EQ(point.roofs[0].pipe, "tensor");
  EXPECT_EQ(point.low_flops_per_s, 25);
  EXPECT_EQ(point.high_flops_per_s, 100);
  EXPECT_FALSE(point.is_limit);
}

TEST(RooflinePoint, OfAFamilyIsItsLimit) {
  Prediction prediction = forecast();
  prediction.time.reset();
  const RooflinePoint point = roofline_point(find_kernel("gemm"), prediction);
  EXPECT_TRUE(point.is_limit);
  EXPECT_EQ(point.predicted_flops_per_s, 100);
  EXPECT_EQ(point.intensity, 50);
  EXPECT_TRUE(point.levels.empty());
}

TEST(RooflinePoint, WithoutDramTrafficIsInfinitelyFarRight) {
  Prediction prediction = forecast();
  prediction.work.dram = {};
  EXPECT_TRUE(std::isinf(roofline_point(find_kernel("gemm.tiled"), prediction).intensity));
}

}  // namespace
}  // namespace roofcast::reports
