// Every part of every forecast, on every device.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/model/scan/corners.hpp"
#include "tests/model/scan/questions.hpp"

namespace roofcast {
namespace {

using testing::ScanCase;

TEST(Waterfall, ItsPartsAddUpToTheExpectedTimeAndNoneIsNegative) {
  std::int64_t asked = 0;
  for (const specs::Embedded& one : specs::embedded()) {
    const Gpu gpu = testing::shipped_gpu(one);
    for (const KernelRef& kernel : testing::all_variants()) {
      const auto extents = testing::extents(kernel);
      for (ScanCase question : testing::templates(kernel)) {
        for (const std::int64_t size : {1, 100, 2048, 4097}) {
          for (const std::size_t i : extents) {
            question.problem[i] = extents.size() == 1 ? size * size : size;
          }
          if (!testing::is_drawn(*kernel.family, testing::text(question), 1)) continue;
          for (const CacheState cache : {CacheState::cold, CacheState::steady}) {
            const auto found = testing::ask(question, gpu, cache);
            if (!found || !found->time) continue;
            ++asked;
            double sum = 0;
            for (std::size_t i = 0; i < kParts; ++i) {
              const auto part = static_cast<Part>(i);
              const double seconds = found->time->waterfall[part];
              sum += seconds;
              EXPECT_GE(seconds, 0)
                  << testing::text(question) << " --gpu " << gpu.name << ": " << name(part);
            }
            EXPECT_NEAR(sum, found->time->expected_s, 1e-12 * found->time->expected_s)
                << testing::text(question) << " --gpu " << gpu.name;
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(asked, 10000);
}

}  // namespace
}  // namespace roofcast
