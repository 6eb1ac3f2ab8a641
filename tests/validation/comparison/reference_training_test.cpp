// Training of GPT-like models against published throughput: the rows that no constant was fitted
// to.
#include <gtest/gtest.h>

#include "model/transformer/step.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_rows.hpp"
#include "tests/validation/comparison/reference_tables.hpp"

namespace roofcast::validation {
namespace {

using transformer::Architecture;
using transformer::Checkpointing;
using transformer::Task;

// MPT, as the table's source trains it: learned positions, GELU, tied weights.
Architecture model_of(const NamedRow& row) {
  Architecture model;
  model.layers = row.whole("layers");
  model.hidden = row.whole("d_model");
  model.heads = model.kv_heads = row.whole("heads");
  model.head_dim = model.hidden / model.heads;
  model.intermediate = 4 * model.hidden;
  model.vocabulary = 50368;
  model.positions = row.whole("seq_len");
  model.attention_biased = model.feed_forward_biased = model.norm_biased = model.tied = true;
  model.joined_projections = model.calls_flash = true;
  return model;
}

Task task_of(const NamedRow& row) {
  Task task;
  task.batch = row.whole("micro_batch");
  task.seq = row.whole("seq_len");
  task.grad_accum = row.whole("grad_accum");
  task.fsdp = row.whole("gpus");
  task.prefetch = transformer::Prefetch::post;  // Composer's, which ran them
  if (row["checkpointing"] == "True") task.checkpointing = Checkpointing::full;
  // 1600 Gb/s joined the machines with A100s, 3200 Gb/s those with H100s.
  if (row["gpu"].starts_with("a100")) task.network_bytes_per_s = 25e9;
  return task;
}

TEST(ReferenceTraining, RowsOfOddPosition) {
  const std::string text = reference_text("training_mpt.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  std::map<std::string, Accuracy> groups;
  for (const NamedRow& row : reference_rows(text)) {
    if (row.even() || !row["precision"].ends_with("bf16") || row["cpu_offload"] != "False")
      continue;
    const Task task = task_of(row);
    const auto step = predict_step(model_of(row), task, testing::gpu_named(row["gpu"]));
    const double tokens = task.tokens() * static_cast<double>(task.grad_accum);
    groups[row["gpu"]].add(step.expected_s, step.low_s, step.high_s,
                           tokens / row.real("tokens_per_s_per_gpu"));
  }
  ASSERT_EQ(groups.size(), 3U);
  for (const auto& [name, group] : groups) {
    group.print(name);
    EXPECT_LE(group.error(), 0.10) << name;
    EXPECT_GE(group.coverage(), 0.88) << name;
  }
}

// Parameters and MFU as the table's source counts them (llm-foundry, scripts/train/benchmarking):
// nine sizes.
TEST(ReferenceTraining, ParametersAndMfuAreThoseOfTheTable) {
  const std::string text = reference_text("training_mpt.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  std::map<std::string, int> models;
  for (const NamedRow& row : reference_rows(text)) {
    const Architecture model = model_of(row);
    EXPECT_EQ(count_parameters(model).total, row.real("parameters")) << row["model"];
    if (row["precision"] == "amp_fp8") continue;  // its MFU is of another peak
    constexpr double kA100 = 312e12, kH100 = 989.5e12;
    const double peak = row["gpu"].starts_with("a100") ? kA100 : kH100;
    const double flops = training_flops_per_token(model, row.real("seq_len"));
    const double mfu = 100 * flops * row.real("tokens_per_s_per_gpu") / peak;
    const double rounded = mfu / row.real("tokens_per_s_per_gpu");  // of a token a second
    EXPECT_NEAR(mfu, row.real("mfu_percent"), 0.0051 + rounded) << row["model"];
    ++models[row["model"]];
  }
  EXPECT_GE(models.size(), 9U);
}

}  // namespace
}  // namespace roofcast::validation
