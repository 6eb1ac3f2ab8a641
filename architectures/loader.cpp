#include "architectures/loader.hpp"

#include <algorithm>
#include <array>

#include "hw_specs/checked_json.hpp"
#include "hw_specs/json_node.hpp"
#include "model/types/problem.hpp"

namespace roofcast::architectures {
namespace {

using specs::JsonNode;
using transformer::Architecture;

constexpr specs::FileKind kConfiguration = {std::size_t{1} << 20,
                                            "give the config.json of a Hugging Face model"};
constexpr std::int64_t kMost = 1'000'000'000;
constexpr std::int64_t kMostLayers = 10'000;

std::int64_t count(const JsonNode& root, std::string_view key, std::int64_t most = kMost) {
  return root.at(key).integer(1, most);
}

/// Absent and null mean the fallback.
std::int64_t count_or(const JsonNode& root, std::string_view key, std::int64_t fallback) {
  const auto found = root.find(key);
  return found && !found->value().is_null() ? found->integer(1, kMost) : fallback;
}

bool flag_or(const JsonNode& root, std::string_view key, bool fallback) {
  const auto found = root.find(key);
  if (!found || found->value().is_null()) return fallback;
  if (!found->value().is_boolean()) found->refuse("true or false", "write one of the two");
  return found->value().get<bool>();
}

double real(const JsonNode& root, std::string_view key) {
  return static_cast<double>(count(root, key));
}

std::string word_or(const JsonNode& root, std::string_view key, std::string_view fallback) {
  const auto found = root.find(key);
  return found && !found->value().is_null() ? found->text() : std::string(fallback);
}

/// The keys that most families spell alike.
Architecture read_common(const JsonNode& root) {
  Architecture model;
  model.layers = count(root, "num_hidden_layers", kMostLayers);
  model.hidden = count(root, "hidden_size");
  model.heads = count(root, "num_attention_heads");
  model.kv_heads = count_or(root, "num_key_value_heads", model.heads);
  model.head_dim = count_or(root, "head_dim", 0);
  model.vocabulary = count(root, "vocab_size");
  return model;
}

Architecture read_llama(const JsonNode& root) {
  Architecture model = read_common(root);
  model.intermediate = count(root, "intermediate_size");
  model.gated = model.rotary = model.rms_norm = true;
  model.tied = flag_or(root, "tie_word_embeddings", false);
  model.attention_biased = flag_or(root, "attention_bias", false);
  model.feed_forward_biased = flag_or(root, "mlp_bias", false);
  return model;
}

Architecture read_qwen3(const JsonNode& root) {
  Architecture model = read_llama(root);
  model.head_norms = true;
  return model;
}

Architecture read_qwen3_moe(const JsonNode& root) {
  Architecture model = read_qwen3(root);
  model.experts = {real(root, "num_experts"), real(root, "num_experts_per_tok"),
                   real(root, "moe_intermediate_size")};
  return model;
}

Architecture read_mixtral(const JsonNode& root) {
  Architecture model = read_llama(root);
  model.experts = {real(root, "num_local_experts"), real(root, "num_experts_per_tok"),
                   real(root, "intermediate_size")};
  return model;
}

Architecture read_gpt_oss(const JsonNode& root) {
  Architecture model = read_mixtral(root);
  model.attention_biased = flag_or(root, "attention_bias", true);
  model.feed_forward_biased = model.attention_sinks = true;
  model.experts->router_biased = true;
  return model;
}

Architecture read_deepseek(const JsonNode& root) {
  Architecture model = read_llama(root);
  model.latent = {static_cast<double>(count_or(root, "q_lora_rank", 0)), real(root, "kv_lora_rank"),
                  real(root, "qk_rope_head_dim"), real(root, "qk_nope_head_dim"),
                  real(root, "v_head_dim")};
  model.experts = {real(root, "n_routed_experts"), real(root, "num_experts_per_tok"),
                   real(root, "moe_intermediate_size"),
                   static_cast<double>(count_or(root, "n_shared_experts", 0)),
                   real(root, "first_k_dense_replace")};
  model.experts->balanced = true;  // arXiv 2412.19437, section 2.1.2
  return model;
}

void add_layer_norms_and_biases(Architecture& model, bool biased) {
  model.attention_biased = model.feed_forward_biased = model.norm_biased = biased;
}

Architecture read_gpt2(const JsonNode& root) {
  Architecture model;
  model.layers = count(root, "n_layer", kMostLayers);
  model.hidden = count(root, "n_embd");
  model.heads = model.kv_heads = count(root, "n_head");
  model.intermediate = count_or(root, "n_inner", 4 * model.hidden);
  model.vocabulary = count(root, "vocab_size");
  model.positions = count(root, "n_positions");
  model.tied = flag_or(root, "tie_word_embeddings", true);
  model.plain_gelu = word_or(root, "activation_function", "gelu_new") == "gelu_new";
  model.joined_projections = true;
  add_layer_norms_and_biases(model, true);
  return model;
}

Architecture read_opt(const JsonNode& root) {
  Architecture model = read_common(root);
  model.intermediate = count(root, "ffn_dim");
  model.padded_positions = 2;  // rows 0 and 1
  model.positions = count(root, "max_position_embeddings") + model.padded_positions;
  model.tied = flag_or(root, "tie_word_embeddings", true);
  if (count_or(root, "word_embed_proj_dim", model.hidden) != model.hidden) {
    root.at("word_embed_proj_dim")
        .refuse("hidden_size", "models that project their embeddings are not described");
  }
  add_layer_norms_and_biases(model, flag_or(root, "enable_bias", true));
  return model;
}

Architecture read_mpt(const JsonNode& root) {
  Architecture model;
  model.layers = count(root, "n_layers", kMostLayers);
  model.hidden = count(root, "d_model");
  model.heads = model.kv_heads = count(root, "n_heads");
  model.intermediate = count_or(root, "expansion_ratio", 4) * model.hidden;
  model.vocabulary = count(root, "vocab_size");
  const auto attention = root.find("attn_config");
  const bool alibi = attention && flag_or(*attention, "alibi", false);
  if (!alibi) model.positions = count(root, "max_seq_len");
  model.tied = model.joined_projections = model.calls_flash = true;
  add_layer_norms_and_biases(model, !flag_or(root, "no_bias", false));
  return model;
}

Architecture read_bert(const JsonNode& root) {
  Architecture model = read_common(root);
  model.intermediate = count(root, "intermediate_size");
  model.positions = count(root, "max_position_embeddings");
  model.token_types = count_or(root, "type_vocab_size", 2);
  model.causal = false;
  model.pooled = true;
  add_layer_norms_and_biases(model, true);
  return model;
}

struct Family {
  std::string_view type;
  Architecture (*read)(const JsonNode&);
};
constexpr std::array kFamilies = {Family{"bert", read_bert},
                                  Family{"deepseek_v3", read_deepseek},
                                  Family{"gpt2", read_gpt2},
                                  Family{"gpt_oss", read_gpt_oss},
                                  Family{"llama", read_llama},
                                  Family{"mistral", read_llama},
                                  Family{"mixtral", read_mixtral},
                                  Family{"mpt", read_mpt},
                                  Family{"opt", read_opt},
                                  Family{"qwen3", read_qwen3},
                                  Family{"qwen3_moe", read_qwen3_moe}};

[[noreturn]] void refuse_type(const JsonNode& type) {
  const auto type_of = [](const Family& family) { return family.type; };
  type.refuse("one of " + listed(kFamilies, type_of), "describe the model as the nearest of these");
}

/// Sets head_dim to width ÷ heads where the file gives none, and checks that the heads divide.
void settle_heads(const JsonNode& root, Architecture& model) {
  const JsonNode heads = root.at(root.find("n_head")    ? "n_head"
                                 : root.find("n_heads") ? "n_heads"
                                                        : "num_attention_heads");
  if (model.head_dim == 0 && !model.latent) {
    if (model.hidden % model.heads != 0) {
      heads.refuse("a divisor of the width " + std::to_string(model.hidden),
                   "correct it, or give head_dim");
    }
    model.head_dim = model.hidden / model.heads;
  }
  if (model.heads % model.kv_heads != 0) {
    root.at("num_key_value_heads")
        .refuse("a divisor of the " + std::to_string(model.heads) + " heads",
                "correct one of them");
  }
}

void check_experts(const JsonNode& root, const Architecture& model) {
  if (!model.experts) return;
  if (model.experts->per_token > model.experts->count) {
    root.at("num_experts_per_tok").refuse("at most as many as there are experts", "correct it");
  }
  if (model.experts->dense_layers > static_cast<double>(model.layers)) {
    root.at("first_k_dense_replace").refuse("at most num_hidden_layers", "correct it");
  }
}

}  // namespace

Architecture load(const std::string& file, std::string_view text) {
  const specs::Json document = specs::parse_checked(file, text, kConfiguration);
  const JsonNode root(file, document);
  root.expect_object();
  const JsonNode type = root.at("model_type");
  const std::string named = type.text();
  const auto family = std::find_if(kFamilies.begin(), kFamilies.end(),
                                   [&](const Family& one) { return one.type == named; });
  if (family == kFamilies.end()) refuse_type(type);
  Architecture model = family->read(root);
  settle_heads(root, model);
  check_experts(root, model);
  return model;
}

const Embedded* find_embedded(std::string_view name) {
  for (const Embedded& one : embedded()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace roofcast::architectures
