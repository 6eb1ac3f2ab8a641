// Rules for every forecast: all kernels on all devices over a set of sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string_view>

#include "tests/model/scan/corners.hpp"
#include "tests/model/scan/exceptions.hpp"
#include "tests/model/scan/improvements.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/model/scan/violations.hpp"

namespace roofcast {
namespace {

using testing::both_shorter_than_a_launch;
using testing::gpus;
using testing::gpus_for;
using testing::improved;
using testing::Improvement;
using testing::is_asked;
using testing::is_known;
using testing::kImprovements;
using testing::kOneIn;
using testing::ScanCase;
using testing::value_at;
using testing::Violations;

constexpr double kLargestProblem = 1LL << 33;  // elements

bool too_large(const Problem& problem, const std::vector<std::size_t>& extents) {
  double size = 1;
  for (const std::size_t i : extents) size *= static_cast<double>(problem[i]);
  return extents.size() < 3 && size > kLargestProblem;
}

// The sizes of the extents that stay the same while another one grows.
const std::vector<std::int64_t>& fixed_sizes(std::size_t extents) {
  static const std::vector<std::int64_t> of_two = {1, 32, 1000, 4096, 65536};
  static const std::vector<std::int64_t> of_three = {16, 1024, 8192};
  return extents > 2 ? of_three : of_two;
}

// Calls `visit` with a template whose extents other than `grown` are set, for every combination.
void with_others_fixed(const ScanCase& base, const std::vector<std::size_t>& extents,
                       std::size_t grown, const std::function<void(const ScanCase&)>& visit,
                       std::size_t from = 0) {
  if (from == extents.size()) {
    visit(base);
    return;
  }
  if (extents[from] == grown) {
    with_others_fixed(base, extents, grown, visit, from + 1);
    return;
  }
  ScanCase question = base;
  for (const std::int64_t size : fixed_sizes(extents.size())) {
    if (size > base.kernel.parameters()[extents[from]].maximum) continue;
    question.problem[extents[from]] = size;
    with_others_fixed(question, extents, grown, visit, from + 1);
  }
}

/// One test for each family of kernels.
class Scan : public ::testing::TestWithParam<const KernelFamily*> {
 protected:
  static std::vector<KernelRef> variants() {
    std::vector<KernelRef> found;
    for (const KernelModel& kernel : GetParam()->variants) found.push_back({GetParam(), &kernel});
    return found;
  }
};

std::vector<const KernelFamily*> families() {
  std::vector<const KernelFamily*> all;
  for (const KernelFamily& family : catalog()) all.push_back(&family);
  return all;
}

/// GoogleTest takes letters, digits and underscores.
std::string test_name(std::string_view name) {
  std::string text(name);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Scan, ::testing::ValuesIn(families()),
                         [](const auto& one) { return test_name(one.param->name); });

TEST_P(Scan, LimitLowExpectedAndHighComeInThisOrder) {
  Violations violations;
  std::size_t questions = 0, asked = 0;
  for (const KernelRef& kernel : variants()) {
    const auto extents = testing::extents(kernel);
    for (const ScanCase& base : testing::templates(kernel)) {
      const auto visit = [&](ScanCase question) {
        for (const std::int64_t size :
             testing::ladder(kernel.parameters()[extents[0]].maximum, 1)) {
          question.problem[extents[0]] = size + size / 7;
          if (question.problem[extents[0]] > kernel.parameters()[extents[0]].maximum ||
              too_large(question.problem, extents)) {
            continue;
          }
          if (!testing::is_drawn(*GetParam(), testing::text(question), 1)) continue;
          for (const Gpu& gpu : gpus_for(questions++)) {
            for (const CacheState cache : {CacheState::cold, CacheState::steady}) {
              const auto found = testing::ask(question, gpu, cache);
              if (!found) continue;
              ++asked;
              const double limit = found->limit.time_s;
              Forecast time;
              time.expected_s = time.low_s = time.high_s = limit;
              time = found->time.value_or(time);
              const bool no_work = found->work.compulsory.total_bytes() + found->work.flops() == 0;
              const bool ordered = (no_work ? limit >= 0 : limit > 0) && limit <= time.low_s &&
                                   time.low_s <= time.expected_s &&
                                   time.expected_s <= time.high_s && std::isfinite(time.high_s);
              if (ordered) continue;
              violations.add(std::string(kernel.kernel->name), 1, [&] {
                return testing::text(question) + " --gpu " + gpu.name + ": limit " +
                       std::to_string(limit * 1e6) + " µs, low " +
                       std::to_string(time.low_s * 1e6) + ", expected " +
                       std::to_string(time.expected_s * 1e6) + ", high " +
                       std::to_string(time.high_s * 1e6);
              });
            }
          }
        }
      };
      with_others_fixed(base, extents, extents[0], visit);
    }
  }
  EXPECT_GT(asked, questions / kOneIn);
  violations.report("0 < limit <= low <= expected <= high");
}

// A size that fills a tile or a vector may save a little; no more than this.
constexpr double kFasterAtMost = 0.02;

class Growth {
 public:
  // `sizes` of the parameter `grown` in rising order.
  void follow(ScanCase question, std::size_t grown, const std::vector<std::int64_t>& sizes,
              const std::vector<std::size_t>& extents) {
    struct Slowest {
      double time_s = 0;
      std::int64_t size = 0;
    };
    const std::string parameter(question.kernel.parameters()[grown].name);
    for (const Gpu& gpu : gpus_for(questions_++)) {
      Slowest slowest;
      for (const std::int64_t size : sizes) {
        question.problem[grown] = size;
        if (too_large(question.problem, extents)) break;
        const auto found = testing::ask(question, gpu);
        if (!found || !found->time) continue;
        ++asked_;
        const double time_s = found->time->expected_s;
        const double ratio = slowest.time_s / time_s;
        if (time_s < slowest.time_s * (1 - kFasterAtMost) &&
            !both_shorter_than_a_launch(time_s, slowest.time_s) &&
            !is_known(question.kernel.kernel->name, parameter, ratio)) {
          violations_.add(std::string(question.kernel.kernel->name) + " " + parameter, ratio, [&] {
            return testing::text(question) + " --gpu " + gpu.name + ": " +
                   std::to_string(time_s * 1e6) + " µs, with " + parameter + " " +
                   std::to_string(slowest.size) + " " + std::to_string(slowest.time_s * 1e6) +
                   " µs";
          });
        }
        if (time_s > slowest.time_s) slowest = {time_s, size};
      }
    }
  }
  void report() const {
    EXPECT_GT(asked_, questions_ / kOneIn);
    violations_.report("more work is never more than 2% faster");
  }

 private:
  Violations violations_;
  std::size_t questions_ = 0, asked_ = 0;
};

TEST_P(Scan, MoreWorkIsNeverFaster) {
  Growth growth;
  for (const KernelRef& kernel : variants()) {
    const auto parameters = kernel.parameters();
    const auto extents = testing::extents(kernel);
    for (const ScanCase& base : testing::templates(kernel)) {
      for (std::size_t grown = 0; grown < parameters.size(); ++grown) {
        const Parameter& parameter = parameters[grown];
        if (!testing::is_extent(parameter) && !testing::is_depth(parameter)) continue;
        std::vector<std::int64_t> sizes =
            testing::ladder(parameter.maximum, extents.size() > 2 ? 2 : 4);
        if (testing::is_depth(parameter)) {
          sizes = testing::ladder(std::min<std::int64_t>(parameter.maximum, 4096), 1);
        }
        std::erase_if(sizes, [&](std::int64_t size) { return size < parameter.minimum; });
        // Rows shorter than an access of 16 bytes are ragged, and slower for it.
        if (parameter.name != "n" && extents.size() == 2) {
          std::erase_if(sizes, [](std::int64_t size) { return size > 1 && size < 8; });
        }
        // Pixels that are no multiple of 16 bytes are copied before a convolution.
        if (parameter.name == "channels" || parameter.name == "filters") {
          std::erase_if(sizes, [](std::int64_t size) { return size % 8 != 0; });
        }
        // A transpose writes rows as long as x has rows.
        const bool of_rows =
            parameter.name == "cols" || kernel.kernel->name.starts_with("transpose");
        if (of_rows) std::erase(sizes, 1);
        with_others_fixed(base, extents, grown, [&](const ScanCase& question) {
          if (!testing::is_drawn(*GetParam(), testing::text(question), 1)) return;
          growth.follow(question, grown, sizes, extents);
        });
      }
    }
  }
  growth.report();
}

// A dozen sizes of each kernel, small to large.
std::vector<ScanCase> sample() {
  std::vector<ScanCase> questions;
  for (const KernelRef& kernel : testing::all_variants()) {
    const auto extents = testing::extents(kernel);
    for (const ScanCase& base : testing::templates(kernel)) {
      const auto visit = [&](ScanCase question) {
        for (const std::int64_t size :
             extents.size() == 1
                 ? std::vector<std::int64_t>{1, 1000, 40000, 1 << 20, 1 << 24, 1 << 28}
                 : std::vector<std::int64_t>{1, 100, 3000, 16384, 200000}) {
          question.problem[extents[0]] = size;
          if (size > kernel.parameters()[extents[0]].maximum) continue;
          if (too_large(question.problem, extents)) continue;
          if (testing::is_drawn(*kernel.family, testing::text(question), 1)) {
            questions.push_back(question);
          }
        }
      };
      with_others_fixed(base, extents, extents[0], visit);
    }
  }
  return questions;
}

class ScanOfGpu : public ::testing::TestWithParam<std::size_t> {};

INSTANTIATE_TEST_SUITE_P(Gpus, ScanOfGpu,
                         ::testing::Range<std::size_t>(0, specs::embedded().size()),
                         [](const auto& one) {
                           return test_name(specs::embedded()[one.param].name);
                         });

TEST_P(ScanOfGpu, ABetterDeviceIsNeverSlower) {
  constexpr double kRounding = 1e-9;
  // The L1 of each further SM fetches its own copy of what all of them read.
  constexpr double kOwnCopies = 0.02;
  const specs::Embedded& one = specs::embedded()[GetParam()];
  const Gpu gpu = testing::shipped_gpu(one);
  std::vector<ScanCase> questions;
  std::vector<double> before;
  std::size_t number = 0;
  for (const ScanCase& question : sample()) {
    if (!is_asked(number++, GetParam())) continue;
    const auto found = testing::ask(question, gpu);
    if (!found || !found->time) continue;
    questions.push_back(question);
    before.push_back(found->time->expected_s);
  }
  Violations violations;
  std::map<std::string, int> helped;  // by what changed: how many forecasts
  const auto compare = [&](const std::string& change, const Gpu& better, double allowed) {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const auto after = testing::ask(questions[i], better);
      if (!after || !after->time) continue;
      const double time_s = after->time->expected_s;
      if (time_s != before[i]) ++helped[change];
      if (time_s <= before[i] * (1 + allowed)) continue;
      if (both_shorter_than_a_launch(time_s, before[i])) continue;
      if (is_known(questions[i].kernel.kernel->name, change, time_s / before[i])) continue;
      violations.add(change + ", " + std::string(questions[i].kernel.kernel->name),
                     time_s / before[i], [&] {
                       return testing::text(questions[i]) + " --gpu " + gpu.name + ": " +
                              std::to_string(before[i] * 1e6) + " µs becomes " +
                              std::to_string(time_s * 1e6) + " µs";
                     });
    }
  };
  for (const Improvement& change : kImprovements) {
    if (const auto better = improved(one, {change})) compare(change.key, *better, kRounding);
  }
  const auto faster = improved(
      one,
      {{"clocks/vector_boost_hz", 1.1}, {"clocks/tensor_boost_hz", 1.1}, {"clocks/max_hz", 1.1}});
  if (faster) compare("clocks", *faster, kRounding);
  // More SMs come with a larger L2: more resident blocks would evict more from the same L2.
  const auto larger = improved(one, {{"chip/sm_count", 1.1}, {"memory/l2_bytes", 1.1}});
  if (larger) compare("chip/sm_count", *larger, kOwnCopies);
  violations.report("a better device is never slower");
  // A value that is set must change some forecast, on a calibrated device too.
  if (before.empty()) return;
  for (const char* key : {"latency/dram_cycles", "latency/l2_cycles", "latency/fma_cycles",
                          "chip/sm_count", "memory/dram_bandwidth_bytes_per_s", "clocks"}) {
    if (value_at(one, "/" + std::string(key)) || std::string_view(key) == "clocks") {
      EXPECT_GT(helped[key], 0) << key << " changes no forecast";
    }
  }
}

// The H200 is the H100 with more and faster memory.
TEST(ScanOfPairs, TheH200IsNeverSlowerThanTheH100) {
  const auto named = [](std::string_view name) -> const Gpu& {
    return *std::find_if(gpus().begin(), gpus().end(),
                         [name](const Gpu& gpu) { return gpu.name == name; });
  };
  const Gpu& h200 = named("h200-sxm");
  const Gpu& h100 = named("h100-sxm5");
  Violations violations;
  int asked = 0;
  const double clocks = *h100.clocks.max_hz / *h200.clocks.max_hz;
  for (const ScanCase& question : sample()) {
    for (const CacheState cache : {CacheState::cold, CacheState::steady}) {
      const auto newer = testing::ask(question, h200, cache);
      if (!newer) continue;
      const auto older = testing::ask({question.kernel, newer->problem}, h100, cache);  // as there
      if (!older || !newer->time || !older->time) continue;
      ++asked;
      // Limits rest on the datasheets of both: they must not be longer at all.
      EXPECT_LE(newer->limit.time_s, older->limit.time_s * clocks * (1 + 1e-9))
          << testing::text(question);
      const double newer_s = newer->time->expected_s, older_s = older->time->expected_s;
      if (newer_s <= 1.01 * older_s) continue;
      violations.add(std::string(question.kernel.kernel->name), newer_s / older_s, [&] {
        return testing::text(question) + ": " + std::to_string(older_s * 1e6) +
               " µs on the H100, " + std::to_string(newer_s * 1e6) + " on the H200";
      });
    }
  }
  EXPECT_GT(asked, 1000);
  violations.report("an H200 is never slower than an H100 by more than 1%");
}

TEST_P(ScanOfGpu, AnEmptyKernelTakesTimeAndANoteNamesTheRelative) {
  const Gpu gpu = testing::shipped_gpu(specs::embedded()[GetParam()]);
  if (!gpu.occupancy || !gpu.sm_count) GTEST_SKIP() << gpu.name << " has no expected times";
  const ScanCase null{find_kernel("stream.null"),
                      {.dtype = DType::fp32, .values = {1, 256, 16, 4}}};
  for (const CacheState cache : {CacheState::cold, CacheState::steady}) {
    const auto found = testing::ask(null, gpu, cache);
    ASSERT_TRUE(found && found->time);
    EXPECT_GT(found->time->low_s, 0);
    EXPECT_LT(found->time->high_s, 20e-6);
    bool named = gpu.sustained.relative.empty();
    for (const std::string& note : found->notes) {
      named = named || note.find(gpu.sustained.relative) != std::string::npos;
    }
    EXPECT_TRUE(named) << "no note names " << gpu.sustained.relative;
  }
}

}  // namespace
}  // namespace roofcast
