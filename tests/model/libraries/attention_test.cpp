#include "model/libraries/attention.hpp"

#include <gtest/gtest.h>

#include "model/kernels/attention/blocks.hpp"
#include "tests/model/kernels/attention/problems.hpp"

namespace roofcast::attention {
namespace {

// Of 300 queries and 5 keys a causal mask leaves whole tiles without a key, and more parts than
// steps of keys leave whole parts: their blocks write zeros, which the next launch reads.
TEST(AttentionLibrary, EveryPartIsWritten) {
  const Gpu gpu = gpu_named("h100-sxm5");
  for (const Library library : {kCudnn, kFa2, kFa3}) {
    for (const std::int64_t splits : {1, 2, 16, 128}) {
      for (const std::int64_t keys : {1, 5, 80, 500}) {
        for (const bool causal : {false, true}) {
          Problem p = of(library, prefill(1, 8, 300, 64, causal), splits);
          p[kSeqKv] = keys;
          const LaunchSequence launches = plan_library(p, gpu);
          double parts = 0;
          for (const Launched& one : launches) {
            for (const ArrayUse& use : one.plan.arrays) {
              if (use.array == kParts) parts += use.footprint.write_bytes;
            }
          }
          const Prediction answer = forecast(p, gpu);
          EXPECT_GE(answer.work.l2.write_bytes, parts * (1 - 1e-9)) << library << ' ' << splits;
          EXPECT_LE(answer.work.dram.write_bytes, answer.work.l2.write_bytes * (1 + 1e-9))
              << library << ' ' << splits << ' ' << keys << ' ' << causal;
        }
      }
    }
  }
}

}  // namespace
}  // namespace roofcast::attention
