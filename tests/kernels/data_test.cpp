// The comparison is what every other test rests on: it must be able to say no.
#include "kernels/common/data.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "kernels/catalog.hpp"
#include "tests/kernels/device.hpp"

namespace roofcast::cuda {
namespace {

class DataTest : public GpuTest {
 protected:
  static double error_of(const std::vector<float>& out, const std::vector<double>& reference,
                         std::size_t row = 0) {
    const Guarded a({DType::fp32, out.size()}, 0), b({DType::fp64, out.size()}, 0);
    check(cudaMemcpy(a.data(), out.data(), out.size() * sizeof(float), cudaMemcpyHostToDevice));
    check(cudaMemcpy(b.data(), reference.data(), reference.size() * sizeof(double),
                     cudaMemcpyHostToDevice));
    return max_error(a.data(), {DType::fp32, out.size(), row}, static_cast<const double*>(b.data()),
                     nullptr);
  }
  static std::vector<float> normal(std::uint64_t seed, std::size_t elements) {
    const Guarded data({DType::fp32, elements}, 0);
    fill_normal(data.data(), DType::fp32, elements, seed, nullptr);
    std::vector<float> host(elements);
    check(cudaMemcpy(host.data(), data.data(), elements * sizeof(float), cudaMemcpyDeviceToHost));
    return host;
  }
};

TEST_F(DataTest, ErrorIsRelativeToTheLargestReference) {
  EXPECT_EQ(error_of({1, 2, 3}, {1, 2, 3}), 0);
  EXPECT_DOUBLE_EQ(error_of({1, 2, 4}, {1, 2, 8}), 0.5);
  EXPECT_DOUBLE_EQ(error_of({0.25F}, {0.5}), 0.5);
  EXPECT_DOUBLE_EQ(error_of({0, 0, 0}, {1e-6, -2e-6, 0}), 1);  // small is no excuse
}

TEST_F(DataTest, RowsAreHeldToTheirOwnLargestValue) {
  const std::vector<float> out = {100, 200, 1, 3};
  const std::vector<double> reference = {100, 200, 1, 2};
  EXPECT_DOUBLE_EQ(error_of(out, reference), 1.0 / 200);
  EXPECT_DOUBLE_EQ(error_of(out, reference, 2), 0.5);
  // Rows longer than what one block compares.
  std::vector<float> wide(3 * 10000, 1);
  const std::vector<double> ones(wide.begin(), wide.end());
  wide[25000] = 1.5F;
  EXPECT_DOUBLE_EQ(error_of(wide, ones, 10000), 0.5);
}

TEST_F(DataTest, NothingButZeroMatchesARowOfZeros) {
  EXPECT_EQ(error_of({0, 0, 5}, {0, 0, 5}, 1), 0);
  EXPECT_EQ(error_of({0, 1e-30F, 5}, {0, 0, 5}, 1), std::numeric_limits<double>::infinity());
}

TEST_F(DataTest, NanNeverPasses) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const double huge = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(error_of({1, nan}, {1, 2}) <= 1e30);
  EXPECT_FALSE(error_of({1, 2}, {1, static_cast<double>(nan)}) <= 1e30);
  EXPECT_FALSE(error_of({1, 2}, {1, huge}) <= 1e30);
}

TEST_F(DataTest, OneWrongElementInAMillionIsFound) {
  std::vector<float> out(1000003);
  std::iota(out.begin(), out.end(), 0.0F);
  const std::vector<double> reference(out.begin(), out.end());
  EXPECT_EQ(error_of(out, reference), 0);
  out[777777] += 1000;
  EXPECT_GT(error_of(out, reference), 1e-4);
}

TEST_F(DataTest, PoisonFailsInEveryType) {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16}) {
    const Guarded out({dtype, 5}, 1), reference({DType::fp64, 5}, 0);
    check(cudaMemset(reference.data(), 0, 5 * sizeof(double)));
    EXPECT_FALSE(max_error(out.data(), {dtype, 5}, static_cast<const double*>(reference.data()),
                           nullptr) <= 1e30)
        << name(dtype);
  }
}

TEST_F(DataTest, NormalNumbersAreNormalAndDependOnTheSeedAlone) {
  constexpr std::size_t kCount = 1 << 20;
  const std::vector<float> values = normal(1, kCount);
  double sum = 0, squares = 0;
  for (const double x : values) sum += x, squares += x * x;
  EXPECT_NEAR(sum / kCount, 0, 0.005);
  EXPECT_NEAR(squares / kCount, 1, 0.01);
  EXPECT_EQ(normal(1, kCount), values);
  EXPECT_NE(normal(2, kCount), values);
}

// A kernel that computes the wrong thing is rejected by the same steps that accept the right one.
TEST_F(DataTest, AWrongKernelIsRejected) {
  Problem p = find("gemm.vectorized")->configurations.front();
  p[0] = 65, p[1] = 66, p[2] = 67;
  const Guarded a({DType::fp32, 65 * 67}, 0), b({DType::fp32, 67 * 66}, 0),
      c({DType::fp32, 65 * 66}, 0), reference({DType::fp64, 65 * 66}, 0);
  fill_normal(a.data(), DType::fp32, 65 * 67, 1, nullptr);
  fill_normal(b.data(), DType::fp32, 67 * 66, 2, nullptr);
  const KernelEntry& entry = *find("gemm.vectorized");
  const std::vector<const void*> inputs = {a.data(), b.data()};
  const std::vector<void*> outputs = {c.data()};
  const std::vector<double*> references = {static_cast<double*>(reference.data())};
  const auto error = [&] {
    entry.reference(p, inputs, references, nullptr);
    return max_error(c.data(), {DType::fp32, 65 * 66}, references[0], nullptr);
  };
  entry.run(p, {inputs, outputs}, nullptr);
  EXPECT_LE(error(), entry.tolerance(p, 0));
  Problem one_step_short = p;  // the last product of each sum is missing, and rows are misread
  one_step_short[2] = 66;
  entry.run(one_step_short, {inputs, outputs}, nullptr);
  EXPECT_GT(error(), entry.tolerance(p, 0));
}

}  // namespace
}  // namespace roofcast::cuda
