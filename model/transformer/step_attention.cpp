#include <algorithm>
#include <vector>

#include "model/kernels/common/plan_parts.hpp"
#include "model/transformer/step_composer.hpp"

namespace roofcast::transformer {
namespace {

constexpr std::string_view kProducts = "attention products";

class AttentionComposer : public Composer {
 public:
  explicit AttentionComposer(const Composer& composer) : Composer(composer) {}

  void compose() {
    model_.latent ? add_latent_attention(*model_.latent) : add_attention();
    add_partial_sums();
  }

 private:
  // With more GPUs than heads, several GPUs hold the same head.
  std::int64_t kv_heads_of_gpu(std::int64_t heads) const {
    return std::max<std::int64_t>(1, heads / task_.tp);
  }

  void add_attention() {
    const double query = as_double(model_.heads * model_.head_dim) / tp_;
    const double kv = as_double(kv_heads_of_gpu(model_.kv_heads) * model_.head_dim);
    linears(kProducts, {query, kv, kv}, model_.joined_projections);
    if (model_.attention_biased) {
      add_biases(tokens_ * (query + 2 * kv + hidden_), model_.joined_projections ? 2 : 4);
    }
    if (eager_) add_copies(query, kv);
    add_positions(query, kv);
    for (const Sequences& one : sequences()) {
      if (task_.dtype == DType::fp32) {
        add_standard_attention(one);
      } else {
        add_flash_attention(one, model_.kv_heads, as_double(model_.head_dim));
      }
    }
    linear(kProducts, tokens_, hidden_, query);
  }

  // Head norms and rotary embedding. One fused launch does both and writes the cache.
  void add_positions(double query, double kv) {
    const bool cached = model_.causal && !train_;
    const bool joined = model_.rotary && !eager_;
    if (model_.head_norms && eager_) {
      const double dim = as_double(model_.head_dim);
      between("norms", "layer.rmsnorm_plain", tokens_ * (query + kv) / dim, dim, form());
    }
    if (model_.rotary) {
      const double width = query + (joined && cached ? 2 * kv : kv);
      between("rotary", "layer.rotary", tokens_, width, form());
    }
    if (!cached || joined) return;
    forward(false, [&] { one_pass("cache", "layer.cache_append", tokens_, 2 * kv, "forward"); });
  }

  // Eager code copies the operands of the score GEMMs to head order and their results to token
  // order, and concatenates the gradients of queries, keys and values.
  void add_copies(double query, double kv) {
    constexpr std::string_view kPart = "attention copies";
    const bool scores = task_.dtype == DType::fp32;
    const double copied = 2 * tokens_ * (query + 2 * kv + (scores ? query : 0));
    if (scores) forward(between_again_, [&] { move(kPart, copied, 4); });
    backward([&] { move(kPart, copied, 4); });
  }

  /// Equal sequences with their queries and keys.
  struct Sequences {
    std::int64_t count, queries, keys;
    bool causal;
  };

  // Latent attention decodes from its narrow cache (add_latent_decode).
  std::vector<Sequences> sequences() const {
    const bool decodes = task_.phase == Phase::decode;
    const std::int64_t prompts = decodes ? task_.prompts : task_.batch;
    std::vector<Sequences> all;
    if (prompts > 0) all.push_back({prompts, task_.seq, task_.seq, model_.causal});
    if (decodes && !model_.latent) all.push_back({task_.batch, 1, task_.context, false});
    return all;
  }

  void add_flash_attention(const Sequences& all, std::int64_t kv_heads, double head_dim) {
    // PyTorch's scaled_dot_product_attention uses cuDNN on GPUs with asynchronous tensor cores,
    // else FlashAttention-2 (aten/src/ATen/native/transformers/cuda/sdp_utils.cpp).
    const bool flash = model_.calls_flash || !has_async_mma(forecasts_.gpu());
    const std::string_view library = all.queries == 1 || !by_pytorch_ ? "best"
                                     : flash                          ? "fa2"
                                                                      : "cudnn";
    in_each_pass(all_again_, [&](std::string_view pass) {
      add(kAttention, "attention.library", wide_,
          {{"batch", all.count},
           {"library", library},
           {"layout", "bshd"},
           {"heads", model_.heads / task_.tp},
           {"kv_heads", kv_heads_of_gpu(kv_heads)},
           {"seq_q", all.queries},
           {"seq_kv", all.keys},
           {"head_dim", head_dim},
           {"causal", all.causal ? "yes" : "no"},
           {"pass", pass}});
    });
  }

  // Scores in memory: two GEMMs and a softmax. Eager code also scales (2 passes over the scores)
  // and masks (3 passes, or 2 without a causal mask) in separate launches.
  void add_standard_attention(const Sequences& all) {
    const double batch = as_double(all.count * model_.heads) / tp_;
    const double queries = as_double(all.queries), keys = as_double(all.keys);
    const double dim = as_double(model_.head_dim), rows = batch * queries;
    const double elements = rows * keys, masked = model_.causal ? 3 : 2;
    const Product scores{queries, keys, dim, batch}, values{queries, dim, keys, batch, {}, "nn"};
    forward(between_again_, [&] {
      product(kAttention, scores);
      if (eager_) move(kAttention, elements * (2 + masked), 2);
      add(kAttention, "softmax.library", wide_, {{"rows", rows}, {"cols", keys}});
    });
    add_dropout(kAttention, rows, keys);
    forward(all_again_, [&] { product(kAttention, values); });
    // Each GEMM has two gradients; the softmax's gradient reads two arrays and writes one.
    backward([&] {
      product(kAttention, scores, 2);
      product(kAttention, values, 2);
      move(kAttention, elements * (eager_ ? 3 + 2 + masked : 3), eager_ ? 3 : 1);
    });
  }

  // Queries, keys and values are expanded from narrow vectors. Decoding instead multiplies queries
  // by the weights that expand the cache (DeepSeek-V2, arXiv 2405.04434, section 2.1.2).
  void add_latent_attention(const LatentAttention& latent) {
    const double heads = as_double(model_.heads) / tp_;
    const double key = latent.nope_dim + latent.rope_dim;
    const bool narrow = latent.query_rank > 0;
    if (narrow) linear(kProducts, tokens_, latent.query_rank, hidden_);
    linear(kProducts, tokens_, heads * key, narrow ? latent.query_rank : hidden_);
    linear(kProducts, tokens_, latent.kv_rank + latent.rope_dim, hidden_);
    between("rotary", "layer.rotary", tokens_, (heads + 1) * latent.rope_dim, form());
    if (task_.phase == Phase::decode) forward(false, [&] { add_latent_decode(latent, heads); });
    for (const Sequences& one : sequences()) {
      linear(kProducts, as_double(one.count * one.queries),
             heads * (latent.nope_dim + latent.value_dim), latent.kv_rank);
      // Attention with the mean of key and value widths has the same FLOPs.
      add_flash_attention(one, model_.heads, (key + latent.value_dim) / 2);
    }
    linear(kProducts, tokens_, hidden_, heads * latent.value_dim);
  }

  void add_latent_decode(const LatentAttention& latent, double heads) {
    const double batch = as_double(task_.batch), keys = as_double(task_.context);
    product(kProducts, {batch, latent.kv_rank, latent.nope_dim, heads});
    product(kProducts, {batch, latent.value_dim, latent.kv_rank, heads});
    product(kAttention, wide_, {heads, keys, latent.kv_rank + latent.rope_dim, batch});
    product(kAttention, wide_, {heads, latent.kv_rank, keys, batch, {}, "nn"});
  }
};

}  // namespace

void add_attention(const Composer& composer) {
  AttentionComposer(composer).compose();
}

}  // namespace roofcast::transformer
