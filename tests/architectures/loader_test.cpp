#include "architectures/loader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "model/transformer/task.hpp"
#include "model/types/problem.hpp"

namespace roofcast::architectures {
namespace {

using ::testing::HasSubstr;
using transformer::Architecture;
using transformer::ParameterCounts;

Architecture shipped(std::string_view name) {
  const Embedded* found = find_embedded(name);
  EXPECT_NE(found, nullptr) << name;
  return load(std::string(name), found->text);
}

struct Published {
  const char* model;
  double total;
  double unit;  ///< of the last digit given
  double active = 0;
  double active_unit = 0;
};

// Total and active parameters as published, to the digit given.
TEST(Architectures, HaveTheParametersOfTheirCards) {
  constexpr std::array published = {
      // Radford et al. 2019 as corrected in github.com/openai/gpt-2.
      Published{"gpt2", 124e6, 1e6}, Published{"gpt2-medium", 355e6, 1e6},
      Published{"gpt2-large", 774e6, 1e6}, Published{"gpt2-xl", 1.56e9, 0.01e9},
      // huggingface.co/meta-llama, size of the checkpoints.
      Published{"llama-2-7b", 6.74e9, 0.01e9}, Published{"llama-2-13b", 13.0e9, 0.1e9},
      Published{"llama-2-70b", 69.0e9, 0.1e9}, Published{"llama-3.1-8b", 8.03e9, 0.01e9},
      Published{"llama-3.1-70b", 70.6e9, 0.1e9}, Published{"llama-3.1-405b", 406e9, 1e9},
      // huggingface.co/Qwen, the cards; arXiv 2505.09388.
      Published{"qwen3-8b", 8.2e9, 0.1e9}, Published{"qwen3-14b", 14.8e9, 0.1e9},
      Published{"qwen3-32b", 32.8e9, 0.1e9}, Published{"qwen3-30b-a3b", 30.5e9, 0.1e9},
      Published{"qwen3-235b-a22b", 235e9, 1e9, 22e9, 1e9},
      // mistral.ai/news/mixtral-of-experts.
      Published{"mixtral-8x7b", 46.7e9, 0.1e9, 12.9e9, 0.1e9},
      // arXiv 2508.10925, table 1.
      Published{"gpt-oss-20b", 20.91e9, 0.01e9}, Published{"gpt-oss-120b", 116.83e9, 0.01e9},
      // arXiv 2412.19437.
      Published{"deepseek-v3", 671e9, 1e9},
      // Devlin et al. 2019.
      Published{"bert-base", 110e6, 10e6}, Published{"bert-large", 340e6, 10e6},
      // arXiv 2205.01068.
      Published{"opt-1.3b", 1.3e9, 0.1e9}, Published{"opt-66b", 66e9, 1e9}};
  for (const Published& one : published) {
    const ParameterCounts counts = count_parameters(shipped(one.model));
    EXPECT_NEAR(counts.total, one.total, one.unit / 2) << one.model;
    if (one.active > 0) {
      EXPECT_NEAR(counts.active, one.active, one.active_unit / 2) << one.model;
    }
  }
}

// arXiv 2412.19437 and 2508.10925 count active parameters without the embedding: a look-up.
TEST(Architectures, ActiveParametersWithoutEmbeddings) {
  const auto active = [](std::string_view name) {
    const ParameterCounts counts = count_parameters(shipped(name));
    return counts.active - counts.embeddings;
  };
  EXPECT_NEAR(active("deepseek-v3"), 37e9, 0.5e9);
  EXPECT_NEAR(active("gpt-oss-20b"), 3.61e9, 0.005e9);
  EXPECT_NEAR(active("gpt-oss-120b"), 5.13e9, 0.005e9);
}

// Exact, as PyTorch counts numel() of these checkpoints.
TEST(Architectures, CountsAreExact) {
  EXPECT_EQ(count_parameters(shipped("gpt2")).total, 124439808);
  EXPECT_EQ(count_parameters(shipped("bert-base")).total, 109482240);
  EXPECT_EQ(count_parameters(shipped("llama-3.1-8b")).total, 8030261248);
}

// MFU = tokens/s · FLOPs per token ÷ the datasheet's peak. llm-foundry states 40.26% for 156735
// tokens/s on an A100 (scripts/train/benchmarking, mpt-125m at 512).
TEST(Architectures, TrainingFlopsAreThoseOfLlmFoundry) {
  const Architecture mpt =
      load("mpt-125m",
           R"({"model_type":"mpt","d_model":768,"n_layers":12,"n_heads":12,"expansion_ratio":4,
          "max_seq_len":512,"vocab_size":50368})");
  EXPECT_EQ(count_parameters(mpt).total, 124131840);
  EXPECT_NEAR(100 * 156735 * training_flops_per_token(mpt, 512) / 312e12, 40.26, 0.005);
}

TEST(Architectures, CachesHoldKeysAndValues) {
  EXPECT_EQ(cache_bytes_per_token(shipped("llama-3.1-8b"), 2), 2 * 32 * 2 * 8 * 128);
  EXPECT_EQ(cache_bytes_per_token(shipped("deepseek-v3"), 2), 2 * 61 * (512 + 64));
}

TEST(Architectures, ANoteSaysThatATokenIsBeyondTheLearnedPositions) {
  const auto notes = [](std::string_view name, const transformer::Task& task) {
    return positions_note(shipped(name), task).has_value();
  };
  using transformer::Phase;
  EXPECT_FALSE(notes("gpt2", {.phase = Phase::prefill, .seq = 1024}));
  EXPECT_TRUE(notes("gpt2", {.phase = Phase::prefill, .seq = 1025}));
  EXPECT_FALSE(notes("opt-125m", {.phase = Phase::train, .seq = 2048}));
  EXPECT_TRUE(notes("opt-125m", {.phase = Phase::train, .seq = 2049}));
  EXPECT_FALSE(notes("llama-2-7b", {.phase = Phase::prefill, .seq = 1 << 20}));
  EXPECT_FALSE(notes("mpt-7b", {.phase = Phase::prefill, .seq = 1 << 20})) << "ALiBi";
  EXPECT_FALSE(notes("gpt2", {.phase = Phase::decode, .seq = 4096, .context = 1024}));
  EXPECT_TRUE(notes("gpt2", {.phase = Phase::decode, .seq = 64, .context = 1025}));
  EXPECT_TRUE(notes("gpt2", {.phase = Phase::decode, .seq = 1025, .context = 64, .prompts = 1}));
}

std::string refusal(const std::string& text) {
  try {
    load("config.json", text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string llama(const std::string& members) {
  return R"({"model_type":"llama","hidden_size":64,"num_hidden_layers":2,"intermediate_size":128,
             "vocab_size":100,)" +
         members + "}";
}

TEST(Architectures, RefusalsNameTheKey) {
  EXPECT_THAT(refusal("{}"), HasSubstr("model_type"));
  EXPECT_THAT(refusal(R"({"model_type":"lama"})"), HasSubstr("llama"));
  EXPECT_THAT(refusal(llama(R"("a":1)")), HasSubstr("num_attention_heads"));
  EXPECT_THAT(refusal(llama(R"("num_attention_heads":7)")), HasSubstr("/num_attention_heads"));
  EXPECT_THAT(refusal(llama(R"("num_attention_heads":0)")), HasSubstr("/num_attention_heads"));
  EXPECT_THAT(refusal(llama(R"("num_attention_heads":8,"num_key_value_heads":3)")),
              HasSubstr("/num_key_value_heads"));
  EXPECT_THAT(refusal(llama(R"("num_attention_heads":8,"attention_bias":"no")")),
              HasSubstr("/attention_bias"));
  EXPECT_THAT(refusal(R"({"model_type":"opt","hidden_size":64,"num_hidden_layers":2,"ffn_dim":4,
              "vocab_size":9,"max_position_embeddings":8,"num_attention_heads":8,
              "word_embed_proj_dim":32})"),
              HasSubstr("/word_embed_proj_dim"));
  EXPECT_THAT(refusal("[]"), HasSubstr("config.json"));
  EXPECT_EQ(refusal(llama(R"("num_attention_heads":8)")), "");
}

TEST(Architectures, EveryShippedOneLoads) {
  for (const Embedded& one : embedded()) {
    EXPECT_GT(count_parameters(shipped(one.name)).total, 1e8) << one.name;
  }
}

}  // namespace
}  // namespace roofcast::architectures
