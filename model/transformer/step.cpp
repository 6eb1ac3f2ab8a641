#include "model/transformer/step.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "model/laws/peaks.hpp"
#include "model/transformer/collective.hpp"
#include "model/transformer/step_kernels.hpp"
#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

double real(std::int64_t count) {
  return static_cast<double>(count);
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

constexpr std::string_view kAttention = "attention";

class Composer {
 public:
  Composer(const Architecture& model, const Task& task, const Gpu& gpu)
      : model_(model),
        task_(task),
        moves_(task.framework == Framework::eager ? kEager : kFused),
        kernels_(gpu, task.dtype),
        train_(task.phase == Phase::train) {}

  std::vector<StepPart> parts() {
    add_attention();
    add_feed_forward();
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
    add_flash_attention("forward", layers() * forwards());
    if (train_) add_flash_attention("backward", layers());
  }

  void add_flash_attention(std::string_view pass, double times) {
    const bool decode = task_.phase == Phase::decode;
    // PyTorch's scaled_dot_product_attention is FlashAttention-2.
    const bool eager = task_.framework == Framework::eager && !decode;
    const std::array given = {Given{"batch", task_.batch},
                              Given{"library", 0, eager ? "fa2" : "best"},
                              Given{"heads", model_.heads / task_.tp},
                              Given{"kv_heads", model_.kv_heads / task_.tp},
                              Given{"seq_q", decode ? 1 : task_.seq},
                              Given{"seq_kv", decode ? task_.context : task_.seq},
                              Given{"head_dim", model_.head_dim},
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

  void add_feed_forward() {
    const double inner = real(model_.intermediate) / tp();
    const double hidden = real(model_.hidden);
    const double up = model_.gated ? 2 * inner : inner;
    linear("feed-forward products", layers(), forwards(), task_.tokens(), up, hidden);
    linear("feed-forward products", layers(), forwards(), task_.tokens(), hidden, inner);
    move("activation", model_.gated ? moves_.gate : moves_.activation, layers(),
         task_.tokens() * inner);
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
    const double rows = train_ ? task_.tokens() : real(task_.batch);
    linear("vocabulary product", passes(), 1, rows, vocabulary, hidden);
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
    const double share = count_parameters(model_).total / tp() / real(task_.fsdp);
    kernels_.move("optimizer", 1, share * 7 * sizeof(float) / size_bytes(task_.dtype));
  }

  const Architecture& model_;
  const Task& task_;
  const Movements& moves_;
  StepKernels kernels_;
  bool train_;
};

void add_collective(StepPart& part, double times, Collective collective, double bytes, double gpus,
                    const Gpu& gpu) {
  if (gpus < 2 || times <= 0) return;
  const CollectiveForecast one = predict_collective(collective, bytes, gpus, gpu);
  part.time_s += times * one.expected_s;
  part.low_s += times * one.low_s;
  part.high_s += times * one.high_s;
}

// Sums of partial results between the products of a layer: nothing hides them.
StepPart tensor_parallel(const Architecture& model, const Task& task, const Gpu& gpu) {
  StepPart part{"tensor-parallel sums", 0, 0, 0, "link"};
  const bool train = task.phase == Phase::train;
  const double passes = train ? real(task.grad_accum) * (task.checkpointing ? 3 : 2) : 1;
  add_collective(part, 2 * passes * real(model.layers), Collective::all_reduce,
                 task.tokens() * real(model.hidden) * size_bytes(task.dtype), real(task.tp), gpu);
  return part;
}

// Gradients and weights, layer by layer beside the arithmetic.
StepPart data_parallel(const Architecture& model, const Task& task, const Gpu& gpu) {
  StepPart part{"gradients and weights between GPUs", 0, 0, 0, "link"};
  const double passes = task.phase == Phase::train ? real(task.grad_accum) : 1;
  const double layers = real(model.layers);
  const double bytes =
      count_parameters(model).total / real(task.tp) / layers * size_bytes(task.dtype);
  const double gpus = real(task.fsdp);
  if (task.phase == Phase::train) {
    add_collective(part, 2 * passes * layers, Collective::all_gather, bytes, gpus, gpu);
    add_collective(part, passes * layers, Collective::reduce_scatter, bytes, gpus, gpu);
    add_collective(part, layers, Collective::all_reduce, bytes / gpus, real(task.dp), gpu);
  } else {
    add_collective(part, layers, Collective::all_gather, bytes, gpus, gpu);
  }
  return part;
}

double sum_of(const std::vector<StepPart>& parts) {
  double sum = 0;
  for (const StepPart& part : parts) sum += part.time_s;
  return sum;
}

StepPart scaled(StepPart part, double share) {
  part.time_s *= share;
  part.low_s *= share;
  part.high_s *= share;
  return part;
}

// Nothing was fitted to other steps: hooks of each layer are those of FSDP, the attention is flash.
bool has_software(const Task& task) {
  return task.framework == Framework::eager && task.phase == Phase::train && task.fsdp > 1 &&
         task.dtype != DType::fp32;
}

void add_software(Step& step, const Architecture& model, const Task& task,
                  const SoftwareConstants& software) {
  if (task.framework == Framework::ideal) return;
  if (!has_software(task)) {
    step.notes.emplace_back(
        "without what software adds: it was measured for eager FSDP training in 16 bits alone");
    return;
  }
  const double passes = real(task.grad_accum) * (task.checkpointing ? 3 : 2);
  double time_s = software.layer_s * passes * real(model.layers);
  for (const StepPart& part : step.parts) {
    if (part.name == kAttention) time_s += software.attention_share * part.time_s;
  }
  if (time_s > 0) step.parts.push_back({"software", time_s, time_s / 2, time_s * 1.5, "host"});
}

void total(Step& step, const Architecture& model, const Task& task, const Gpu& gpu) {
  for (const StepPart& part : step.parts) {
    step.expected_s += part.time_s;
    step.low_s += part.low_s;
    step.high_s += part.high_s;
  }
  const double passes = task.phase == Phase::train ? real(task.grad_accum) : 1;
  const double tokens = passes * task.tokens() * real(task.dp * task.fsdp);
  step.tokens_per_s = tokens / step.expected_s;
  const double keys = real(task.phase == Phase::decode ? task.context : task.seq);
  const double flops =
      training_flops_per_token(model, keys) * (task.phase == Phase::train ? 1 : 1.0 / 3);
  const auto clock = gpu.clocks.tensor_boost_hz;
  const auto tensor = clock ? tensor_peak_flops_per_s(gpu, task.dtype, *clock) : std::nullopt;
  const auto vector = gpu.clocks.vector_boost_hz
                          ? vector_peak_flops_per_s(gpu, task.dtype, *gpu.clocks.vector_boost_hz)
                          : std::nullopt;
  if (const auto peak = tensor ? tensor : vector) {
    step.mfu = step.tokens_per_s * flops / (*peak * task.gpus());
  }
}

}  // namespace

Step predict_step(const Architecture& model, const Task& task, const Gpu& gpu,
                  const SoftwareConstants& software) {
  check(model, task);
  if (model.experts || model.latent) {
    throw InputError(
        "steps of models with experts or latent attention are not forecast: ask for their "
        "parameters and memory alone");
  }
  Step step;
  step.parts = Composer(model, task, gpu).parts();
  add_software(step, model, task, software);
  const double compute_s = sum_of(step.parts);
  StepPart sums = tensor_parallel(model, task, gpu);
  if (sums.time_s > 0) step.parts.push_back(std::move(sums));
  StepPart beside = data_parallel(model, task, gpu);
  if (beside.time_s > 0) {
    const double hidden = std::min(1.0, compute_s / beside.time_s);
    const double least = has_software(task) ? software.exposed : 0;
    const double shown = std::max(1 - hidden, least);
    if (shown > 0) step.parts.push_back(scaled(std::move(beside), shown));
  }
  total(step, model, task, gpu);
  return step;
}

}  // namespace roofcast::transformer
