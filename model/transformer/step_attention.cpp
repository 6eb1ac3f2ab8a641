#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "model/transformer/step_composer.hpp"
#include "model/transformer/step_layers.hpp"

namespace roofcast::transformer {
namespace {

class AttentionComposer : public Composer {
 public:
  using Composer::Composer;

  void compose() {
    section_ = Section::layer;
    kernels_.of_layers(0, model_.layers);
    if (model_.latent) {
      add_latent_attention(*model_.latent);
    } else {
      add_attention();
    }
  }

 private:
  // Fewer heads than GPUs lie on several each.
  std::int64_t kv_heads_of_gpu(std::int64_t heads) const {
    return std::max<std::int64_t>(1, heads / task_.tp);
  }

  void add_attention() {
    const double query = as_double(model_.heads * model_.head_dim) / tp();
    const double kv = as_double(kv_heads_of_gpu(model_.kv_heads) * model_.head_dim);
    linear("attention products", layers(), task_.tokens(), query + 2 * kv, hidden());
    if (model_.attention_biased) add_biases(layers(), task_.tokens() * (query + 2 * kv + hidden()));
    add_copies(query, kv);
    add_positions(query, kv);
    if (task_.dtype == DType::fp32) {
      for (const Sequences& one : sequences()) add_standard_attention(one);
    } else {
      add_flash_attention({model_.heads, model_.kv_heads, model_.head_dim}, sequences());
    }
    linear("attention products", layers(), task_.tokens(), hidden(), query);
  }

  // Normalized head by head and rotated where the model has that. Fused, one launch does it and
  // puts keys and values into the cache.
  void add_positions(double query, double kv) {
    const bool cached = model_.causal && !train_;
    const bool joined = model_.rotary && !eager();
    if (model_.head_norms && eager()) {
      between("norms", "layer.rmsnorm_plain", layers(),
              task_.tokens() * (query + kv) / as_double(model_.head_dim),
              as_double(model_.head_dim), std::array{form()});
    }
    if (model_.rotary) {
      between("rotary", "layer.rotary", layers(), task_.tokens(),
              query + (joined && cached ? 2 * kv : kv), std::array{form()});
    }
    if (!cached || joined) return;
    forward(false, [&] {
      one_pass("cache", "layer.cache_append", layers(), task_.tokens(), 2 * kv, "forward");
    });
  }

  // Eager code puts operands of products of scores head by head, and what they give token by token;
  // and joins the gradients of queries, keys and values.
  void add_copies(double query, double kv) {
    if (!eager()) return;
    const double copied = 2 * task_.tokens() * (query + 2 * kv);
    const double back = 2 * task_.tokens() * query;
    constexpr std::string_view kPart = "attention copies";
    if (task_.dtype == DType::fp32) {
      forward(between_again_, [&] { kernels_.move(kPart, layers(), copied + back, 4); });
    }
    backward([&] {
      kernels_.move(kPart, layers(), task_.dtype == DType::fp32 ? copied + back : copied, 4);
    });
  }

  struct FlashShape {
    std::int64_t heads, kv_heads, width;
  };

  /// Sequences alike, whose queries attend to keys.
  struct Sequences {
    std::int64_t count, queries, keys;
    bool causal;
  };

  std::vector<Sequences> prompts() const {
    const std::int64_t count = task_.phase == Phase::decode ? task_.prompts : task_.batch;
    if (count == 0) return {};
    return {{count, task_.seq, task_.seq, model_.causal}};
  }

  std::vector<Sequences> sequences() const {
    std::vector<Sequences> all = prompts();
    if (task_.phase == Phase::decode) all.push_back({task_.batch, 1, task_.context, false});
    return all;
  }

  void add_flash_attention(const FlashShape& shape, std::span<const Sequences> all) {
    for (const Sequences& one : all) {
      forward(all_again_, [&] { add_flash_pass("forward", shape, one); });
      backward([&] { add_flash_pass("backward", shape, one); });
    }
  }

  void add_flash_pass(std::string_view pass, const FlashShape& shape, const Sequences& all) {
    // PyTorch's scaled_dot_product_attention is FlashAttention-2.
    const std::array given = {Given{"batch", all.count},
                              Given{"library", 0, eager() && all.queries > 1 ? "fa2" : "best"},
                              Given{"heads", shape.heads / task_.tp},
                              Given{"kv_heads", kv_heads_of_gpu(shape.kv_heads)},
                              Given{"seq_q", all.queries},
                              Given{"seq_kv", all.keys},
                              Given{"head_dim", shape.width},
                              Given{"causal", 0, all.causal ? "yes" : "no"},
                              Given{"pass", 0, pass}};
    kernels_.add(kAttention, layers(), "attention.library", given);
  }

  // Scores in memory: two products, a softmax, and scaling and masking one by one (2 and 3 passes).
  void add_standard_attention(const Sequences& all) {
    const double batch = as_double(all.count * model_.heads) / tp();
    const double queries = as_double(all.queries), keys = as_double(all.keys);
    const double dim = as_double(model_.head_dim);
    const double scores = batch * queries * keys;
    const std::array rows = {Given{"rows", static_cast<std::int64_t>(batch * queries)},
                             Given{"cols", static_cast<std::int64_t>(keys)}};
    const double masked = model_.causal ? 3 : 2;
    forward(between_again_, [&] {
      kernels_.product(kAttention, layers(), queries, keys, dim, batch);
      if (eager()) kernels_.move(kAttention, layers(), scores * (2 + masked), 2);
      kernels_.add(kAttention, layers(), "softmax.library", rows);
    });
    add_dropout(kAttention, layers(), batch * queries, keys);
    forward(all_again_, [&] { kernels_.product(kAttention, layers(), queries, dim, keys, batch); });
    // Each product has two gradients; that of the softmax reads two arrays and writes one.
    backward([&] {
      kernels_.product(kAttention, 2 * layers(), queries, keys, dim, batch);
      kernels_.product(kAttention, 2 * layers(), queries, dim, keys, batch);
      kernels_.move(kAttention, layers(), scores * (eager() ? 3 + 2 + masked : 3), eager() ? 3 : 1);
    });
  }

  // Queries, keys and values come out of narrow vectors. Decoding multiplies queries with the
  // weights that would widen the cache instead (DeepSeek-V2, arXiv 2405.04434, section 2.1.2).
  void add_latent_attention(const LatentAttention& latent) {
    constexpr std::string_view kPart = "attention products";
    const double heads = as_double(model_.heads) / tp();
    const double key = latent.nope_dim + latent.rope_dim, tokens = task_.tokens();
    if (latent.query_rank > 0) linear(kPart, layers(), tokens, latent.query_rank, hidden());
    linear(kPart, layers(), tokens, heads * key,
           latent.query_rank > 0 ? latent.query_rank : hidden());
    linear(kPart, layers(), tokens, latent.kv_rank + latent.rope_dim, hidden());
    between("rotary", "layer.rotary", layers(), tokens, (heads + 1) * latent.rope_dim,
            std::array{form()});
    if (task_.phase == Phase::decode) forward(false, [&] { add_latent_decode(latent, heads); });
    for (const Sequences& one : prompts()) {
      linear(kPart, layers(), as_double(one.count * one.queries),
             heads * (latent.nope_dim + latent.value_dim), latent.kv_rank);
      // A width between keys and values has the FLOPs of both.
      add_flash_attention({model_.heads, model_.heads, whole((key + latent.value_dim) / 2)},
                          std::array{one});
    }
    linear(kPart, layers(), tokens, hidden(), heads * latent.value_dim);
  }

  void add_latent_decode(const LatentAttention& latent, double heads) {
    const double batch = as_double(task_.batch), keys = as_double(task_.context);
    kernels_.product("attention products", layers(), batch, latent.kv_rank, latent.nope_dim, heads);
    kernels_.product("attention products", layers(), batch, latent.value_dim, latent.kv_rank,
                     heads);
    kernels_.wide_product(kAttention, layers(), heads, keys, latent.kv_rank + latent.rope_dim,
                          batch);
    kernels_.wide_product(kAttention, layers(), heads, latent.kv_rank, keys, batch);
  }
};

}  // namespace

void add_attention(const Architecture& model, const Task& task, StepKernels& kernels) {
  AttentionComposer(model, task, kernels).compose();
}

}  // namespace roofcast::transformer
