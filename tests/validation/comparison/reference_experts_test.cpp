// Experts against published measurements: the rows that no constant was fitted to.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "model/roofcast.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_tables.hpp"

namespace roofcast::validation {
namespace {

constexpr std::array<const char*, 3> kGpus = {"a100-sxm4-80gb", "h100-sxm5",
                                              "h200-sxm"};  // ascending

struct Row {
  std::size_t gpu = 0;
  std::string type;
  std::int64_t tokens = 0, hidden = 0, inner = 0, per_token = 0, experts = 0, ep = 0;
  std::string routing;
  double time_s = 0;
  bool even = false;
};

std::vector<Row> rows_of(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::vector<std::string> words;
    for (std::string word; std::getline(fields, word, ',');) words.push_back(word);
    Row row;
    while (words[0] != kGpus.at(row.gpu)) ++row.gpu;
    row.type = words[1];
    row.tokens = std::stoll(words[2]);
    row.hidden = std::stoll(words[3]);
    row.inner = std::stoll(words[4]) / std::stoll(words[7]);
    row.per_token = std::stoll(words[5]);
    row.experts = std::stoll(words[6]);
    row.ep = std::stoll(words[8]);
    row.routing = words[9];
    row.time_s = std::stod(words[10]) * 1e-6;
    row.even = rows.size() % 2 == 0;
    rows.push_back(row);
  }
  return rows;
}

bool does_no_less(const Row& more, const Row& row) {
  return more.tokens >= row.tokens && more.hidden >= row.hidden && more.inner >= row.inner &&
         more.per_token >= row.per_token && more.experts * row.ep >= row.experts * more.ep &&
         more.tokens * more.per_token * row.ep >= row.tokens * row.per_token * more.ep;
}

// Into how many runs of `part` the work of `row` divides, one after the other; 0 where they differ
// in more than tokens and inner size.
double pieces(const Row& row, const Row& part) {
  const bool same = part.hidden == row.hidden && part.per_token == row.per_token &&
                    part.experts == row.experts && part.ep == row.ep;
  const auto times = [](std::int64_t all, std::int64_t one) {
    return static_cast<double>((all + one - 1) / one);
  };
  return same ? times(row.tokens, part.tokens) * times(row.inner, part.inner) : 0;
}

// By what factor `row`'s GPU may be slower than `other`'s: 1 if it is the same or a faster one, the
// ratio of DRAM bandwidths for an H100 against an H200, 0 (unknown) for an A100 otherwise.
double slower(const Row& row, const Row& other) {
  constexpr double kDramRatio = 4.8 / 3.35;
  if (other.gpu <= row.gpu) return 1;
  return row.gpu == 1 && other.gpu == 2 ? kDramRatio : 0;
}

// A wrong measurement takes over 1.5 times as long as another row of at least as much work, no
// narrower elements and the same routing, or as runs of that row that add up to its work.
bool is_wrong(const Row& row, const std::vector<Row>& rows) {
  constexpr double kHalfAgain = 1.5;
  return std::any_of(rows.begin(), rows.end(), [&row](const Row& other) {
    const double allowed = kHalfAgain * slower(row, other) * other.time_s;
    if (allowed <= 0 || allowed >= row.time_s || other.routing != row.routing) return false;
    if (other.type != row.type && other.type != "bf16") return false;
    if (does_no_less(other, row)) return true;
    const double times = pieces(row, other);
    return times > 0 && times * allowed < row.time_s;
  });
}

Problem problem_of(const Row& row) {
  Problem problem{
      .dtype = row.type == "fp8" ? DType::fp8 : DType::bf16,
      .values = {row.tokens, row.hidden, row.inner, row.experts, row.per_token, row.ep}};
  problem[6] = row.routing == "balanced" ? 0 : row.routing == "power_law_1.01" ? 1 : 2;
  return problem;
}

struct Group {
  double sum = 0, rows = 0, inside = 0;
  void add(const Prediction& answer, double measured_s) {
    sum += std::abs(answer.time->expected_s / measured_s - 1);
    inside += measured_s >= answer.time->low_s && measured_s <= answer.time->high_s ? 1 : 0;
    ++rows;
  }
};

TEST(ReferenceExperts, RowsOfOddPosition) {
  const std::string text = reference_text("moe_fused.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  const std::vector<Row> rows = rows_of(text);
  const KernelRef kernel = find_kernel("moe.library");
  std::map<std::string, Group> groups;
  for (const Row& row : rows) {
    if (row.even || is_wrong(row, rows)) continue;
    const char* gpu = kGpus.at(row.gpu);
    Assumptions warm;
    warm.cache = CacheState::warm;
    groups[std::string(gpu) + ' ' + row.type].add(
        predict(kernel, problem_of(row), testing::gpu_named(gpu), warm), row.time_s);
  }
  ASSERT_EQ(groups.size(), 5U);
  for (const auto& [name, group] : groups) {
    std::printf("%-22s %4.0f rows: mean error %4.1f%%, %3.0f%% in the interval\n", name.c_str(),
                group.rows, 100 * group.sum / group.rows, 100 * group.inside / group.rows);
    const bool narrow = name.ends_with("fp8");
    EXPECT_LE(group.sum / group.rows, narrow ? 0.13 : 0.135) << name;
    EXPECT_GE(group.inside / group.rows, 0.88) << name;
  }
}

// The GPU without its own overlay: the constants are a relative's, scaled by the datasheets.
Gpu of_relative(const char* name, const char* relative) {
  const specs::Embedded* found = specs::find_embedded(name);
  specs::Source source;
  source.file = name;
  source.text = found->text;
  source.relative = relative;
  return specs::load(source);
}

TEST(ReferenceExperts, AGpuByTheConstantsOfAnother) {
  const std::string text = reference_text("moe_fused.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  const std::vector<Row> rows = rows_of(text);
  const KernelRef kernel = find_kernel("moe.library");
  const std::array gpus = {of_relative("a100-sxm4-80gb", "h100-sxm5"),
                           of_relative("h100-sxm5", "h200-sxm"),
                           of_relative("h200-sxm", "h100-sxm5")};
  std::map<std::string, Group> groups;
  for (const Row& row : rows) {
    if (row.even || is_wrong(row, rows)) continue;
    Assumptions warm;
    warm.cache = CacheState::warm;
    groups[gpus.at(row.gpu).name + ' ' + row.type].add(
        predict(kernel, problem_of(row), gpus.at(row.gpu), warm), row.time_s);
  }
  ASSERT_EQ(groups.size(), 5U);
  for (const auto& [name, group] : groups) {
    std::printf("%-22s %4.0f rows by a relative: mean error %4.1f%%\n", name.c_str(), group.rows,
                100 * group.sum / group.rows);
    EXPECT_LE(group.sum / group.rows, 0.18) << name;
  }
}

}  // namespace
}  // namespace roofcast::validation
