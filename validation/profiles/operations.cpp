#include "validation/profiles/operations.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace roofcast::validation {
namespace {

// Layout of a matrix, the last two dimensions of a tensor: its rows or (transposed) its columns are
// contiguous. `leading` is 0 if strides are unknown. Nothing for other strides.
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
  return std::any_of(call.kernels.begin(), call.kernels.end(), [](const ProfiledKernel& kernel) {
    // "tf32f32" names cuBLAS's type of sums, "s1688gemm" CUTLASS's instruction.
    return kernel.name.find("tf32") != std::string::npos ||
           kernel.name.find("s1688gemm") != std::string::npos;
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
  Recognized found{kernel, problem_with_fallbacks(kernel, *type), Does::product};
  set_parameter(kernel, found.problem, "m", a.dims[n - 2]);
  set_parameter(kernel, found.problem, "k", a.dims[n - 1]);
  set_parameter(kernel, found.problem, "n", b.dims[n - 1]);
  set_parameter(kernel, found.problem, "batch", n == 3 ? a.dims[0] : 1);
  set_parameter(kernel, found.problem, "layout",
                (a_lies->transposed ? 2 : 0) + (b_lies->transposed ? 1 : 0));
  set_parameter(kernel, found.problem, "lda", a_lies->leading);
  set_parameter(kernel, found.problem, "ldb", b_lies->leading);
  return found;
}

struct ProductOperator {
  std::string_view name;
  std::size_t first;  ///< position of A
};
constexpr std::array kProducts = {
    ProductOperator{"aten::mm", 0},         ProductOperator{"aten::bmm", 0},
    ProductOperator{"aten::addmm", 1},      ProductOperator{"aten::baddbmm", 1},
    ProductOperator{"aten::_scaled_mm", 0}, ProductOperator{"aten::_addmm_activation", 1},
    ProductOperator{"aten::_int_mm", 0}};

/// Positions of the arguments of an attention operator that a forecast needs.
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
    AttentionOperator{"flash_attn::_flash_attn_forward", 0, 1, 5, false, false, "fa2"},
    AttentionOperator{"flash_attn::_flash_attn_backward", 1, 2, 11, false, true, "fa2"},
    // autograd's function; its backward pass gets the forward's inputs by sequence number.
    AttentionOperator{"FlashAttnFunc", 0, 1, 5, false, false, "fa2"},
    AttentionOperator{"FlashAttnFuncBackward", 0, 1, 5, false, true, "fa2"},
};

std::optional<Recognized> attention(const TracedCall& call, const AttentionOperator& known) {
  if (call.inputs.size() <= std::max(known.key, known.query)) return std::nullopt;
  const TensorShape &q = call.inputs[known.query], &k = call.inputs[known.key];
  const auto type = dtype_of(q);
  if (!type || q.dims.size() != 4 || k.dims.size() != 4) return std::nullopt;
  const std::size_t heads = known.heads_second ? 1 : 2, rows = known.heads_second ? 2 : 1;
  AttentionShape shape{q.dims[0],    q.dims[heads], k.dims[heads],
                       q.dims[rows], k.dims[rows],  q.dims[3]};
  shape.causal = call.values.size() > known.causal && call.values[known.causal] == "True";
  shape.backward = known.backward;
  shape.library = known.library;
  return attention_of(shape, *type);
}

// Softmax and norms of PyTorch work on rows of the last dimension.
std::optional<Recognized> rows_kernel(const TracedCall& call, std::string_view name) {
  if (call.inputs.empty() || call.inputs.front().dims.empty()) return std::nullopt;
  const TensorShape& input = call.inputs.front();
  const auto type = dtype_of(input);
  const std::int64_t cols = input.dims.back();
  const double rows = elements_of(input) / static_cast<double>(std::max<std::int64_t>(cols, 1));
  constexpr double kMost = 1e15;  // more only in a broken file
  if (!type || cols < 1 || rows < 1 || !(rows < kMost)) return std::nullopt;
  const KernelRef kernel = find_kernel(name);
  Recognized found{kernel, problem_with_fallbacks(kernel, *type), Does::rows};
  set_parameter(kernel, found.problem, "rows", static_cast<std::int64_t>(rows));
  set_parameter(kernel, found.problem, "cols", cols);
  return found;
}

// _softmax(input, dim, half_to_float)
bool is_along_rows(const TracedCall& call) {
  if (call.values.size() < 2 || call.inputs.empty()) return false;
  return call.values[1] == "-1" ||
         call.values[1] == std::to_string(call.inputs.front().dims.size() - 1);
}

}  // namespace

std::optional<DType> dtype_of(const TensorShape& tensor) {
  struct Named {
    std::string_view pytorch;
    DType type;
  };
  constexpr std::array kTypes = {Named{"c10::BFloat16", DType::bf16},
                                 Named{"c10::Half", DType::fp16},
                                 Named{"float", DType::fp32},
                                 Named{"double", DType::fp64},
                                 Named{"c10::Float8_e4m3fn", DType::fp8},
                                 Named{"c10::Float8_e5m2", DType::fp8},
                                 Named{"signed char", DType::int8}};
  for (const Named& one : kTypes) {
    if (tensor.type == one.pytorch) return one.type;
  }
  return std::nullopt;
}

double elements_of(const TensorShape& tensor) {
  double elements = 1;
  for (const std::int64_t dim : tensor.dims) elements *= static_cast<double>(dim);
  return elements;
}

void set_parameter(const KernelRef& kernel, Problem& problem, std::string_view name,
                   std::int64_t value) {
  if (const auto position = position_named(kernel.parameters(), name)) problem[*position] = value;
}

Problem problem_with_fallbacks(const KernelRef& kernel, DType dtype) {
  Problem problem;
  problem.dtype = dtype;
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    problem[i] = parameters[i].fallback.value_or(0);
  }
  return problem;
}

Recognized attention_of(const AttentionShape& shape, DType dtype) {
  const KernelRef kernel = find_kernel("attention.library");
  Recognized found{kernel, problem_with_fallbacks(kernel, dtype), Does::attention};
  Problem& p = found.problem;
  set_parameter(kernel, p, "batch", shape.batch);
  set_parameter(kernel, p, "heads", shape.heads);
  set_parameter(kernel, p, "kv_heads", shape.kv_heads);
  set_parameter(kernel, p, "seq_q", shape.seq_q);
  set_parameter(kernel, p, "seq_kv", shape.seq_kv);
  set_parameter(kernel, p, "head_dim", shape.head_dim);
  set_parameter(kernel, p, "causal", shape.causal);
  set_parameter(kernel, p, "pass", shape.backward ? 1 : 0);
  const auto parameters = kernel.parameters();
  for (const Parameter& parameter : parameters) {
    if (parameter.name != "library") continue;
    const auto names = parameter.choices;
    const auto found_name = std::find(names.begin(), names.end(), shape.library);
    set_parameter(kernel, p, "library", found_name - names.begin());
  }
  return found;
}

std::optional<Recognized> recognize(const TracedCall& call) {
  for (const ProductOperator& known : kProducts) {
    if (call.name == known.name) return product(call, known.first);
  }
  for (const AttentionOperator& known : kAttention) {
    if (call.name == known.name) return attention(call, known);
  }
  if ((call.name == "aten::_softmax" || call.name == "aten::_log_softmax") && is_along_rows(call)) {
    return rows_kernel(call, "softmax.library");
  }
  if (call.name == "aten::native_layer_norm") return rows_kernel(call, "norm.library");
  if (auto found = recognize_convolution(call)) return found;
  return recognize_memory_bound(call);
}

}  // namespace roofcast::validation
