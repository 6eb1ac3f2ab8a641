#include <algorithm>
#include <array>

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
    const double query = real(model_.heads * model_.head_dim) / tp();
    const double kv = real(kv_heads_of_gpu(model_.kv_heads) * model_.head_dim);
    const double hidden = real(model_.hidden);
    linear("attention products", layers(), task_.tokens(), query + 2 * kv, hidden);
    if (model_.attention_biased) add_biases(layers(), task_.tokens() * (query + 2 * kv + hidden));
    add_copies(query, kv);
    if (model_.rotary) move("rotary", moves_.rotary, layers(), task_.tokens() * (query + kv));
    if (task_.dtype == DType::fp32) {
      add_standard_attention();
    } else {
      add_flash_attention({model_.heads, model_.kv_heads, model_.head_dim});
    }
    linear("attention products", layers(), task_.tokens(), hidden, query);
  }

  // Eager code puts operands of products of scores head by head, and what they give token by token; and
  // joins the gradients of queries, keys and values.
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

  void add_flash_attention(const FlashShape& shape) {
    forward(all_again_, [&] { add_flash_pass("forward", shape); });
    backward([&] { add_flash_pass("backward", shape); });
  }

  void add_flash_pass(std::string_view pass, const FlashShape& shape) {
    const bool decode = task_.phase == Phase::decode;
    // PyTorch's scaled_dot_product_attention is FlashAttention-2.
    const std::array given = {Given{"batch", task_.batch},
                              Given{"library", 0, eager() && !decode ? "fa2" : "best"},
                              Given{"heads", shape.heads / task_.tp},
                              Given{"kv_heads", kv_heads_of_gpu(shape.kv_heads)},
                              Given{"seq_q", decode ? 1 : task_.seq},
                              Given{"seq_kv", decode ? task_.context : task_.seq},
                              Given{"head_dim", shape.width},
                              Given{"causal", 0, model_.causal && !decode ? "yes" : "no"},
                              Given{"pass", 0, pass}};
    kernels_.add(kAttention, layers(), "attention.library", given);
  }

  // Scores in memory: two products, a softmax, and scaling and masking one by one (2 and 3 passes).
  void add_standard_attention() {
    const double batch = real(task_.batch * model_.heads) / tp();
    const double queries = task_.phase == Phase::decode ? 1 : real(task_.seq);
    const double keys = real(task_.phase == Phase::decode ? task_.context : task_.seq);
    const double dim = real(model_.head_dim);
    const double scores = batch * queries * keys;
    const std::array rows = {Given{"rows", static_cast<std::int64_t>(batch * queries)},
                             Given{"cols", static_cast<std::int64_t>(keys)}};
    const double masked = model_.causal ? 3 : 2;
    forward(between_again_, [&] {
      kernels_.product(kAttention, layers(), queries, keys, dim, batch);
      if (eager()) kernels_.move(kAttention, layers(), scores * (2 + masked), 2);
      kernels_.add(kAttention, layers(), "softmax.library", rows);
    });
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
    const double hidden = real(model_.hidden), heads = real(model_.heads) / tp();
    const double key = latent.nope_dim + latent.rope_dim, tokens = task_.tokens();
    if (latent.query_rank > 0) linear(kPart, layers(), tokens, latent.query_rank, hidden);
    linear(kPart, layers(), tokens, heads * key,
           latent.query_rank > 0 ? latent.query_rank : hidden);
    linear(kPart, layers(), tokens, latent.kv_rank + latent.rope_dim, hidden);
    move("rotary", moves_.rotary, layers(), tokens * (heads + 1) * latent.rope_dim);
    if (task_.phase == Phase::decode) {
      forward(false, [&] { add_latent_decode(latent, heads); });
    } else {
      linear(kPart, layers(), tokens, heads * (latent.nope_dim + latent.value_dim), latent.kv_rank);
      // A width between keys and values has the FLOPs of both.
      add_flash_attention({model_.heads, model_.heads, whole((key + latent.value_dim) / 2)});
    }
    linear(kPart, layers(), tokens, hidden, heads * latent.value_dim);
  }

  void add_latent_decode(const LatentAttention& latent, double heads) {
    const double batch = real(task_.batch), keys = real(task_.context);
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
