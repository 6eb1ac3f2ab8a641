#pragma once
// The parts of a transformer and their sizes, in elements.
#include <cstdint>
#include <optional>

#include "model/counting/integers.hpp"

namespace roofcast::transformer {

/// Mixture of experts: the router sends each token through `per_token` of `count` experts.
struct Experts {
  double count = 0;
  double per_token = 0;
  double intermediate = 0;  ///< inner width of one expert
  double shared = 0;        ///< number of experts that every token passes
  double dense_layers = 0;  ///< number of leading layers without experts
  bool router_biased = false;
  /// Training balanced the load with a bias per expert that follows the expert's load.
  bool balanced = false;
};

/// Multi-head latent attention: keys and values are expanded from one narrow vector per token
/// (DeepSeek-V2, arXiv 2405.04434). Widths in elements.
struct LatentAttention {
  double query_rank = 0;  ///< 0: queries are one projection of the hidden state
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
  std::int64_t positions = 0;         ///< learned position vectors; 0: none
  std::int64_t padded_positions = 0;  ///< of these, the vectors that no token uses
  std::int64_t token_types = 0;       ///< learned segment vectors; 0: none
  bool gated = false;       ///< SwiGLU: the up projection has two halves, one gates the other
  bool plain_gelu = false;  ///< gelu_new, GELU by tanh: eight kernels in eager code
  bool rotary = false;
  bool causal = true;
  bool joined_projections = false;   ///< its PyTorch model projects q, k and v in one GEMM
  bool calls_flash = false;          ///< its PyTorch model calls FlashAttention directly
  bool attention_biased = false;     ///< q, k, v and output projections have biases
  bool feed_forward_biased = false;  ///< feed-forward projections have biases
  bool norm_biased = false;          ///< norms have β; false: γ alone
  bool rms_norm = false;
  bool head_norms = false;       ///< queries and keys are normalized per head
  bool attention_sinks = false;  ///< one learned logit per head
  bool tied = false;             ///< the LM head shares the embedding's weights
  bool pooled = false;           ///< ends in a hidden × hidden pooler instead of the LM head
  std::optional<Experts> experts;
  std::optional<LatentAttention> latent;

  /// Width of a query or key head.
  double key_dim() const {
    return latent ? latent->nope_dim + latent->rope_dim : as_double(head_dim);
  }
};

/// Number of parameters by part; the members named `_layer` count one layer.
struct ParameterCounts {
  double attention_layer = 0;
  double norms_layer = 0;
  double dense_layer = 0;   ///< feed-forward part without experts
  double expert_layer = 0;  ///< all experts of a layer and its router
  double routed = 0;        ///< routed experts of all layers
  double embeddings = 0;
  double head = 0;  ///< LM head or pooler; tied weights count once, in embeddings
  double total = 0;
  double active = 0;  ///< parameters used for one token

  double ends() const { return embeddings + head; }
  double unrouted() const { return total - routed - ends(); }  ///< all but routed experts and ends
};
ParameterCounts count_parameters(const Architecture& model);

/// Bytes of one token's keys and values in all layers.
double cache_bytes_per_token(const Architecture& model, double element_bytes);

/// FLOPs to train on one token: 6·N + 12·layers·heads·head_dim·seq (PaLM, arXiv 2204.02311,
/// appendix B), with N active parameters. The forward pass alone takes a third. Recomputation and
/// skipped causal tiles are not counted.
double training_flops_per_token(const Architecture& model, double seq);

}  // namespace roofcast::transformer
