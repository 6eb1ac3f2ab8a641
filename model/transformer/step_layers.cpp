#include "model/transformer/step_layers.hpp"

#include <algorithm>
#include <array>

#include "model/transformer/step_kernels.hpp"
#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

double real(std::int64_t count) {
  return static_cast<double>(count);
}

std::int64_t whole(double count) {
  return static_cast<std::int64_t>(count);
}

// Elements that kernels between products read and write, in arrays of the width they work on.
struct Moved {
  double passes;
  double launches;
};
struct Movement {
  Moved forward;
  Moved backward;
};
struct Movements {
  Movement residual;    ///< of hidden, each of two
  Movement activation;  ///< of the inner width
  Movement gate;        ///< the same with a gate
  Movement rotary;      ///< of queries and keys
  double loss_bytes;    ///< of a logit of 16 bits: fp32 copy, log-softmax, and back
};

// PyTorch's kernels one by one: add (2 in, 1 out); GELU (1, 1), backward (2, 1); SiLU and product
// (1, 1 and 2, 1), backward (2, 1 and 3, 2); rotate, two products and a sum for queries and keys.
constexpr Movements kEager = {
    {{3, 1}, {3, 1}}, {{2, 1}, {3, 1}}, {{5, 2}, {8, 2}}, {{8, 4}, {8, 4}}, 28};
// One kernel each, the sums within the norms' kernels.
constexpr Movements kFused = {
    {{1, 1}, {1, 1}}, {{2, 1}, {3, 1}}, {{3, 1}, {5, 1}}, {{2, 1}, {2, 1}}, 6};

class Composer {
 public:
  Composer(const Architecture& model, const Task& task, const Gpu& gpu)
      : model_(model),
        task_(task),
        moves_(task.framework == Framework::eager ? kEager : kFused),
        kernels_(gpu, task.dtype),
        train_(task.phase == Phase::train) {}

  std::vector<StepPart> parts() {
    if (model_.latent) {
      add_latent_attention(*model_.latent);
    } else {
      add_attention();
    }
    add_dense(dense_layers(), real(model_.intermediate));
    if (model_.experts) add_experts(*model_.experts);
    add_between();
    add_ends();
    if (train_) add_optimizer();
    return kernels_.parts();
  }

 private:
  double passes() const { return train_ ? real(task_.grad_accum) : 1; }
  double layers() const { return passes() * real(model_.layers); }
  double forwards() const { return train_ && task_.checkpointing ? 2 : 1; }
  double tp() const { return real(task_.tp); }

  // Forward, and the gradients of its input and of its weights.
  void linear(std::string_view part, double times, double forwards, double tokens, double n,
              double k) {
    kernels_.product(part, times * forwards, tokens, n, k);
    if (!train_) return;
    kernels_.product(part, times, tokens, k, n);
    kernels_.product(part, times, k, n, tokens);
  }

  void move(std::string_view part, const Movement& movement, double times, double elements) {
    kernels_.move(part, times * forwards(), elements * movement.forward.passes,
                  movement.forward.launches);
    if (!train_) return;
    kernels_.move(part, times, elements * movement.backward.passes, movement.backward.launches);
  }

  void add_attention() {
    const double query = real(model_.heads * model_.head_dim) / tp();
    const double kv = real(model_.kv_heads * model_.head_dim) / tp();
    const double hidden = real(model_.hidden);
    linear("attention products", layers(), forwards(), task_.tokens(), query + 2 * kv, hidden);
    linear("attention products", layers(), forwards(), task_.tokens(), hidden, query);
    if (model_.rotary) move("rotary", moves_.rotary, layers(), task_.tokens() * (query + kv));
    if (task_.dtype == DType::fp32) return add_standard_attention();
    const FlashShape shape{model_.heads, model_.kv_heads, model_.head_dim};
    add_flash_attention("forward", layers() * forwards(), shape);
    if (train_) add_flash_attention("backward", layers(), shape);
  }

  struct FlashShape {
    std::int64_t heads, kv_heads, width;
  };

  void add_flash_attention(std::string_view pass, double times, const FlashShape& shape) {
    const bool decode = task_.phase == Phase::decode;
    // PyTorch's scaled_dot_product_attention is FlashAttention-2.
    const bool eager = task_.framework == Framework::eager && !decode;
    const std::array given = {Given{"batch", task_.batch},
                              Given{"library", 0, eager ? "fa2" : "best"},
                              Given{"heads", shape.heads / task_.tp},
                              Given{"kv_heads", shape.kv_heads / task_.tp},
                              Given{"seq_q", decode ? 1 : task_.seq},
                              Given{"seq_kv", decode ? task_.context : task_.seq},
                              Given{"head_dim", shape.width},
                              Given{"causal", 0, model_.causal && !decode ? "yes" : "no"},
                              Given{"pass", 0, pass}};
    kernels_.add(kAttention, times, "attention.library", given);
  }

  // Scores in memory: two products, a softmax, and scaling and masking one by one (2 and 3 passes).
  void add_standard_attention() {
    const double batch = real(task_.batch * model_.heads) / tp();
    const double queries = task_.phase == Phase::decode ? 1 : real(task_.seq);
    const double keys = real(task_.phase == Phase::decode ? task_.context : task_.seq);
    const double dim = real(model_.head_dim);
    const double scores = batch * queries * keys;
    kernels_.product(kAttention, layers() * forwards(), queries, keys, dim, batch);
    kernels_.product(kAttention, layers() * forwards(), queries, dim, keys, batch);
    const std::array rows = {Given{"rows", static_cast<std::int64_t>(batch * queries)},
                             Given{"cols", static_cast<std::int64_t>(keys)}};
    kernels_.add(kAttention, layers() * forwards(), "softmax.library", rows);
    const bool eager = task_.framework == Framework::eager;
    const double masked = model_.causal ? 3 : 2;
    if (eager) kernels_.move(kAttention, layers() * forwards(), scores * (2 + masked), 2);
    if (!train_) return;
    // Each product has two gradients; that of the softmax reads two arrays and writes one.
    kernels_.product(kAttention, 2 * layers(), queries, keys, dim, batch);
    kernels_.product(kAttention, 2 * layers(), queries, dim, keys, batch);
    kernels_.move(kAttention, layers(), scores * (eager ? 3 + 2 + masked : 3), eager ? 3 : 1);
  }

  // Queries, keys and values come out of narrow vectors. Decoding multiplies queries with the
  // weights that would widen the cache instead (DeepSeek-V2, arXiv 2405.04434, section 2.1.2).
  void add_latent_attention(const LatentAttention& latent) {
    constexpr std::string_view kPart = "attention products";
    const double hidden = real(model_.hidden), heads = real(model_.heads) / tp();
    const double key = latent.nope_dim + latent.rope_dim, tokens = task_.tokens();
    if (latent.query_rank > 0)
      linear(kPart, layers(), forwards(), tokens, latent.query_rank, hidden);
    linear(kPart, layers(), forwards(), tokens, heads * key,
           latent.query_rank > 0 ? latent.query_rank : hidden);
    linear(kPart, layers(), forwards(), tokens, latent.kv_rank + latent.rope_dim, hidden);
    linear(kPart, layers(), forwards(), tokens, hidden, heads * latent.value_dim);
    move("rotary", moves_.rotary, layers(), tokens * (heads + 1) * latent.rope_dim);
    if (task_.phase == Phase::decode) return add_latent_decode(latent, heads);
    linear(kPart, layers(), forwards(), tokens, heads * (latent.nope_dim + latent.value_dim),
           latent.kv_rank);
    // A width between keys and values has the FLOPs of both.
    const auto width = whole((key + latent.value_dim) / 2);
    const FlashShape shape{model_.heads, model_.heads, width};
    add_flash_attention("forward", layers() * forwards(), shape);
    if (train_) add_flash_attention("backward", layers(), shape);
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

  double dense_layers() const {
    return passes() * (model_.experts ? model_.experts->dense_layers : real(model_.layers));
  }

  void add_dense(double layers, double width) {
    if (layers <= 0 || width <= 0) return;
    const double inner = width / tp(), hidden = real(model_.hidden);
    const double up = model_.gated ? 2 * inner : inner;
    linear("feed-forward products", layers, forwards(), task_.tokens(), up, hidden);
    linear("feed-forward products", layers, forwards(), task_.tokens(), hidden, inner);
    move("activation", model_.gated ? moves_.gate : moves_.activation, layers,
         task_.tokens() * inner);
  }

  // The gradients of the input and of the weights take a pass each.
  void add_experts(const Experts& experts) {
    const double layers = this->layers() - dense_layers();
    const ExpertGroup group = expert_group(task_);
    kernels_.wide_product("router", layers * (train_ ? forwards() + 2 : 1), task_.tokens(),
                          experts.count, real(model_.hidden));
    const std::array given = {Given{"tokens", whole(task_.tokens()) * group.copies},
                              Given{"hidden", model_.hidden},
                              Given{"intermediate", whole(experts.intermediate) / group.shares},
                              Given{"experts", whole(experts.count)},
                              Given{"per_token", whole(experts.per_token)},
                              Given{"ep", task_.ep}};
    kernels_.add_narrow("experts", layers * (train_ ? forwards() + 2 : 1), "moe.library", given);
    add_dense(layers, experts.shared * experts.intermediate);
  }

  void add_between() {
    const std::array rows = {Given{"rows", static_cast<std::int64_t>(task_.tokens())},
                             Given{"cols", model_.hidden},
                             Given{"kind", 0, model_.rms_norm ? "rmsnorm" : "layernorm"}};
    const double norms = 2 * layers() + passes();
    const double elements = task_.tokens() * real(model_.hidden);
    kernels_.add("norms", norms * forwards(), "norm.library", rows);
    if (train_) kernels_.move("norms", norms, 3 * elements);  // x and dy in, dx out
    move("residuals", moves_.residual, 2 * layers(), elements);
  }

  void add_ends() {
    const double hidden = real(model_.hidden);
    kernels_.move("embedding", passes(), 2 * task_.tokens() * hidden);
    if (train_) kernels_.move("embedding", passes(), 3 * task_.tokens() * hidden);
    if (model_.pooled) return;
    const double vocabulary = real(model_.vocabulary) / tp();
    const double rows = train_ || task_.all_logits ? task_.tokens() : real(task_.batch);
    if (task_.dtype == DType::fp8) {
      kernels_.wide_product("vocabulary product", passes(), rows, vocabulary, hidden);
    } else {
      linear("vocabulary product", passes(), 1, rows, vocabulary, hidden);
    }
    if (train_) {
      const bool whole = task_.dtype == DType::fp32;  // no copy to fp32 and back: 12 B less
      const double bytes = whole && task_.framework == Framework::eager ? 20
                           : whole                                      ? 12
                                                                        : moves_.loss_bytes;
      kernels_.move("loss", passes(), rows * vocabulary * bytes / size_bytes(task_.dtype));
    }
  }

  // AdamW in fp32: weights, gradients and two moments in, all but the gradients out.
  void add_optimizer() {
    const double share = parameters_of_gpu(model_, task_);
    kernels_.move(kOptimizer, 1, share * 7 * sizeof(float) / size_bytes(task_.dtype));
  }

  const Architecture& model_;
  const Task& task_;
  const Movements& moves_;
  StepKernels kernels_;
  bool train_;
};

}  // namespace

std::vector<StepPart> parts_of_layers(const Architecture& model, const Task& task, const Gpu& gpu) {
  return Composer(model, task, gpu).parts();
}

}  // namespace roofcast::transformer
