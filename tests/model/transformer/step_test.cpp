// Steps of whole models: how often kernels are forecast, and what a step with prompts in its batch
// does.
#include "model/transformer/step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "model/transformer/serving.hpp"
#include "tests/model/scan/questions.hpp"
#include "tests/model/transformer/llama.hpp"
#include "tests/model/transformer/step_parts.hpp"

namespace roofcast::transformer {
namespace {

using testing::part_s;

Architecture llama(std::int64_t layers) {
  return testing::llama_like(layers, 8192, 28672, 128256);
}

const Gpu& h100() {
  return testing::gpu_named("h100-sxm5");
}

// 80 equal layers ask for no more forecasts than 2, and take 40 times as long.
TEST(Step, EqualLayersAreForecastOnce) {
  Task task;
  task.batch = 2;
  std::size_t counts[2];
  double times[2];
  for (int i = 0; i < 2; ++i) {
    KernelForecasts forecasts(h100());
    const Step step = predict_step(llama(i == 0 ? 2 : 80), task, forecasts);
    counts[i] = forecasts.count();
    times[i] = part_s(step, "feed-forward products");
  }
  EXPECT_EQ(counts[0], counts[1]);
  EXPECT_LT(counts[1], 40U);
  EXPECT_NEAR(times[1], 40 * times[0], 1e-9 * times[1]);
}

// 10,000 steps of an 80-layer model with the same kernels forecast each kernel once for each clock,
// which is a whole percent of the full one; another batch at most doubles the forecasts. Only steps
// of several passes add gradients.
TEST(Step, StepsShareTheirForecasts) {
  KernelForecasts forecasts(h100());
  Task task;
  task.grad_accum = 2;
  const auto predict_at_full_clock = [&] { predict_step(llama(80), task, forecasts, 0); };
  predict_at_full_clock();
  const std::size_t once = forecasts.count();
  for (task.grad_accum = 1; task.grad_accum <= 10000; ++task.grad_accum) predict_at_full_clock();
  EXPECT_EQ(forecasts.count(), once);
  constexpr std::size_t kClocks = 15;
  for (task.grad_accum = 1; task.grad_accum <= 10000; ++task.grad_accum) {
    predict_step(llama(80), task, forecasts);
  }
  EXPECT_LE(forecasts.count(), kClocks * once);
  const std::size_t before = forecasts.count();
  task.grad_accum = 1;
  task.batch = 2;
  predict_at_full_clock();
  EXPECT_LE(forecasts.count(), before + once);
}

// The board's limit slows every kernel of a long run, those without tensor cores too; not the first
// steps, and not a board of more power.
TEST(Step, TheMeanPowerOfALongRunSlowsAllItsKernels) {
  Task task;
  task.framework = Framework::compiled;
  task.batch = 8;
  KernelForecasts forecasts(h100());
  const Step first = predict_step(llama(4), task, forecasts, 0),
             late = predict_step(llama(4), task, forecasts);
  EXPECT_GT(late.expected_s, 1.05 * first.expected_s);
  EXPECT_GT(part_s(late, "attention"), 1.05 * part_s(first, "attention"));
  EXPECT_GT(part_s(late, "loss"), 1.05 * part_s(first, "loss"));
  const auto says_so = [](const std::string& note) {
    return note.starts_with("the power limit of 700 W lowers the SM clock by ");
  };
  EXPECT_TRUE(std::any_of(late.notes.begin(), late.notes.end(), says_so));
  EXPECT_FALSE(std::any_of(first.notes.begin(), first.notes.end(), says_so));
  Gpu unlimited = h100();
  unlimited.power_w = 1e5;
  EXPECT_LT(predict_step(llama(4), task, unlimited).expected_s, first.expected_s);
}

Architecture gpt2(std::int64_t layers) {
  Architecture model;
  model.layers = layers;
  model.hidden = 768;
  model.heads = model.kv_heads = 12;
  model.head_dim = 64;
  model.intermediate = 3072;
  model.vocabulary = 50257;
  model.positions = 1024;
  return model;
}

std::vector<std::string> kernels_of(const Step& step, std::string_view part) {
  std::vector<std::string> found;
  for (const StepOperation& one : step.operations) {
    if (one.part == part) found.push_back(one.what);
  }
  return found;
}

// Gradients of weights are dYᵀ·X of rows as stored: a number of tokens that is no multiple of 8 costs
// no more than the next that is.
TEST(Step, TokensOffEightCostNoMore) {
  Task task;
  const auto at = [&](std::int64_t seq) {
    task.seq = seq;
    return part_s(predict_step(llama(2), task, h100()), "feed-forward products");
  };
  EXPECT_NEAR(at(1001), at(1008), 0.03 * at(1008));
}

// Products of few tokens are split along k and summed by a second kernel of the same call.
TEST(Step, ASplitProductIsOneCall) {
  Task task;
  task.seq = 128;
  const Step step = predict_step(llama(2), task, h100());
  bool split = false;
  for (const StepOperation& one : step.operations) {
    if (!one.what.starts_with("gemm.library")) continue;
    EXPECT_EQ(one.calls, one.count) << one.what;
    split |= one.launches > one.count;
  }
  EXPECT_TRUE(split);
}

// An encoder looks up words, positions and token types, adds twice, and ends in a pooler.
TEST(Step, AnEncoderAddsTokenTypesAndEndsInAPooler) {
  Architecture model = gpt2(2);
  Task task;
  task.phase = Phase::prefill;
  const std::size_t before = kernels_of(predict_step(model, task, h100()), "embedding").size();
  EXPECT_EQ(before, 3U);
  model.token_types = 2;
  model.pooled = true;
  const Step step = predict_step(model, task, h100());
  EXPECT_EQ(kernels_of(step, "embedding").size(), before + 2);
  EXPECT_EQ(kernels_of(step, "pooler").size(), 1U);
  EXPECT_TRUE(kernels_of(step, "vocabulary product").empty());
}

// Rows of 50257 elements of 2 bytes are no multiple of 16 bytes: training by compiled code copies
// weights and gradients to rows of 50264, eager code and a part of the vocabulary do not.
TEST(Step, CompiledCodePadsTheVocabulary) {
  constexpr std::string_view kPart = "vocabulary product";
  Task task;
  EXPECT_EQ(kernels_of(predict_step(gpt2(2), task, h100()), kPart).size(), 3U);
  task.tp = 4;
  EXPECT_EQ(kernels_of(predict_step(gpt2(2), task, h100()), kPart).size(), 3U);
  task.tp = 1;
  task.framework = Framework::compiled;
  const auto padded = kernels_of(predict_step(gpt2(2), task, h100()), kPart);
  EXPECT_EQ(padded.size(), 6U);
  EXPECT_TRUE(std::any_of(padded.begin(), padded.end(), [](const std::string& what) {
    return what.find("n=50264") != std::string::npos;
  }));
}

// Models that join q, k and v have a product for all three; others one each, whose gradients of
// the input are added up.
TEST(Step, ProjectionsAreProductsOfTheirOwn) {
  Architecture model = gpt2(2);
  constexpr std::string_view kPart = "attention products";
  Task task;
  EXPECT_EQ(kernels_of(predict_step(model, task, h100()), kPart).size(), 4U * 3);
  const std::size_t sums = kernels_of(predict_step(model, task, h100()), "residuals").size();
  model.joined_projections = true;
  EXPECT_EQ(kernels_of(predict_step(model, task, h100()), kPart).size(), 2U * 3);
  EXPECT_EQ(kernels_of(predict_step(model, task, h100()), "residuals").size(), sums - 2);
}

// A host so slow that the GPU waits for each launch sets the time: each launch of the forward pass,
// which autograd records, takes it twice as long as one of the backward pass or the optimizer.
TEST(Step, ASlowHostSetsTheTime) {
  Task task;
  task.host_launch_s = 1e-3;
  const Step step = predict_step(gpt2(2), task, h100());
  double submitted_s = 0;
  for (const StepOperation& one : step.operations) {
    const bool recorded = one.direction == Direction::forward && one.section != Section::once;
    submitted_s += one.calls * task.host_launch_s * (recorded ? 2 : 1);
  }
  EXPECT_NEAR(step.expected_s, submitted_s, 1e-9);
  task.host_launch_s = 0;
  EXPECT_LT(predict_step(gpt2(2), task, h100()).expected_s, 0.1 * submitted_s);
}

// cuBLASLt has GELU, not SwiGLU; what selective checkpointing computes again is a launch of its
// own.
TEST(Step, IdealProductsComputeGelu) {
  Task task;
  task.batch = 8;
  task.framework = Framework::compiled;
  const Step compiled = predict_step(gpt2(2), task, h100());
  task.framework = Framework::ideal;
  const Step ideal = predict_step(gpt2(2), task, h100());
  EXPECT_GT(part_s(compiled, "activation"), 0);
  EXPECT_EQ(part_s(ideal, "activation"), 0);
  const auto both_s = [](const Step& step) {
    return part_s(step, "activation") + part_s(step, "feed-forward products");
  };
  EXPECT_LT(both_s(ideal), both_s(compiled));
  EXPECT_GT(part_s(predict_step(llama(2), task, h100()), "activation"), 0);
  task.checkpointing = Checkpointing::selective;
  EXPECT_GT(part_s(predict_step(gpt2(2), task, h100()), "activation"), 0);
}

// The loss of 8192 tokens keeps fp32 logits of all of them; a chunked loss keeps those of a chunk.
TEST(Step, AChunkedLossKeepsLogitsOfAChunk) {
  Task task;
  task.batch = 8;
  const double whole_bytes = memory(llama(1), task).activations;
  const double whole = predict_step(llama(1), task, h100()).tokens_per_s;
  task.chunked_loss = true;
  EXPECT_LT(memory(llama(1), task).activations, whole_bytes - 8192.0 * 128256 * 4);
  const Step chunked = predict_step(llama(1), task, h100());
  EXPECT_GT(part_s(chunked, "vocabulary product and loss"), 0);
  EXPECT_EQ(part_s(chunked, "loss"), 0);
  EXPECT_NE(chunked.tokens_per_s, whole);
  task.tp = 2;
  EXPECT_FALSE(chunks_loss(llama(1), task));
}

// By hand: products over 8 + 2·512 tokens, attention of 8 tokens to the cache and of two prompts.
TEST(Step, PromptsJoinTheBatchOfADecodeStep) {
  Task task;
  task.phase = Phase::decode;
  task.framework = Framework::compiled;
  task.batch = 8;
  task.context = 1024;
  task.seq = 512;
  KernelForecasts forecasts(h100());
  const auto at_full_clock = [&](const Task& one) {
    return predict_step(llama(4), one, forecasts, 0);
  };
  const Step decode = at_full_clock(task);
  task.prompts = 2;
  EXPECT_EQ(task.tokens(), 8 + 2 * 512);
  EXPECT_EQ(task.answers(), 10);
  const Step joined = at_full_clock(task);
  Task prefill = task;
  prefill.phase = Phase::prefill;
  prefill.batch = 2;
  prefill.prompts = prefill.context = 0;
  const Step prompts = at_full_clock(prefill);
  EXPECT_NEAR(part_s(joined, "attention"),
              part_s(decode, "attention") + part_s(prompts, "attention"), 1e-12);
  EXPECT_LT(part_s(joined, "feed-forward products"),
            part_s(decode, "feed-forward products") + part_s(prompts, "feed-forward products"));
  for (const StepOperation& one : joined.operations) {
    if (one.part != "vocabulary product") continue;
    EXPECT_NE(one.what.find(" m=10 "), std::string::npos) << one.what;
  }
}

TEST(Step, DropoutIsOfTrainingAndKeepsMasks) {
  Task task;
  task.batch = 2;
  task.grad_accum = 2;  // gradients and all layers' activations at once
  const Architecture model = llama(4);
  const Step without = predict_step(model, task, h100());
  const Memory before = memory(model, task);
  task.dropout = true;
  const Step with = predict_step(model, task, h100());
  EXPECT_GT(part_s(with, "residuals") + part_s(with, "dropout"), part_s(without, "residuals"));
  // Two masks of a byte an element and layer.
  EXPECT_DOUBLE_EQ(memory(model, task).activations - before.activations, 4 * 2.0 * 2048 * 8192);
}

// A trained router chooses some experts more often: fewer are read by a few tokens, and the busiest
// GPU has more rows.
TEST(Step, RoutingIsThatOfTrainedRouters) {
  Architecture model = llama(4);
  model.experts = Experts{.count = 128, .per_token = 8, .intermediate = 1536};
  Task task;
  EXPECT_EQ(routing_of(model, task), "power_law_1.2");
  model.experts->balanced = true;
  EXPECT_EQ(routing_of(model, task), "power_law_1.01");
  model.experts->balanced = false;
  task.phase = Phase::decode;
  task.batch = 16;
  task.context = 1024;
  const double trained = part_s(predict_step(model, task, h100()), "experts");
  task.routing = Routing::balanced;
  EXPECT_EQ(routing_of(model, task), "balanced");
  EXPECT_LT(trained, part_s(predict_step(model, task, h100()), "experts"));
}

// One step of four has a prompt: 8 requests of 32 tokens.
TEST(Serving, StepsWithAPromptAreAShareOfAll) {
  Service service;
  service.concurrency = 8;
  service.input = 256;
  service.output = 32;
  KernelForecasts forecasts(h100());
  const Serving answer = predict_serving(llama(4), service, forecasts);
  EXPECT_NEAR(answer.between_tokens.expected_s,
              0.75 * answer.decode_s + 0.25 * answer.joined_s + answer.software_s,
              1e-9 * answer.between_tokens.expected_s);
  EXPECT_LT(answer.between_tokens.low_s, answer.between_tokens.expected_s);
  EXPECT_GT(answer.between_tokens.high_s, answer.between_tokens.expected_s);
}

}  // namespace
}  // namespace roofcast::transformer
