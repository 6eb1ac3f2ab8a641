#include "model/transformer/task.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

void check_divides(std::string_view key, std::string_view what, std::int64_t count,
                   std::int64_t gpus) {
  if (count % gpus == 0) return;
  throw InputError("'" + std::string(key) + "' " + std::to_string(gpus) + " does not divide the " +
                   std::to_string(count) + " " + std::string(what) + ": give a divisor");
}

// Elements that one layer keeps for each token: the inputs of its norms and products, queries,
// keys, values, and what the activation reads. Shared among tp GPUs but for the layer's width.
double kept_elements(const Architecture& model, double tp) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto heads = static_cast<double>(model.heads);
  const auto query = model.latent ? heads * (model.latent->nope_dim + model.latent->rope_dim)
                                  : static_cast<double>(model.heads * model.head_dim);
  const auto kv = model.latent ? heads * (model.latent->nope_dim + model.latent->value_dim) / 2
                               : static_cast<double>(model.kv_heads * model.head_dim);
  const double width = model.experts ? (model.experts->per_token + model.experts->shared) *
                                           model.experts->intermediate
                                     : static_cast<double>(model.intermediate);
  const double inner = width * (model.gated ? 3 : 2);
  return 4 * hidden + (2 * query + 2 * kv + inner) / tp;
}

double activations(const Architecture& model, const Task& task) {
  const double element = task.activation_bytes();
  const auto tp = static_cast<double>(task.tp);
  // The first stage holds what the micro-batches before the first gradients need.
  const auto layers = static_cast<double>(model.layers) / static_cast<double>(task.pp) *
                      static_cast<double>(std::min(task.pp, task.grad_accum));
  const double layer = kept_elements(model, tp) * element * task.tokens();
  const double input = static_cast<double>(model.hidden) * element * task.tokens();
  // Logits and their fp32 copy, of a decoder's last product.
  const double logits =
      model.pooled ? 0 : static_cast<double>(model.vocabulary) / tp * (element + sizeof(float));
  if (task.phase != Phase::train) {
    return layer + logits * (task.all_logits ? task.tokens() : static_cast<double>(task.batch));
  }
  const double kept = task.checkpointing ? layers * input + layer : layers * layer;
  return kept + logits * task.tokens();
}

}  // namespace

ExpertGroup expert_group(const Task& task) {
  if ((task.dp * task.fsdp) % task.ep == 0) return {task.ep, task.tp};
  return {1, task.tp / task.ep};
}

double parameters_of_experts(const Architecture& model) {
  if (!model.experts || model.experts->count <= model.experts->per_token) return 0;
  const ParameterCounts counts = count_parameters(model);
  const Experts& experts = *model.experts;
  return (static_cast<double>(model.layers) - experts.dense_layers) *
         (counts.expert_layer - counts.active_expert_layer) * experts.count /
         (experts.count - experts.per_token);
}

double parameters_of_gpu(const Architecture& model, const Task& task) {
  const ParameterCounts counts = count_parameters(model);
  const auto tp = static_cast<double>(task.tp), fsdp = static_cast<double>(task.fsdp);
  const auto pp = static_cast<double>(task.pp);
  const double experts = parameters_of_experts(model);
  const auto copies = static_cast<double>(expert_group(task).copies);
  const double both_ends = counts.embeddings + counts.head;
  const auto vocabulary = static_cast<double>(model.vocabulary * model.hidden);
  const double last = model.tied ? vocabulary : counts.head;
  const double ends = task.pp > 1 ? std::max(counts.embeddings, last) : both_ends;
  const double layers = (counts.total - experts - both_ends) / pp;
  return (layers + ends) / (tp * fsdp) + experts / pp / (tp * std::max(fsdp, copies));
}

namespace {

void check_experts(const Architecture& model, const Task& task) {
  if (!model.experts) {
    if (task.ep > 1) throw InputError("'ep' is for models with experts: leave it out");
    return;
  }
  if ((task.dp * task.fsdp) % task.ep != 0 && task.tp % task.ep != 0) {
    throw InputError("'ep' " + std::to_string(task.ep) +
                     " divides neither dp times fsdp nor tp: give a divisor of one");
  }
  check_divides("ep", "experts", static_cast<std::int64_t>(model.experts->count), task.ep);
  check_divides("tp", "elements of an expert's width",
                static_cast<std::int64_t>(model.experts->intermediate), expert_group(task).shares);
}

void check_stages(const Architecture& model, const Task& task) {
  if (task.pp > 1 && task.phase != Phase::train) {
    throw InputError("'pp' goes with train: other steps pass all stages one after the other");
  }
  check_divides("pp", "layers", model.layers, task.pp);
}

void check_type(const Task& task) {
  constexpr std::array kTypes = {DType::bf16, DType::fp16, DType::fp32, DType::fp8};
  if (std::find(kTypes.begin(), kTypes.end(), task.dtype) == kTypes.end()) {
    throw InputError("'dtype' of a step is bf16, fp16, fp32 or fp8");
  }
  if (task.dtype == DType::fp8 && task.phase == Phase::train) {
    throw InputError("'dtype' of a training step is bf16, fp16 or fp32");
  }
}

}  // namespace

void check(const Architecture& model, const Task& task) {
  check_type(task);
  check_divides("tp", "attention heads", model.heads, task.tp);
  check_divides("tp", "key and value heads", model.kv_heads, task.tp);
  check_divides("tp", "elements of intermediate_size", model.intermediate, task.tp);
  check_experts(model, task);
  check_stages(model, task);
  if (task.phase == Phase::decode && !model.causal) {
    throw InputError("'decode' asks for a decoder, and this model is an encoder");
  }
}

Memory memory(const Architecture& model, const Task& task) {
  const double element = size_bytes(task.dtype);
  const double share = parameters_of_gpu(model, task);
  Memory result;
  result.weights = share * element;
  if (task.dtype == DType::fp8) {  // vectors and the vocabulary's product keep 16 bits
    const ParameterCounts counts = count_parameters(model);
    const auto gpus = static_cast<double>(task.tp * task.fsdp);
    result.weights +=
        (counts.embeddings + counts.head) / gpus * (task.activation_bytes() - element);
  }
  result.activations = activations(model, task);
  if (task.phase == Phase::train) {
    result.gradients = share * element;
    result.optimizer = share * (element < sizeof(float) ? 3 : 2) * sizeof(float);
  } else {
    const auto tokens =
        static_cast<double>(task.batch * (task.phase == Phase::decode ? task.context : task.seq));
    // Latent keys and values are every GPU's; heads are shared.
    const double shared = model.latent ? 1 : static_cast<double>(task.tp);
    result.cache =
        model.causal ? cache_bytes_per_token(model, task.activation_bytes()) * tokens / shared : 0;
  }
  return result;
}

std::int64_t largest_batch(const Architecture& model, Task task, double bytes) {
  std::int64_t fits = 0;
  std::int64_t most = std::int64_t{1} << 30;
  while (fits < most) {
    task.batch = fits + (most - fits + 1) / 2;
    if (memory(model, task).total() <= bytes) {
      fits = task.batch;
    } else {
      most = task.batch - 1;
    }
  }
  return fits;
}

}  // namespace roofcast::transformer
