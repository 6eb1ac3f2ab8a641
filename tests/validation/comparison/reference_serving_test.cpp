// Serving against published measurements: one constant, fitted to rows of even position of all
// models.
#include <gtest/gtest.h>

#include <functional>

#include "architectures/loader.hpp"
#include "model/transformer/serving.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/validation/comparison/reference_rows.hpp"
#include "tests/validation/comparison/reference_tables.hpp"

namespace roofcast::validation {
namespace {

std::string model_of(const NamedRow& row) {
  const std::string& name = row["model"];
  if (name.find("235B") != std::string::npos) return "qwen3-235b-a22b";
  return name.find("32B") != std::string::npos ? "qwen3-32b" : "llama-3.1-8b";
}

// Rows of the table's first GPU; those of the other one come from other collections.
bool is_asked(const NamedRow& row) {
  const bool few = row["backend"] == "vllm" && row["gemm_dtype"] == "fp8";  // two rows
  return row["gpu"] == "h100-sxm5" && !few;
}

transformer::Service service_of(const NamedRow& row) {
  transformer::Service service;
  service.dtype = row["gemm_dtype"] == "bf16" ? DType::bf16 : DType::fp8;
  service.input = row.whole("input_tokens");
  service.output = row.whole("output_tokens");
  service.concurrency = row.whole("concurrency");
  service.tp = row.whole("tp");
  service.ep = std::max<std::int64_t>(1, row.whole("ep"));
  // SGLang's requests begin and end together: their first tokens wait for half of the prompts.
  if (row["backend"] == "sglang") service.prompts = transformer::Prompts::together;
  return service;
}

struct Served {
  std::string model, group;
  transformer::Serving answer;
  double concurrency = 0, measured_s = 0;
  bool even = false;
};

std::vector<Served> served(const std::string& text) {
  std::map<std::string, transformer::KernelForecasts> forecasts;
  std::vector<Served> all;
  for (const NamedRow& row : reference_rows(text)) {
    if (!is_asked(row)) continue;
    const Gpu& gpu = testing::gpu_named(row["gpu"]);
    const std::string model = model_of(row);
    const auto answer =
        predict_serving(architectures::load(model, architectures::find_embedded(model)->text),
                        service_of(row), forecasts.try_emplace(row["gpu"], gpu).first->second);
    all.push_back({model, model + ' ' + row["backend"] + ' ' + row["gemm_dtype"], answer,
                   row.real("concurrency"), row.real("tpot_ms") * 1e-3, row.even()});
  }
  return all;
}

TEST(ReferenceServing, RowsOfOddPosition) {
  const std::string text = reference_text("serving.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  std::map<std::string, Accuracy> groups;
  for (const Served& row : served(text)) {
    if (row.even) continue;
    groups[row.group].add(row.answer.between_tokens.expected_s, row.answer.between_tokens.low_s,
                          row.answer.between_tokens.high_s, row.measured_s);
  }
  ASSERT_EQ(groups.size(), 5U);
  for (const auto& [name, group] : groups) {
    const bool experts = name.starts_with("qwen3-235b");
    group.print(name);
    EXPECT_LE(group.error(), experts ? 0.12 : 0.10) << name;
    EXPECT_GE(group.coverage(), 0.88) << name;
  }
}

double error(const std::vector<Served>& rows, double request_s,
             const std::function<bool(const Served&)>& keep) {
  Accuracy kept;
  for (const Served& row : rows) {
    const double kernels_s = row.answer.between_tokens.expected_s - row.answer.software_s;
    if (keep(row)) kept.add(kernels_s + request_s * row.concurrency, 0, 0, row.measured_s);
  }
  return kept.error();
}

// A model kept out: the software's time is fitted to the even rows of the two other models.
TEST(ReferenceServing, AModelKeptOut) {
  const std::string text = reference_text("serving.csv");
  if (text.empty()) GTEST_SKIP() << "no reference tables here";
  const std::vector<Served> rows = served(text);
  for (const char* model : {"llama-3.1-8b", "qwen3-32b", "qwen3-235b-a22b"}) {
    const auto is_other = [model](const Served& row) { return row.even && row.model != model; };
    double best_s = 0;
    for (double s = 1e-6; s < 100e-6; s += 1e-6) {
      if (error(rows, s, is_other) < error(rows, best_s, is_other)) best_s = s;
    }
    const double kept_out =
        error(rows, best_s, [model](const Served& row) { return row.model == model; });
    std::printf("%s kept out: %.1f%%\n", model, 100 * kept_out);
    EXPECT_LE(kept_out, 0.12) << model;
  }
}

}  // namespace
}  // namespace roofcast::validation
