// Whole steps in fp32 against published measurements. No software constant: nothing was fitted to
// any row.
#include <gtest/gtest.h>

#include <optional>

#include "architectures/loader.hpp"
#include "model/transformer/step.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_rows.hpp"
#include "tests/validation/comparison/reference_tables.hpp"

namespace roofcast::validation {
namespace {

using transformer::Architecture;
using transformer::Framework;
using transformer::Phase;
using transformer::Task;

Architecture gpt(std::int64_t hidden, std::int64_t heads, std::int64_t layers) {
  return architectures::load(
      "gpt3", "{\"model_type\":\"gpt2\",\"n_layer\":" + std::to_string(layers) +
                  ",\"n_embd\":" + std::to_string(hidden) + ",\"n_head\":" + std::to_string(heads) +
                  ",\"n_positions\":2048,\"vocab_size\":50257}");
}

// Shipped ones, and the two that the table's README describes; not those with experts in fp32.
std::optional<Architecture> model_of(const std::string& name) {
  const std::map<std::string, const char*> shipped = {
      {"bert_large", "bert-large"}, {"gpt2_large", "gpt2-large"}, {"opt_13", "opt-1.3b"}};
  if (const auto found = shipped.find(name); found != shipped.end()) {
    return architectures::load(found->second, architectures::find_embedded(found->second)->text);
  }
  if (name == "gpt3_xl") return gpt(3072, 24, 24);
  if (name == "gpt3_27") return gpt(2560, 32, 32);
  return std::nullopt;
}

Task task_of(const NamedRow& row) {
  Task task;
  task.dtype = DType::fp32;
  task.phase = row["mode"] == "train" ? Phase::train : Phase::prefill;
  task.dropout = task.phase == Phase::train;       // 0.1 in their configurations
  task.all_logits = task.phase == Phase::prefill;  // a forward pass has them all
  task.framework = row["variant"] == "fusion" ? Framework::compiled : Framework::eager;
  task.seq = row.whole("seq_len");
  task.batch = row.whole("batch");
  if (row["variant"] == "tp4") task.tp = 4;
  if (row["variant"] == "dp4") {  // the batch is that of all
    task.dp = 4;
    task.batch /= task.dp;
  }
  return task;
}

transformer::Step step_of(const NamedRow& row) {
  return predict_step(*model_of(row["model"]), task_of(row), testing::gpu_named(row["gpu"]));
}

double measured_s(const NamedRow& row) {
  return row.real("time_ms") * 1e-3;
}

// A GPU older than any that was measured is not asked.
bool is_asked(const NamedRow& row) {
  return model_of(row["model"]) && row["gpu"] != "p100";
}

TEST(ReferenceSteps, Fp32OnOneGpu) {
  const std::string text = reference_text("steps_fp32.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  std::map<std::string, Accuracy> groups;
  for (const NamedRow& row : reference_rows(text)) {
    if (!is_asked(row) || (row["variant"] != "none" && row["variant"] != "fusion")) continue;
    const auto step = step_of(row);
    for (const char* group : {row.even() ? "even" : "odd", "all"}) {
      groups[group].add(step.expected_s, step.low_s, step.high_s, measured_s(row));
    }
  }
  for (const auto& [name, group] : groups) group.print(name);
  ASSERT_GE(groups["odd"].rows(), 9);
  EXPECT_LE(groups["odd"].error(), 0.08);
  EXPECT_LE(groups["all"].error(), 0.08);
  EXPECT_GE(groups["all"].coverage(), 0.88);
}

TEST(ReferenceSteps, Fp32OnFourGpus) {
  const std::string text = reference_text("steps_fp32.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  int rows = 0;
  for (const NamedRow& row : reference_rows(text)) {
    if (!is_asked(row) || (row["variant"] != "tp4" && row["variant"] != "dp4")) continue;
    const auto step = step_of(row);
    const double error = step.expected_s / measured_s(row) - 1;
    std::printf("%s %s %+.1f%%\n", row["model"].c_str(), row["variant"].c_str(), 100 * error);
    EXPECT_LE(std::abs(error), 0.12) << row["variant"];
    ++rows;
  }
  EXPECT_EQ(rows, 2);
}

}  // namespace
}  // namespace roofcast::validation
