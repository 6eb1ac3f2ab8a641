// Products and training passes in long runs (validation/long_runs.py). heating_seconds was measured
// on the H200's products; nothing was fitted to the H100's products or to any pass.
#include <gtest/gtest.h>

#include "model/roofcast.hpp"
#include "model/transformer/step.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/model/transformer/llama.hpp"
#include "tests/validation/comparison/measured_rows.hpp"
#include "tests/validation/comparison/reference_tables.hpp"

namespace roofcast::validation {
namespace {

Prediction product_of(const NamedRow& row, double worked_s) {
  const KernelRef kernel = find_kernel("gemm.library");
  Assumptions assumptions;
  assumptions.cache = CacheState::repeated;
  assumptions.worked_s = worked_s;
  return predict(kernel, problem_of(kernel, row), testing::gpu_named(row["device"]), assumptions);
}

struct Run {
  const char* file;
  std::size_t products;
};
class LongRuns : public ::testing::TestWithParam<Run> {};

TEST_P(LongRuns, OfProductsAreSlowerThanShortOnes) {
  Accuracy early, late;
  for (NamedRow row : measured_rows(GetParam().file)) {
    if (row["what"] != "product") continue;
    row.fields["dtype"] = "bf16";
    row.fields["layout"] = "nt";
    const auto add = [&](Accuracy& to, const char* column, double worked_s) {
      const Forecast time = *product_of(row, worked_s).time;
      to.add(time.expected_s, time.low_s, time.high_s, row.real(column) * 1e-6);
    };
    if (row.real("early_us") < 40) continue;  // little but launches
    add(early, "early_us", 0);
    add(late, "late_us", 1);
  }
  early.print("products, first 20 ms");
  late.print("products, after 0.7 s");
  EXPECT_EQ(late.rows(), GetParam().products);
  EXPECT_LE(early.error(), 0.06);
  EXPECT_LE(late.error(), 0.09);
}
INSTANTIATE_TEST_SUITE_P(Gpus, LongRuns,
                         ::testing::Values(Run{"h200-sxm-long-runs-2026-11-27.csv", 5},
                                           Run{"h100-sxm5-long-runs-2026-11-27.csv", 15}),
                         [](const auto& run) { return std::string(run.param.file).substr(0, 4); });

// Compiled passes whose gradients add up, on one GPU and in four stages; without the optimizer.
TEST(TrainingPasses, AreForecastOnOneGpuAndInStages) {
  Accuracy all;
  for (const NamedRow& row : measured_rows("training-passes-2026-11-27.csv")) {
    transformer::Architecture model =
        testing::llama_like(row.whole("layers"), row.whole("hidden"), row.whole("intermediate"),
                            row.whole("vocabulary"));
    model.heads = row.whole("heads");
    model.kv_heads = row.whole("kv_heads");
    model.head_dim = model.hidden / model.heads;
    transformer::Task task;
    task.framework = transformer::Framework::compiled;
    task.batch = row.whole("batch");
    task.seq = row.whole("seq");
    task.grad_accum = row.whole("passes");
    task.pp = row.whole("pp");
    transformer::Step step = predict_step(model, task, testing::gpu_named(row["device"]));
    for (const transformer::StepPart& part : step.parts) {
      if (part.name == "optimizer") step.add(-1, part);
    }
    const double measured_s = row.real("pass_ms") * 1e-3 * row.real("passes");
    all.add(step.expected_s, step.low_s, step.high_s, measured_s);
    EXPECT_NEAR(step.expected_s / measured_s, 1, 0.1) << row["device"] << ' ' << task.pp;
  }
  all.print("training passes");
  EXPECT_EQ(all.rows(), 17);
  EXPECT_LE(all.error(), 0.05);
}

}  // namespace
}  // namespace roofcast::validation
