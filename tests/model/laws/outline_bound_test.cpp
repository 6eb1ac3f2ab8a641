// A candidate's outline is a lower bound of its forecast, and the search by outlines finds the
// fastest candidate.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "model/candidates.hpp"
#include "model/catalog.hpp"
#include "model/kernels/gemm/tensor.hpp"
#include "model/laws/bounds.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast {
namespace {

constexpr int kDraws = 400;

// Extents of all sizes, whole vectors or not; layouts and other settings that candidates do not
// set.
Problem drawn(const KernelRef& kernel, DType type, std::mt19937& random) {
  const auto below = [&random](std::uint32_t end) {
    return static_cast<std::int64_t>(random() % end);
  };
  constexpr std::array<std::int64_t, 4> kMultiples = {1, 8, 16, 64};
  const auto parameters = kernel.parameters();
  Problem problem;
  problem.dtype = type;
  unsigned given = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& one = parameters[i];
    if (one.fallback && (one.configures || below(3) > 0)) continue;
    given |= 1U << i;
    if (!one.choices.empty() || one.maximum == 1) {
      problem[i] = below(static_cast<std::uint32_t>(one.maximum + 1));
    } else if (one.fallback) {
      problem[i] = *one.fallback + below(2);
    } else {
      const std::int64_t multiple = kMultiples[static_cast<std::size_t>(below(4))];
      const std::int64_t octave = std::int64_t{1} << below(15);
      problem[i] = (octave + below(static_cast<std::uint32_t>(octave))) / multiple * multiple;
      problem[i] = std::max(multiple, problem[i]);
    }
  }
  check(kernel, problem, given);
  return problem;
}

class Bound : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Bound, NoForecastIsShorter) {
  const Gpu& gpu = testing::gpu_named(GetParam());
  std::mt19937 random(20);  // the same on every machine
  int compared = 0;
  for (const KernelRef& kernel : testing::all_variants()) {
    if (kernel.kernel->outlines == nullptr) continue;
    for (const DType type : kernel.dtypes()) {
      for (int i = 0; i < kDraws; ++i) {
        const Problem asked = drawn(kernel, type, random);
        const Assumptions assumptions{.cache = kCacheStates[random() % kCacheStates.size()]};
        try {
          const std::vector<Problem> candidates = kernel.kernel->candidates(asked, gpu);
          const std::vector<Outline> outlines = kernel.kernel->outlines(candidates, gpu);
          for (std::size_t j = 0; j < candidates.size(); ++j) {
            const Problem& one = candidates[j];
            const double least_s = least_time_s(outlines[j], gpu, assumptions);
            const Candidate whole = candidate_of({kernel, one, gpu, assumptions});
            EXPECT_LE(least_s, whole.expected_s() * (1 + 1e-6))
                << testing::text({kernel, one}) << ", " << name(assumptions.cache);
            ++compared;
          }
        } catch (const InputError&) {
          // The device has no such type or instruction, or the problem no such layout.
        }
      }
    }
  }
  EXPECT_GT(compared, 100);
}
INSTANTIATE_TEST_SUITE_P(Devices, Bound,
                         ::testing::Values("h100-sxm5", "h200-sxm", "a100-sxm4-80gb", "b200",
                                           "l40s", "v100-sxm2"),
                         [](const auto& device) {
                           std::string name(device.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Operands whose rows are off 16 bytes are copied first.
TEST(Bound, OfProductsWithCopiesTheFastestIsFound) {
  const Gpu& gpu = testing::gpu_named("h100-sxm5");
  const KernelRef kernel = find_kernel("gemm.wgmma");
  std::mt19937 random(21);  // the same on every machine
  for (int i = 0; i < kDraws; ++i) {
    Problem asked = drawn(kernel, DType::bf16, random);
    asked[gemm::kK] |= 1;
    asked[gemm::tensor::kLda] = asked[gemm::tensor::kLdb] = asked[gemm::tensor::kLdc] = 0;
    for (const CacheState cache : kCacheStates) {
      const Assumptions assumptions{.cache = cache};
      double least_s = std::numeric_limits<double>::infinity();
      for (const Problem& one : kernel.kernel->candidates(asked, gpu)) {
        const Candidate whole = candidate_of({kernel, one, gpu, assumptions});
        ASSERT_GT(whole.sequence.size(), 1U);
        least_s = std::min(least_s, whole.expected_s());
      }
      EXPECT_EQ(fastest_candidate({kernel, asked, gpu, assumptions}).expected_s(), least_s)
          << testing::text({kernel, asked}) << ", " << name(cache);
    }
  }
}

}  // namespace
}  // namespace roofcast
