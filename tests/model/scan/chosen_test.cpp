// Settings left to choose are those of the least expected time: no value that could be given is
// faster.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include "tests/model/scan/draw.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/model/scan/violations.hpp"

namespace roofcast {
namespace {

using testing::ScanCase;
using testing::Violations;

// Row shapes, from one row to many and from short rows to long, of any remainder.
ScanCase drawn_rows(const KernelRef& kernel, int number) {
  constexpr double kMostRows = 17, kMostColumns = 18;  // powers of two
  const auto drawn = [&](std::string_view what, double most) {
    const std::uint64_t hash = testing::stable_hash(std::string(kernel.kernel->name) +
                                                    std::string(what) + std::to_string(number));
    return static_cast<std::int64_t>(std::exp2(most * static_cast<double>(hash >> 11U) * 0x1p-53));
  };
  const auto types = kernel.dtypes();
  ScanCase question{kernel, {.dtype = types[static_cast<std::size_t>(number) % types.size()]}};
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    question.problem[i] = parameters[i].fallback.value_or(1);
  }
  question.problem[0] = drawn("rows", kMostRows);
  question.problem[1] = drawn("cols", kMostColumns);
  return question;
}

// Whether half as many accesses a lane hold the row already: some lanes would always be idle.
bool is_idle(const Parameter& parameter, std::int64_t value, const Problem& problem) {
  constexpr std::int64_t kWarpBytes = 32 * 16;
  const auto row_bytes =
      static_cast<std::int64_t>(static_cast<double>(problem[1]) * size_bytes(problem.dtype));
  return parameter.name == "vectors" && value / 2 * kWarpBytes >= row_bytes;
}

std::vector<std::int64_t> values_to_give(const Parameter& parameter) {
  std::vector<std::int64_t> values;
  if (is_named(parameter)) {
    for (std::int64_t i = 1; i <= parameter.maximum; ++i) values.push_back(i);
    return values;
  }
  constexpr std::int64_t kMost = 16;  // the largest value that an open setting is chosen from
  for (std::int64_t value = 1; value <= std::min(parameter.maximum, kMost); value *= 2) {
    values.push_back(value);
  }
  return values;
}

// Whether the setting is chosen by the model where none is given.
bool is_open(const Parameter& parameter) {
  return parameter.configures && parameter.fallback == kToChoose && parameter.minimum == kToChoose;
}

void expect_none_faster(const ScanCase& open, const Gpu& gpu, Violations& violations) {
  constexpr double kTie = 1e-2;
  const auto chosen = testing::ask(open, gpu);
  if (!chosen) return;
  const auto parameters = open.kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!is_open(parameters[i])) continue;
    for (const std::int64_t value : values_to_give(parameters[i])) {
      if (is_idle(parameters[i], value, open.problem)) continue;
      ScanCase given = open;
      given.problem[i] = value;
      const auto other = testing::ask(given, gpu);
      if (!other) continue;
      const double times = chosen->time->expected_s / other->time->expected_s;
      if (times <= 1 + kTie) continue;
      violations.add(std::string(open.kernel.kernel->name) + ", " + std::string(parameters[i].name),
                     times, [&] { return testing::text(given) + " --gpu " + gpu.name; });
    }
  }
}

class Chosen : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Rows, Chosen, ::testing::Values("softmax", "norm"));

TEST_P(Chosen, NoValueGivenIsFaster) {
  constexpr int kShapes = 200;
  Violations violations;
  for (const KernelModel& kernel : find_kernel(GetParam()).family->variants) {
    if (kernel.candidates == nullptr) continue;
    const KernelRef found = find_kernel(kernel.name);
    for (int number = 0; number < kShapes; number += static_cast<int>(testing::kOneIn)) {
      const ScanCase question = drawn_rows(found, number);
      expect_none_faster(question, testing::gpu_named("h200-sxm"), violations);
      expect_none_faster(question, testing::gpu_named("a100-sxm4-80gb"), violations);
    }
  }
  violations.report("a value that could be given is faster than those chosen");
}

// The kernel's defaults, with these values by the names of parameters.
ScanCase with_values(std::string_view kernel, DType type,
                     const std::map<std::string_view, std::int64_t>& values) {
  ScanCase question{find_kernel(kernel), {.dtype = type}};
  const auto parameters = question.kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto given = values.find(parameters[i].name);
    question.problem[i] =
        given != values.end() ? given->second : parameters[i].fallback.value_or(0);
  }
  return question;
}

TEST(ChosenSettings, FewBlocksTakeAllTheSplitsThatHelp) {
  Violations violations;
  const Gpu& gpu = testing::gpu_named("h200-sxm");
  expect_none_faster(with_values("norm.rmsnorm", DType::fp32, {{"rows", 512}, {"cols", 61038}}),
                     gpu, violations);
  expect_none_faster(
      with_values("gemm.skinny", DType::bf16,
                  {{"m", 64}, {"n", 16}, {"k", 1539}, {"transposed_b", 1}, {"batch", 1}}),
      gpu, violations);
  expect_none_faster(with_values("attention.decode", DType::fp16,
                                 {{"batch", 1}, {"heads", 1}, {"seq_q", 2}, {"seq_kv", 5919}}),
                     gpu, violations);
  violations.report("a value that could be given is faster than those chosen");
}

}  // namespace
}  // namespace roofcast
