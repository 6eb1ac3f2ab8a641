// Forecasts of libraries' attention against published measurements (../shared/reference), whose
// conditions README.md there tells. What decoding waits for was set by hand with rows of all
// positions in view (model/libraries/attention_serving.cpp), so that of it this is no held-out
// accuracy.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "hw_specs/loader.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_tables.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/comparison/table.hpp"

namespace roofcast::validation {
namespace {

struct Collection {
  const char* file;
  const char* library;
  std::vector<std::pair<std::string, std::string>> set;
  double launch_s;  ///< of each launch in the table, by its shortest rows
  double from_s;    ///< shorter rows are the framework's
  double most;      ///< mean error on each GPU
};

const std::array kCollections = {
    Collection{"attention_causal_prefill.csv",
               "trtllm",
               {{"seq_q", "seq_len"}, {"causal", "yes"}, {"cache_writes", "2"}},
               2.5e-6,
               50e-6,
               0.1},
    Collection{"attention_fa3_causal_prefill.csv",
               "fa3",
               {{"seq_q", "seq_len"}, {"causal", "yes"}, {"cache_writes", "1"}},
               2.5e-6,
               20e-6,
               0.11},
    Collection{"attention_decode.csv", "trtllm", {{"seq_q", "1"}}, 2.5e-6, 20e-6, 0.11}};

const Gpu* shipped(std::string_view name) {
  return specs::find_embedded(name) != nullptr ? &testing::gpu_named(name) : nullptr;
}

TEST(ReferenceAttention, LongRowsAreForecastWithinTheTolerances) {
  for (const Collection& collection : kCollections) {
    const std::string text = reference_text(collection.file);
    if (text.empty()) {
      GTEST_SKIP() << "no reference tables here: set ROOFCAST_REFERENCE_DIR to read them";
    }
    TableQuery query;
    query.kernel = "attention.library";
    query.set = collection.set;
    query.set.emplace_back("library", collection.library);
    query.launch_s = collection.launch_s;
    const Comparison found =
        compare_table(collection.file, parse_table(collection.file, text, query), shipped);
    EXPECT_TRUE(found.failures.empty());
    struct Sum {
      double error = 0, count = 0, inside = 0;
    };
    std::map<std::string, Sum> sums;
    int below_limit = 0;
    for (const Row& row : found.rows) {
      if (row.time_s.measured < row.limit_s) {
        ++below_limit;  // a measurement to drop: caches of sequences that share memory
        continue;
      }
      if (row.time_s.measured < collection.from_s) continue;
      Sum& sum = sums[row.gpu];
      sum.error += std::abs(row.time_s.error());
      ++sum.count;
      if (row.time_s.measured >= row.predicted_low_s &&
          row.time_s.measured <= row.predicted_high_s) {
        ++sum.inside;
      }
    }
    for (const auto& [gpu, sum] : sums) {
      std::printf("%-34s %-15s %4.0f rows: mean error %4.1f%%, %3.0f%% in the interval\n",
                  collection.file, gpu.c_str(), sum.count, 100 * sum.error / sum.count,
                  100 * sum.inside / sum.count);
      EXPECT_LE(sum.error / sum.count, collection.most) << collection.file << ' ' << gpu;
    }
    // 31 rows of one GPU move their caches faster than its memory can.
    EXPECT_LE(below_limit, 31) << collection.file;
  }
}

}  // namespace
}  // namespace roofcast::validation
