// A candidate's outline is a lower bound of its forecast.
#include "model/laws/outline_bound.hpp"

#include <gtest/gtest.h>

#include "model/kernels/gemm/gemm.hpp"
#include "model/laws/clock.hpp"
#include "model/roofcast.hpp"
#include "tests/model/devices.hpp"

namespace roofcast {
namespace {

class Bound : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Bound, NoForecastIsShorter) {
  const Gpu gpu = testing::hopper_like();
  const KernelRef kernel = find_kernel(GetParam());
  int compared = 0;
  for (const std::int64_t m : {1, 64, 777, 4096}) {
    for (const std::int64_t n : {128, 1000, 8192}) {
      for (const std::int64_t k : {64, 1111, 8192}) {
        Problem asked;
        asked.dtype = DType::bf16;
        asked.values = {m, n, k};
        check(kernel, asked, 0b111);
        for (const Problem& one : kernel.kernel->candidates(asked, gpu)) {
          const Outline brief = kernel.kernel->outline(one, gpu);
          const double least_s = least_time_s(brief, gpu, {});
          const double expected_s =
              predict({kernel.family, kernel.kernel}, one, gpu).time->expected_s;
          EXPECT_LE(least_s, expected_s * (1 + 1e-6))
              << m << " " << n << " " << k << " tile " << one[gemm::kTileM] << "x"
              << one[gemm::kTileN] << " steps " << brief.steps << " stages " << brief.stages
              << " blocks " << brief.blocks << " per SM " << brief.blocks_per_sm;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 300);
}
INSTANTIATE_TEST_SUITE_P(Products, Bound, ::testing::Values("gemm.library", "gemm.wgmma"));

}  // namespace
}  // namespace roofcast
