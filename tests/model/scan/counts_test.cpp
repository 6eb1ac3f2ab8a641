// What is counted, at the ends of every declared range: no count is below 0 or beyond numbers, and
// DRAM moves no more than L2 asks of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "model/counting/coalescing.hpp"
#include "tests/model/scan/corners.hpp"
#include "tests/model/scan/violations.hpp"

namespace roofcast {
namespace {

using testing::ScanCase;
using testing::Violations;

class Counts : public ::testing::TestWithParam<const KernelFamily*> {};

std::vector<const KernelFamily*> families() {
  std::vector<const KernelFamily*> all;
  for (const KernelFamily& family : catalog()) all.push_back(&family);
  return all;
}

// GoogleTest takes letters, digits and underscores.
std::string test_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Counts, ::testing::ValuesIn(families()),
                         [](const auto& one) { return test_name(std::string(one.param->name)); });

struct Count {
  const char* name;
  double value;
};

std::vector<Count> counts_of(const Prediction& found) {
  const Work& w = found.work;
  std::vector<Count> counts = {{"vector FLOP", w.vector_flops},
                               {"tensor FLOP", w.tensor_flops.total()},
                               {"special", w.special_flops},
                               {"conversions", w.conversions},
                               {"shared", w.shared_bytes},
                               {"compulsory reads", w.compulsory.read_bytes},
                               {"compulsory writes", w.compulsory.write_bytes},
                               {"requested reads", w.requested.read_bytes},
                               {"requested writes", w.requested.write_bytes},
                               {"L1 reads", w.l1.read_bytes},
                               {"L1 writes", w.l1.write_bytes},
                               {"L2 reads", w.l2.read_bytes},
                               {"L2 writes", w.l2.write_bytes},
                               {"DRAM footprint", w.dram_footprint.total_bytes()},
                               {"DRAM reads", w.dram.read_bytes},
                               {"DRAM writes", w.dram.write_bytes},
                               {"IO bound", found.io.lower_bound_bytes},
                               {"limit", found.limit.time_s},
                               {"launches", static_cast<double>(found.launches)},
                               {"footprint", found.footprint_bytes.value_or(0)}};
  if (found.launch) counts.push_back({"blocks", static_cast<double>(found.launch->blocks())});
  if (found.waves) counts.push_back({"waves", found.waves->count});
  if (found.time) {
    counts.push_back({"time", found.time->expected_s});
    counts.push_back({"high", found.time->high_s});
    for (const double term_s : found.time->terms) counts.push_back({"term", term_s});
  }
  return counts;
}

TEST_P(Counts, AreNeverNegativeAndAlwaysNumbers) {
  Violations violations;
  int answered = 0;
  testing::visit_corners(*GetParam(), [&](const ScanCase& question, const Gpu& gpu) {
    const auto found = testing::ask(question, gpu);
    if (!found) return;
    ++answered;
    for (const Count& count : counts_of(*found)) {
      if (count.value >= 0 && std::isfinite(count.value)) continue;
      violations.add(std::string(question.kernel.kernel->name) + ", " + count.name, 1, [&] {
        return testing::text(question) + " --gpu " + gpu.name + ": " + std::to_string(count.value);
      });
    }
  });
  EXPECT_TRUE(answered > 0 || testing::kOneIn > 1 || GetParam()->name == "moe");
  violations.report("counts are numbers from 0 on");
}

TEST_P(Counts, NoTermExceedsTheExpectedTime) {
  constexpr double kRounding = 1e-9;
  Violations violations;
  testing::visit_corners(*GetParam(), [&](const ScanCase& question, const Gpu& gpu) {
    const auto found = testing::ask(question, gpu);
    if (!found || !found->time) return;
    for (std::size_t i = 0; i < kResources; ++i) {
      const double share = found->time->terms.at(i) / found->time->expected_s;
      if (share <= 1 + kRounding) continue;
      violations.add(std::string(question.kernel.kernel->name) + ", " +
                         std::string(name(static_cast<Resource>(i))),
                     share, [&] { return testing::text(question) + " --gpu " + gpu.name; });
    }
  });
  violations.report("no resource is busy for longer than the kernel takes");
}

// The least that DRAM moves for a sector that L2 lacks.
double granularity(const Gpu& gpu) {
  return static_cast<double>(dram_access_bytes(gpu)) / static_cast<double>(kSectorBytes);
}

// DRAM reads what L2 is asked to read and does not hold; it also reads what L2 completes: sectors
// written in part, and sums to which blocks add, which count as written to L2. DRAM writes what was
// written to L2. A sector may cost a whole access; an array's first and last ones are shared by
// none.
TEST_P(Counts, DramMovesNoMoreThanL2AsksFor) {
  constexpr double kRounding = 1e-9;
  constexpr double kEnds = 4096;  // bytes
  Violations violations;
  testing::visit_corners(*GetParam(), [&](const ScanCase& question, const Gpu& gpu) {
    for (const CacheState cache : {CacheState::cold, CacheState::steady}) {
      const auto found = testing::ask(question, gpu, cache);
      if (!found) continue;
      const Traffic& l2 = found->work.l2;
      const Traffic& dram = found->work.dram;
      const double access = granularity(gpu) * (1 + kRounding);
      const double reads = dram.read_bytes / (access * l2.total_bytes() + kEnds);
      const double writes = dram.write_bytes / (access * l2.write_bytes + kEnds);
      for (const Count& count : {Count{"reads", reads}, Count{"writes", writes}}) {
        if (count.value <= 1) continue;
        violations.add(std::string(question.kernel.kernel->name) + ", " + count.name, count.value,
                       [&] {
                         return testing::text(question) + " --gpu " + gpu.name + " --cache " +
                                std::string(name(cache));
                       });
      }
    }
  });
  violations.report("DRAM moves no more than L2 asks for");
}

struct Asked {
  const char* kernel;
  std::vector<std::pair<const char*, std::int64_t>> values;
};

ScanCase question_of(const Asked& asked) {
  ScanCase question{find_kernel(asked.kernel), {.dtype = DType::bf16}};
  const auto parameters = question.kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    question.problem[i] = parameters[i].fallback.value_or(0);
    for (const auto& [name, value] : asked.values) {
      if (parameters[i].name == name) question.problem[i] = value;
    }
  }
  return question;
}

// A tile of one query, or of few keys, asks L2 for what there is, not for a whole tile.
TEST(CountsOfMemory, DramMovesWhatATileHasOfItsArray) {
  constexpr std::int64_t kYes = 1;
  for (const char* kernel : {"attention.flash2", "attention.flash3"}) {
    const auto found = testing::ask(
        question_of(
            {kernel,
             {{"batch", 1024}, {"heads", 96}, {"kv_heads", 8}, {"seq_q", 1}, {"causal", kYes}}}),
        testing::gpu_named("h200-sxm"));
    ASSERT_TRUE(found) << kernel;
    EXPECT_LE(found->work.dram.total_bytes(), found->work.l2.total_bytes()) << kernel;
  }
}

TEST(CountsOfMemory, LaunchesBackToBackReadNoMoreThanTheyAsk) {
  const ScanCase question = question_of({"access.strided", {{"n", 159468}, {"stride", 8560}}});
  Gpu l40s = testing::gpu_named("l40s");
  for (const Gpu& gpu : {testing::gpu_named("h200-sxm"), l40s}) {
    const auto found = testing::ask(question, gpu, CacheState::steady);
    ASSERT_TRUE(found) << gpu.name;
    EXPECT_LE(found->work.dram.read_bytes, granularity(gpu) * found->work.l2.read_bytes);
  }
  const double slow_s = testing::ask(question, l40s, CacheState::steady)->time->expected_s;
  *l40s.memory.dram_bandwidth_bytes_per_s *= 2;
  EXPECT_LE(testing::ask(question, l40s, CacheState::steady)->time->expected_s, slow_s);
}

}  // namespace
}  // namespace roofcast
