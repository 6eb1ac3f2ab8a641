#pragma once
// The parts of a transformer, and how large they are. Counts only.
#include <cstdint>
#include <optional>

namespace roofcast::transformer {

/// A feed-forward part with copies, of which each token passes some.
struct Experts {
  double count = 0;
  double per_token = 0;
  double intermediate = 0;  ///< inner width of one
  double shared = 0;        ///< further ones that every token passes
  double dense_layers = 0;  ///< first layers without experts
  bool router_biased = false;
  /// Training kept the choices even: a bias of each expert follows its load.
  bool balanced = false;
};

/// Attention whose keys and values come out of a narrow vector (DeepSeek-V2, arXiv 2405.04434).
struct LatentAttention {
  double query_rank = 0;
  double kv_rank = 0;
  double rope_dim = 0;
  double nope_dim = 0;
  double value_dim = 0;
};

/// A decoder (or encoder) stack, as a config.json gives it. Counts of elements.
struct Architecture {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t intermediate = 0;  ///< inner width of the feed-forward part
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;    ///< learned position vectors; 0: none
  std::int64_t token_types = 0;  ///< learned segment vectors; 0: none
  bool gated = false;            ///< two products side by side, one the gate of the other
  bool plain_gelu = false;       ///< GELU by tanh that eager code computes in eight kernels
  bool rotary = false;
  bool causal = true;
  bool attention_biased = false;     ///< its four products
  bool feed_forward_biased = false;  ///< its products
  bool norm_biased = false;          ///< layer norm with β; without: γ alone
  bool rms_norm = false;
  bool head_norms = false;       ///< queries and keys are normalized head by head
  bool attention_sinks = false;  ///< one learned logit a head
  bool tied = false;             ///< the vocabulary's product shares the embedding's weights
  bool pooled = false;           ///< ends in one square product instead of the vocabulary's
  std::optional<Experts> experts;
  std::optional<LatentAttention> latent;

  /// Width of a query's and a key's head.
  double key_dim() const {
    return latent ? latent->nope_dim + latent->rope_dim : static_cast<double>(head_dim);
  }
};

/// Parameters by part; of one layer where the name says so.
struct ParameterCounts {
  double attention_layer = 0;
  double norms_layer = 0;
  double dense_layer = 0;   ///< feed-forward part without experts
  double expert_layer = 0;  ///< all experts of a layer and its router
  double active_expert_layer = 0;
  double routed = 0;  ///< all experts of all layers that the router chooses among
  double embeddings = 0;
  double head = 0;  ///< what tied weights do not add again
  double total = 0;
  double active = 0;  ///< that one token passes

  double ends() const { return embeddings + head; }
  double unrouted() const { return total - routed - ends(); }  ///< of all layers
};
ParameterCounts count_parameters(const Architecture& model);

/// Bytes of one token's keys and values in all layers.
double cache_bytes_per_token(const Architecture& model, double element_bytes);

/// FLOPs of a trained token: 6·N + 12·layers·heads·head_dim·seq (PaLM, arXiv 2204.02311, appendix
/// B), N the active parameters; a third of it forward alone. No recomputation, no saving by
/// causality.
double training_flops_per_token(const Architecture& model, double seq);

}  // namespace roofcast::transformer
