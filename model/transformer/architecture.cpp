#include "model/transformer/architecture.hpp"

namespace roofcast::transformer {
namespace {

double latent_attention(const Architecture& model, const LatentAttention& latent) {
  const double hidden = as_double(model.hidden);
  const double heads = as_double(model.heads);
  const double key = model.key_dim();
  const double query =
      latent.query_rank > 0 ? latent.query_rank * (hidden + 1 + heads * key) : hidden * heads * key;
  return query + hidden * (latent.kv_rank + latent.rope_dim) + latent.kv_rank +
         latent.kv_rank * heads * (latent.nope_dim + latent.value_dim) +
         heads * latent.value_dim * hidden;
}

double attention(const Architecture& model) {
  if (model.latent) return latent_attention(model, *model.latent);
  const double hidden = as_double(model.hidden);
  const double query = as_double(model.heads * model.head_dim);
  const double kv = as_double(model.kv_heads * model.head_dim);
  return hidden * (2 * query + 2 * kv) + (model.attention_biased ? query + 2 * kv + hidden : 0) +
         (model.head_norms ? 2 * as_double(model.head_dim) : 0) +
         (model.attention_sinks ? as_double(model.heads) : 0);
}

double feed_forward(const Architecture& model, double inner) {
  const double hidden = as_double(model.hidden);
  const double products = model.gated ? 2 : 1;
  return hidden * inner * (products + 1) +
         (model.feed_forward_biased ? products * inner + hidden : 0);
}

}  // namespace

ParameterCounts count_parameters(const Architecture& model) {
  ParameterCounts counts;
  const double hidden = as_double(model.hidden);
  counts.attention_layer = attention(model);
  const double norm = hidden * (model.norm_biased ? 2 : 1);
  counts.norms_layer = 2 * norm;
  counts.dense_layer = feed_forward(model, as_double(model.intermediate));
  const double layers = as_double(model.layers);
  double active_layer = 0;  // parameters of a token's experts and the router
  const double dense = model.experts ? model.experts->dense_layers : layers;
  if (const auto& experts = model.experts) {
    const double one = feed_forward(model, experts->intermediate);
    const double router = experts->count * (hidden + (experts->router_biased ? 1 : 0));
    counts.expert_layer = (experts->count + experts->shared) * one + router;
    active_layer = (experts->per_token + experts->shared) * one + router;
    counts.routed = (layers - dense) * experts->count * one;
  }
  counts.embeddings = as_double(model.vocabulary + model.positions + model.token_types) * hidden;
  if (model.pooled) {
    counts.head = hidden * hidden + hidden;
  } else if (!model.tied) {
    counts.head = as_double(model.vocabulary) * hidden;
  }
  const double shared = layers * (counts.attention_layer + counts.norms_layer) + norm +
                        counts.embeddings + counts.head + dense * counts.dense_layer;
  counts.total = shared + (layers - dense) * counts.expert_layer;
  counts.active = shared + (layers - dense) * active_layer;
  return counts;
}

double cache_bytes_per_token(const Architecture& model, double element_bytes) {
  const double elements = model.latent ? model.latent->kv_rank + model.latent->rope_dim
                                       : 2 * as_double(model.kv_heads * model.head_dim);
  return as_double(model.layers) * elements * element_bytes;
}

double training_flops_per_token(const Architecture& model, double seq) {
  return 6 * count_parameters(model).active +
         12 * as_double(model.layers) * as_double(model.heads) * model.key_dim() * seq;
}

}  // namespace roofcast::transformer
