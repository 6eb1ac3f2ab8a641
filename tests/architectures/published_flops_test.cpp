// FLOPs and MFU of published models against what their papers state.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "architectures/loader.hpp"

namespace roofcast::architectures {
namespace {

using transformer::Architecture;
using transformer::training_flops_per_token;

constexpr double kA100 = 312e12;   // FLOP/s of bf16, NVIDIA A100 datasheet
constexpr double kTpuV4 = 275e12;  // Jouppi et al. 2023, arXiv 2304.01433

// A GPT as Megatron-LM trains it: learned positions, biases, tied weights.
Architecture megatron(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                      std::int64_t vocabulary = 51200) {
  return load("gpt",
              "{\"model_type\":\"gpt2\",\"n_layer\":" + std::to_string(layers) +
                  ",\"n_embd\":" + std::to_string(hidden) + ",\"n_head\":" + std::to_string(heads) +
                  ",\"n_positions\":2048,\"vocab_size\":" + std::to_string(vocabulary) + "}");
}

struct Trained {
  const char* name;
  Architecture model;
  double sequences;  ///< of 2048 tokens in a step
  double gpus;
  double step_s, step_unit;  ///< time of a step, and one unit of its last published digit
  double mfu_percent, mfu_unit;
};

// Korthikanti et al. 2022 (arXiv 2205.05198), table 5, present work: the time of a step and its
// MFU.
TEST(PublishedMfu, OfMegatron) {
  const std::array runs = {
      Trained{"22B", megatron(48, 6144, 64), 4, 8, 1.10, 0.01, 41.5, 0.1},
      Trained{"175B", megatron(96, 12288, 96), 64, 64, 13.75, 0.01, 51.4, 0.1},
      Trained{"530B", megatron(105, 20480, 128), 280, 280, 37.83, 0.01, 56.0, 0.1},
      Trained{"1T", megatron(128, 25600, 160), 512, 512, 71.49, 0.01, 56.3, 0.1}};
  constexpr double kTokens = 2048;
  for (const Trained& run : runs) {
    const double flops = training_flops_per_token(run.model, kTokens) * run.sequences * kTokens;
    const auto mfu = [&](double step_s) { return 100 * flops / (step_s * run.gpus * kA100); };
    EXPECT_LE(mfu(run.step_s + run.step_unit / 2), run.mfu_percent + run.mfu_unit / 2) << run.name;
    EXPECT_GE(mfu(run.step_s - run.step_unit / 2), run.mfu_percent - run.mfu_unit / 2) << run.name;
  }
}

// Chowdhery et al. 2022 (arXiv 2204.02311), table 1: one head of 256 for keys and values, one norm
// a layer.
Architecture palm(std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
  Architecture model;
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.kv_heads = 1;
  model.head_dim = 256;
  model.intermediate = 4 * hidden;
  model.vocabulary = 256000;
  model.gated = model.rotary = model.tied = true;
  return model;
}

TEST(PublishedParameters, OfPalm) {
  EXPECT_NEAR(count_parameters(palm(32, 4096, 16)).total, 8.63e9, 0.005e9);
  EXPECT_NEAR(count_parameters(palm(64, 8192, 32)).total, 62.50e9, 0.005e9);
  EXPECT_NEAR(count_parameters(palm(118, 18432, 48)).total, 540.35e9, 0.01e9);
}

// Sections 4.1 and appendix B: 238.3 ktoken/s on 6144 chips, MFU 46.2%.
TEST(PublishedMfu, OfPalm) {
  const double flops = training_flops_per_token(palm(118, 18432, 48), 2048) * 238.3e3;
  EXPECT_NEAR(100 * flops / (6144 * kTpuV4), 46.2, 0.05);
}

struct Compute {
  const char* name;
  double parameters, tokens;
  double flops, unit;
};

// 6 FLOPs for each parameter and token, as the papers count.
TEST(PublishedFlops, OfWholeTrainings) {
  const auto parameters = [](std::string_view name) {
    return count_parameters(load(std::string(name), find_embedded(name)->text)).total;
  };
  const auto gpt3 = [](std::int64_t layers, std::int64_t hidden, std::int64_t heads) {
    return count_parameters(megatron(layers, hidden, heads, 50257)).total;
  };
  const std::array computes = {
      // Grattafiori et al. 2024 (arXiv 2407.21783), section 1: 3.8e25 on 15.6 T tokens.
      Compute{"llama-3.1-405b", parameters("llama-3.1-405b"), 15.6e12, 3.8e25, 0.1e25},
      // Brown et al. 2020 (arXiv 2005.14165), table D.1: 300 G tokens; by the rounded sizes there.
      Compute{"GPT-3 175B", gpt3(96, 12288, 96), 300e9, 3.14e23, 0.01e23},
      Compute{"GPT-3 6.7B", gpt3(32, 4096, 32), 300e9, 1.20e22, 0.01e22},
      Compute{"GPT-3 2.7B", gpt3(32, 2560, 32), 300e9, 4.77e21, 0.01e21},
      Compute{"GPT-3 XL", gpt3(24, 2048, 16), 300e9, 2.38e21, 0.03e21},
      Compute{"GPT-3 Large", gpt3(24, 1536, 16), 300e9, 1.37e21, 0.01e21},
      Compute{"GPT-3 Medium", gpt3(24, 1024, 16), 300e9, 6.41e20, 0.01e20},
      Compute{"GPT-3 Small", gpt3(12, 768, 12), 300e9, 2.25e20, 0.01e20}};
  for (const Compute& one : computes) {
    EXPECT_NEAR(6 * one.parameters * one.tokens, one.flops, one.unit) << one.name;
  }
}

}  // namespace
}  // namespace roofcast::architectures
