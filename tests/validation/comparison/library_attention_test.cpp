// Forecasts of cuDNN's and FlashAttention-2's attention against the committed tables of random
// shapes: the shapes that no constant was fitted to.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/counting/integers.hpp"
#include "tests/model/kernels/attention/problems.hpp"
#include "tests/model/scan/questions.hpp"
#include "validation/comparison/compare.hpp"
#include "validation/comparison/table.hpp"

namespace roofcast::validation {
namespace {

struct Group {
  const char* table;
  const char* library;
  const char* pass;
  double most;             ///< mean error
  std::size_t rows = 100;  ///< the table must have more
  CacheState cache = CacheState::steady;
  const char* layout = "bshd";  ///< bhsd: times hold PyTorch's copies of O and dO
};

constexpr const char* kH100 = "h100-sxm5-attention-libraries-2026-11-24.csv";
constexpr const char* kH200 = "h200-sxm-attention-libraries-2026-11-24.csv";
constexpr const char* kSeed99 = "h100-sxm5-attention-libraries-2026-11-26.csv";
constexpr const char* kSeed103 = "h100-sxm5-attention-libraries-2026-11-26b.csv";
constexpr const char* kDecode = "h100-sxm5-attention-decode-libraries-2026-11-24.csv";

constexpr std::array kGroups = {
    Group{kH100, "cudnn", "forward", 0.08},
    Group{kH200, "cudnn", "forward", 0.08},
    Group{kH100, "cudnn", "backward", 0.105},
    Group{kH200, "cudnn", "backward", 0.105},
    Group{kH100, "fa2", "forward", 0.115},
    Group{kH200, "fa2", "forward", 0.115},
    Group{kH100, "fa2", "backward", 0.125},
    Group{kH200, "fa2", "backward", 0.125},
    Group{kDecode, "cudnn", "forward", 0.11},
    Group{kDecode, "fa2", "forward", 0.11},
    Group{kSeed99, "cudnn", "forward", 0.12, 25, CacheState::repeated, "bhsd"},
    Group{kSeed99, "cudnn", "backward", 0.14, 25, CacheState::repeated, "bhsd"},
    Group{kSeed99, "fa2", "forward", 0.14, 25, CacheState::repeated, "bhsd"},
    Group{kSeed99, "fa2", "backward", 0.14, 25, CacheState::repeated, "bhsd"},
    Group{kSeed103, "cudnn", "forward", 0.12, 25, CacheState::repeated, "bhsd"},
    Group{kSeed103, "cudnn", "backward", 0.14, 25, CacheState::repeated, "bhsd"},
    Group{kSeed103, "fa2", "forward", 0.14, 25, CacheState::repeated, "bhsd"},
    Group{kSeed103, "fa2", "backward", 0.14, 25, CacheState::repeated, "bhsd"}};

std::string text_of(const char* table) {
  std::ifstream in(std::filesystem::path(ROOFCAST_MEASURED_DIR) / table);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

const Gpu* shipped(std::string_view name) {
  return &testing::gpu_named(name);
}

TEST(LibraryAttention, RandomShapesKeptBackAreForecastWithinTheTolerances) {
  for (const Group& group : kGroups) {
    TableQuery query;
    query.kernel = "attention.library";
    query.where = {{"held_out", "yes"}, {"library", group.library}, {"pass", group.pass}};
    query.set = {{"layout", group.layout}};
    query.cache = group.cache;
    const Comparison found =
        compare_table(group.table, parse_table(group.table, text_of(group.table), query), shipped);
    EXPECT_TRUE(found.failures.empty());
    ASSERT_GT(found.rows.size(), group.rows) << group.table;
    double error = 0, inside = 0;
    for (const Row& row : found.rows) {
      // A replayed graph finds small operands in L2, which no limit from DRAM knows.
      const double l2_bytes = testing::gpu_named(row.gpu).memory.l2_bytes.value();
      if (row.work_dram_bytes > l2_bytes) {
        EXPECT_GE(row.time_s.measured, row.limit_s) << group.table;
      }
      error += std::abs(row.time_s.error());
      if (row.time_s.measured >= row.predicted_low_s &&
          row.time_s.measured <= row.predicted_high_s) {
        ++inside;
      }
    }
    const auto count = static_cast<double>(found.rows.size());
    std::printf("%-52s %-6s %-9s %3.0f rows: mean error %4.1f%%, %3.0f%% in the interval\n",
                group.table, group.library, group.pass, count, 100 * error / count,
                100 * inside / count);
    EXPECT_LE(error / count, group.most) << group.table << ' ' << group.library << group.pass;
  }
}

// Lines of code that the longest block runs, and instructions of its loop, against PyTorch's SASS.
TEST(LibraryAttention, FlashAttention2sCodeIsAsCompiled) {
  enum Column { kSeq = 5, kCausal = 6, kHeadDim = 4, kWarps = 9, kLines = 13, kLoop = 14 };
  std::istringstream table(text_of("h200-sxm-attention-flash2-code-2026-11-30.csv"));
  std::string line;
  std::getline(table, line);
  int rows = 0;
  for (; std::getline(table, line); ++rows) {
    std::vector<std::string> cells;
    std::istringstream fields(line);
    for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
    const auto number = [&](Column column) { return std::stod(cells.at(column)); };
    const Problem problem = attention::of(
        attention::kFa2,
        attention::prefill(4, 16, std::stoll(cells.at(kSeq)), std::stoll(cells.at(kHeadDim)),
                           cells.at(kCausal) == "yes"),
        1);
    const LaunchSequence launches =
        attention::plan_library(problem, testing::gpu_named("h200-sxm"));
    double code = 0, loop = std::numeric_limits<double>::infinity();
    for (const BlockClass& some : launches.front().plan.blocks) {
      code = std::max(code, some.phases.front().step.code_bytes);
      for (const Phase& phase : some.phases) {
        if (phase.step.issued.tensor_flops.total() == 0) continue;
        loop = std::min(loop, phase.step.warp_instructions / number(kWarps));
      }
    }
    EXPECT_NEAR(code / as_double(kLineBytes) / number(kLines), 1, 0.2) << line;
    EXPECT_NEAR(loop / number(kLoop), 1, 0.07) << line;
  }
  EXPECT_EQ(rows, 24);
}

// 27 lengths from 120 to 4096. With a mask FlashAttention-2 waits for its code (docs/model.md).
TEST(LibraryAttention, FlashAttention2IsForecastFromLengthToLength) {
  const auto error = [](const char* causal) {
    constexpr const char* kLengths = "h200-sxm-attention-flash2-2026-11-30.csv";
    TableQuery query;
    query.kernel = "attention.library";
    query.gpu = "h200-sxm";
    query.dtype = DType::bf16;
    query.where = {{"causal", causal}};
    query.set = {{"library", "fa2"}, {"seq_q", "seq"}, {"seq_kv", "seq"}, {"kv_heads", "heads"}};
    const Comparison found =
        compare_table(kLengths, parse_table(kLengths, text_of(kLengths), query), shipped);
    EXPECT_EQ(found.rows.size(), 162U);
    double sum = 0;
    for (const Row& row : found.rows) sum += std::abs(row.time_s.error());
    return sum / static_cast<double>(found.rows.size());
  };
  const double without = error("no"), with = error("yes");
  std::printf("FlashAttention-2 by length: %.1f%%, causal %.1f%%\n", 100 * without, 100 * with);
  EXPECT_LE(without, 0.06);
  EXPECT_LE(with, 0.10);
}

}  // namespace
}  // namespace roofcast::validation
