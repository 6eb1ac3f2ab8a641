#include "validation/profiles/operations.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "model/described/kernel.hpp"

namespace roofcast::validation {
namespace {

std::optional<DType> dtype_of(const TensorShape& tensor) {
  struct Named {
    std::string_view pytorch;
    DType type;
  };
  constexpr std::array kTypes = {Named{"c10::BFloat16", DType::bf16},
                                 Named{"c10::Half", DType::fp16}, Named{"float", DType::fp32},
                                 Named{"double", DType::fp64}};
  for (const Named& one : kTypes) {
    if (tensor.type == one.pytorch) return one.type;
  }
  return std::nullopt;
}

double bytes_of(const TensorShape& tensor) {
  double elements = 1;
  for (const std::int64_t dim : tensor.dims) elements *= static_cast<double>(dim);
  const auto type = dtype_of(tensor);
  constexpr double kIndex = 8;
  return elements * (type ? size_bytes(*type) : tensor.type == "long int" ? kIndex : 1);
}

void set(const KernelRef& kernel, Problem& problem, std::string_view name, std::int64_t value) {
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) problem[i] = value;
  }
}

Problem with_fallbacks(const KernelRef& kernel, DType dtype) {
  Problem problem;
  problem.dtype = dtype;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    problem[i] = parameters[i].fallback.value_or(0);
  }
  return problem;
}

// Of the last two dimensions: rows as written, or transposed; nothing for other strides.
struct Lies {
  bool transposed;
  std::int64_t leading;
};
std::optional<Lies> lies(const TensorShape& matrix) {
  const std::size_t n = matrix.dims.size();
  if (matrix.strides.size() != n) return Lies{false, 0};
  const std::int64_t down = matrix.strides[n - 2], across = matrix.strides[n - 1];
  if (across == 1 || matrix.dims[n - 1] == 1)
    return Lies{false, std::max(down, matrix.dims[n - 1])};
  if (down == 1 || matrix.dims[n - 2] == 1) return Lies{true, std::max(across, matrix.dims[n - 2])};
  return std::nullopt;
}

bool uses_tf32(const TracedCall& call) {
  return std::any_of(call.kernels.begin(), call.kernels.end(), [](const std::string& kernel) {
    return kernel.find("tf32") != std::string::npos ||
           kernel.find("s1688gemm") != std::string::npos;
  });
}

std::optional<Recognized> product(const TracedCall& call, std::size_t first) {
  if (call.inputs.size() < first + 2) return std::nullopt;
  const TensorShape &a = call.inputs[first], &b = call.inputs[first + 1];
  const std::size_t n = a.dims.size();
  auto type = dtype_of(a);
  if (!type || n < 2 || n > 3 || b.dims.size() != n) return std::nullopt;
  const auto a_lies = lies(a), b_lies = lies(b);
  if (!a_lies || !b_lies) return std::nullopt;
  if (type == DType::fp32 && uses_tf32(call)) type = DType::tf32;
  const KernelRef kernel = find_kernel("gemm.library");
  Recognized found{kernel, with_fallbacks(kernel, *type), true};
  set(kernel, found.problem, "m", a.dims[n - 2]);
  set(kernel, found.problem, "k", a.dims[n - 1]);
  set(kernel, found.problem, "n", b.dims[n - 1]);
  set(kernel, found.problem, "batch", n == 3 ? a.dims[0] : 1);
  set(kernel, found.problem, "layout", (a_lies->transposed ? 2 : 0) + (b_lies->transposed ? 1 : 0));
  set(kernel, found.problem, "lda", a_lies->leading);
  set(kernel, found.problem, "ldb", b_lies->leading);
  return found;
}

/// Where an attention operator keeps what a forecast needs: positions among its inputs.
struct AttentionOperator {
  std::string_view name;
  std::size_t query, key, causal;
  bool heads_second;  ///< [batch, heads, queries, head_dim]; else queries before heads
  bool backward;
  std::string_view library;
};
constexpr std::array kAttention = {
    AttentionOperator{"aten::_cudnn_attention_forward", 0, 1, 10, true, false, "cudnn"},
    AttentionOperator{"aten::_cudnn_attention_backward", 1, 2, 14, true, true, "cudnn"},
    AttentionOperator{"aten::_flash_attention_forward", 0, 1, 8, false, false, "fa2"},
    AttentionOperator{"aten::_flash_attention_backward", 1, 2, 11, false, true, "fa2"},
};

std::optional<Recognized> attention(const TracedCall& call, const AttentionOperator& known) {
  if (call.inputs.size() <= std::max(known.key, known.query)) return std::nullopt;
  const TensorShape &q = call.inputs[known.query], &k = call.inputs[known.key];
  const auto type = dtype_of(q);
  if (!type || q.dims.size() != 4 || k.dims.size() != 4) return std::nullopt;
  const std::size_t heads = known.heads_second ? 1 : 2, rows = known.heads_second ? 2 : 1;
  const KernelRef kernel = find_kernel("attention.library");
  Recognized found{kernel, with_fallbacks(kernel, *type)};
  Problem& p = found.problem;
  set(kernel, p, "batch", q.dims[0]);
  set(kernel, p, "heads", q.dims[heads]);
  set(kernel, p, "kv_heads", k.dims[heads]);
  set(kernel, p, "seq_q", q.dims[rows]);
  set(kernel, p, "seq_kv", k.dims[rows]);
  set(kernel, p, "head_dim", q.dims[3]);
  set(kernel, p, "causal",
      call.values.size() > known.causal && call.values[known.causal] == "True");
  set(kernel, p, "pass", known.backward ? 1 : 0);
  set(kernel, p, "library", known.library == "cudnn" ? 1 : 2);
  return found;
}

/// What a memory-bound operator does with its tensors.
enum class Moves : unsigned char {
  map,       ///< reads all, writes one like the largest
  in_place,  ///< reads all, writes the first
  copy,      ///< reads the second, writes the first
  fill,      ///< writes the first
  reduce,    ///< reads all, writes little
};
struct MemoryOperator {
  std::string_view name;
  Moves moves;
};
constexpr std::array kMemory = {
    MemoryOperator{"aten::copy_", Moves::copy},
    MemoryOperator{"aten::fill_", Moves::fill},
    MemoryOperator{"aten::zero_", Moves::fill},
    MemoryOperator{"aten::sum", Moves::reduce},
    MemoryOperator{"aten::mean", Moves::reduce},
    MemoryOperator{"aten::_log_softmax", Moves::map},
    MemoryOperator{"aten::_softmax", Moves::map},
    MemoryOperator{"aten::_log_softmax_backward_data", Moves::map},
    MemoryOperator{"aten::_softmax_backward_data", Moves::map},
    MemoryOperator{"aten::native_layer_norm", Moves::map},
    MemoryOperator{"aten::_fused_rms_norm", Moves::map},
    MemoryOperator{"aten::gelu", Moves::map},
    MemoryOperator{"aten::gelu_backward", Moves::map},
    MemoryOperator{"aten::silu", Moves::map},
    MemoryOperator{"aten::silu_backward", Moves::map},
    MemoryOperator{"aten::relu", Moves::map},
    MemoryOperator{"aten::tanh", Moves::map},
    MemoryOperator{"aten::add", Moves::map},
    MemoryOperator{"aten::sub", Moves::map},
    MemoryOperator{"aten::mul", Moves::map},
    MemoryOperator{"aten::div", Moves::map},
    MemoryOperator{"aten::sqrt", Moves::map},
    MemoryOperator{"aten::rsqrt", Moves::map},
    MemoryOperator{"aten::pow", Moves::map},
    MemoryOperator{"aten::neg", Moves::map},
    MemoryOperator{"aten::add_", Moves::in_place},
    MemoryOperator{"aten::mul_", Moves::in_place},
    MemoryOperator{"aten::div_", Moves::in_place},
    MemoryOperator{"aten::sqrt_", Moves::in_place},
    MemoryOperator{"aten::lerp_", Moves::in_place},
    MemoryOperator{"aten::addcmul_", Moves::in_place},
    MemoryOperator{"aten::addcdiv_", Moves::in_place},
};

Traffic traffic_of(const TracedCall& call, Moves moves) {
  double all = 0, largest = 0;
  for (const TensorShape& input : call.inputs) {
    if (input.dims.empty()) continue;
    all += bytes_of(input);
    largest = std::max(largest, bytes_of(input));
  }
  const double first = call.inputs.empty() ? 0 : bytes_of(call.inputs.front());
  switch (moves) {
    case Moves::map:
      return {all, largest};
    case Moves::in_place:
      return {all, first};
    case Moves::copy:
      return {all - first, first};
    case Moves::fill:
      return {0, first};
    case Moves::reduce:
      return {all, 0};
  }
  return {};
}

std::optional<Recognized> memory_bound(const TracedCall& call, const MemoryOperator& known) {
  const Traffic bytes = traffic_of(call, known.moves);
  if (bytes.total_bytes() <= 0) return std::nullopt;
  const auto number = [](double value) {
    return described::Quantity(std::to_string(static_cast<std::int64_t>(value)), {});
  };
  described::Description kernel;
  kernel.name = call.name;
  kernel.summary = "bytes of its tensors";
  kernel.threads = number(256);
  kernel.registers = number(32);
  kernel.cluster = number(1);
  kernel.shared_bytes = number(0);
  kernel.special_functions = kernel.shared_traffic_bytes = number(0);
  kernel.arrays = {{"inputs", number(bytes.read_bytes), number(0)},
                   {"output", number(0), number(bytes.write_bytes)}};
  const KernelRef made = described::make_kernel(std::move(kernel));
  return Recognized{made, with_fallbacks(made, DType::fp32)};
}

}  // namespace

std::optional<Recognized> recognize(const TracedCall& call) {
  if (call.name == "aten::mm" || call.name == "aten::bmm") return product(call, 0);
  if (call.name == "aten::addmm" || call.name == "aten::baddbmm") return product(call, 1);
  for (const AttentionOperator& known : kAttention) {
    if (call.name == known.name) return attention(call, known);
  }
  for (const MemoryOperator& known : kMemory) {
    if (call.name == known.name) return memory_bound(call, known);
  }
  return std::nullopt;
}

}  // namespace roofcast::validation
