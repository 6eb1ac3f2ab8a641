#include "model/transformer/task.hpp"

#include <algorithm>
#include <string>

#include "model/types/problem.hpp"

namespace roofcast::transformer {
namespace {

void check_divides(std::string_view what, std::int64_t count, std::int64_t tp) {
  if (count % tp == 0) return;
  throw InputError("'tp' " + std::to_string(tp) + " does not divide the " + std::to_string(count) +
                   " " + std::string(what) + ": give a divisor");
}

// Elements that one layer keeps for each token: the inputs of its norms and products, queries, keys,
// values, and what the activation reads. Shared among tp GPUs but for the layer's width.
double kept_elements(const Architecture& model, double tp) {
  const auto hidden = static_cast<double>(model.hidden);
  const auto query = static_cast<double>(model.heads * model.head_dim);
  const auto kv = static_cast<double>(model.kv_heads * model.head_dim);
  const double inner = static_cast<double>(model.intermediate) * (model.gated ? 3 : 2);
  return 4 * hidden + (2 * query + 2 * kv + inner) / tp;
}

double activations(const Architecture& model, const Task& task) {
  const double element = size_bytes(task.dtype);
  const auto tp = static_cast<double>(task.tp);
  const auto layers = static_cast<double>(model.layers);
  const double layer = kept_elements(model, tp) * element * task.tokens();
  const double input = static_cast<double>(model.hidden) * element * task.tokens();
  // Logits and their fp32 copy, of a decoder's last product.
  const double logits =
      model.pooled ? 0 : static_cast<double>(model.vocabulary) / tp * (element + sizeof(float));
  if (task.phase != Phase::train) {
    return layer + logits * static_cast<double>(task.batch);  // of the last token alone
  }
  const double kept = task.checkpointing ? layers * input + layer : layers * layer;
  return kept + logits * task.tokens();
}

}  // namespace

void check(const Architecture& model, const Task& task) {
  if (task.dtype != DType::bf16 && task.dtype != DType::fp16 && task.dtype != DType::fp32) {
    throw InputError("'dtype' of a step is bf16, fp16 or fp32");
  }
  check_divides("attention heads", model.heads, task.tp);
  check_divides("key and value heads", model.kv_heads, task.tp);
  check_divides("elements of intermediate_size", model.intermediate, task.tp);
  if (task.phase == Phase::decode && !model.causal) {
    throw InputError("'decode' asks for a decoder, and this model is an encoder");
  }
}

Memory memory(const Architecture& model, const Task& task) {
  const double element = size_bytes(task.dtype);
  const double share = count_parameters(model).total / static_cast<double>(task.tp * task.fsdp);
  Memory result;
  result.weights = share * element;
  result.activations = activations(model, task);
  if (task.phase == Phase::train) {
    result.gradients = share * element;
    result.optimizer = share * (element < sizeof(float) ? 3 : 2) * sizeof(float);
  } else {
    const auto tokens =
        static_cast<double>(task.batch * (task.phase == Phase::decode ? task.context : task.seq));
    // Latent keys and values are every GPU's; heads are shared.
    const double shared = model.latent ? 1 : static_cast<double>(task.tp);
    result.cache = model.causal ? cache_bytes_per_token(model, element) * tokens / shared : 0;
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
