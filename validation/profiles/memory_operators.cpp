#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "model/described/kernel.hpp"
#include "validation/profiles/operations.hpp"
#include "validation/runs/numbers.hpp"

namespace roofcast::validation {
namespace {

/// What a memory-bound operator does with its tensors.
enum class Moves : unsigned char {
  map,            ///< reads all, writes one tensor of the largest one's size
  in_place,       ///< reads all, writes the first argument
  square,         ///< in place; the second and third tensor are the same, as in Adam
  copy,           ///< reads the second, writes the first
  fill,           ///< writes the first
  reduce,         ///< reads all; the result is not counted
  join,           ///< reads all, writes as many bytes
  lookup,         ///< reads rows of the first by index, writes them
  norm_backward,  ///< reads the first two twice, writes one tensor like the second
  batch_norm,     ///< reads the first, in training twice (statistics), and writes one like it
  adam,           ///< reads parameters, gradients and two moments, writes all but the gradients
};
struct MemoryOperator {
  std::string_view name;
  Moves moves;
  Does does = Does::elementwise;
};
constexpr std::array kMemory = {
    MemoryOperator{"aten::copy_", Moves::copy},
    MemoryOperator{"aten::fill_", Moves::fill},
    MemoryOperator{"aten::zero_", Moves::fill},
    MemoryOperator{"aten::cat", Moves::join},
    MemoryOperator{"aten::sum", Moves::reduce, Does::reduction},
    MemoryOperator{"aten::mean", Moves::reduce, Does::reduction},
    MemoryOperator{"aten::linalg_vector_norm", Moves::reduce, Does::reduction},
    MemoryOperator{"aten::_foreach_norm", Moves::reduce, Does::reduction},
    MemoryOperator{"aten::embedding", Moves::lookup, Does::indexing},
    MemoryOperator{"aten::index_select", Moves::lookup, Does::indexing},
    MemoryOperator{"aten::_softmax", Moves::map, Does::rows},
    MemoryOperator{"aten::_log_softmax", Moves::map, Does::rows},
    MemoryOperator{"aten::_log_softmax_backward_data", Moves::map, Does::rows},
    MemoryOperator{"aten::_softmax_backward_data", Moves::map, Does::rows},
    MemoryOperator{"aten::_fused_rms_norm", Moves::map, Does::rows},
    MemoryOperator{"aten::native_layer_norm_backward", Moves::norm_backward, Does::rows},
    MemoryOperator{"aten::_fused_rms_norm_backward", Moves::norm_backward, Does::rows},
    MemoryOperator{"aten::native_batch_norm", Moves::batch_norm, Does::rows},
    MemoryOperator{"aten::cudnn_batch_norm", Moves::batch_norm, Does::rows},
    MemoryOperator{"aten::native_batch_norm_backward", Moves::norm_backward, Does::rows},
    MemoryOperator{"aten::cudnn_batch_norm_backward", Moves::norm_backward, Does::rows},
    MemoryOperator{"aten::_fused_adamw_", Moves::adam},
    MemoryOperator{"aten::_fused_adam_", Moves::adam},
    MemoryOperator{"aten::addcmul_", Moves::square},
};
// Elementwise operators. A name that ends in "_" writes to its first argument.
constexpr std::string_view kMaps =
    " gelu gelu_backward silu silu_backward relu tanh add sub rsub mul div sqrt rsqrt pow neg exp "
    "log abs cos sin sigmoid clamp maximum minimum where masked_fill square reciprocal lerp "
    "addcmul addcdiv tril triu native_dropout eq ne lt le gt ge logical_not bitwise_and "
    "tanh_backward sigmoid_backward threshold_backward ";
// Operators on lists of tensors, which write lists as large as their first.
constexpr std::string_view kForEach =
    " _foreach_add _foreach_mul _foreach_div _foreach_lerp _foreach_sqrt ";

// Whether the name is one of those, each between blanks.
bool is_one_of(std::string_view names, std::string_view name) {
  return name.find(' ') == name.npos && names.find(fmt::format(" {} ", name)) != names.npos;
}

std::optional<MemoryOperator> known_operator(std::string_view name) {
  for (const MemoryOperator& known : kMemory) {
    if (name == known.name) return known;
  }
  constexpr std::string_view kAten = "aten::";
  if (!name.starts_with(kAten)) return std::nullopt;
  std::string_view base = name.substr(kAten.size());
  const bool in_place = base.ends_with('_');
  if (in_place) base.remove_suffix(1);
  if (is_one_of(kForEach, base)) return MemoryOperator{name, Moves::in_place};
  if (is_one_of(kMaps, base)) return MemoryOperator{name, in_place ? Moves::in_place : Moves::map};
  return std::nullopt;
}

// Bytes of an element of a list of tensors: its type is known only from the kernel's name.
double list_element_bytes(const TracedCall& call) {
  constexpr double kNarrow = 2, kSingle = 4, kDouble = 8;
  for (const ProfiledKernel& kernel : call.kernels) {
    if (kernel.name.find("BFloat16") != std::string::npos) return kNarrow;
    if (kernel.name.find("Half") != std::string::npos) return kNarrow;
    if (kernel.name.find("double") != std::string::npos) return kDouble;
  }
  return kSingle;
}

Traffic lookup_bytes(const TracedCall& call) {
  const TensorShape& table = call.inputs.front();
  for (const TensorShape& indices : call.inputs) {
    if (indices.type != "long int" && indices.type != "int") continue;
    if (table.dims.empty() || indices.dims.empty()) return {};
    const double rows = static_cast<double>(std::max<std::int64_t>(table.dims.front(), 1));
    const double moved = elements_of(indices) * bytes_of(table) / rows;
    return {moved + bytes_of(indices), moved};
  }
  return {};
}

Traffic traffic_of(const TracedCall& call, Moves moves) {
  double all = 0, largest = 0, first = 0;
  for (const TensorShape& input : call.inputs) {
    if (input.dims.empty() && !names_a_tensor(input.type)) continue;
    const bool listed = input.type == "TensorList";
    const double bytes = listed ? elements_of(input) * list_element_bytes(call) : bytes_of(input);
    all += bytes;
    largest = std::max(largest, bytes);
    if (input.argument == 0) first += bytes;
  }
  const auto bytes_at = [&](std::size_t i) {
    return i < call.inputs.size() && !call.inputs[i].dims.empty() ? bytes_of(call.inputs[i]) : 0;
  };
  constexpr std::size_t kTraining = 5;  // position of batch norm's argument `training`
  switch (moves) {
    case Moves::map:
      return {all, largest};
    case Moves::in_place:
      return {all, first};
    case Moves::square:
      return {bytes_at(0) + bytes_at(1), bytes_at(0)};
    case Moves::copy:
      return {all - first, first};
    case Moves::fill:
      return {0, first};
    case Moves::reduce:
      return {all, 0};
    case Moves::join:
      return {all, all};
    case Moves::lookup:
      return lookup_bytes(call);
    case Moves::norm_backward:
      return {2 * (bytes_at(0) + bytes_at(1)), bytes_at(1)};
    case Moves::batch_norm: {
      const bool trains = call.values.size() > kTraining && call.values[kTraining] == "True";
      return {(trains ? 2 : 1) * bytes_at(0), bytes_at(0)};
    }
    case Moves::adam:
      return {all, all - first};  // three of four equal lists are written
  }
  return {};
}

described::Quantity number(double value) {
  return described::Quantity(std::to_string(static_cast<std::int64_t>(value)));
}

// Size of a Triton kernel's iteration space, the product of its whole-number arguments; 0: unknown.
double iteration_of(const TracedCall& call) {
  double space = 0;
  for (const std::string& text : call.values) {
    const auto extent = number_of<std::int64_t>(text);
    if (extent && *extent > 0) space = std::max(space, 1.0) * static_cast<double>(*extent);
  }
  return space;
}

// Whether the kernel reads rows by index: Inductor's names list the operators that are fused.
bool looks_up(std::string_view name) {
  constexpr std::array<std::string_view, 3> kLookups = {"embedding", "gather", "index"};
  return std::any_of(kLookups.begin(), kLookups.end(),
                     [&](std::string_view part) { return name.find(part) != name.npos; });
}

// Arguments of Inductor's kernels are in the order changed, read, written: the last tensor counts
// as written, all others as read. A tensor larger than the iteration space may be read in part:
// `least` counts at most one element per iteration; for lookups `bytes` does so too.
std::optional<Recognized> triton(const TracedCall& call) {
  const KernelName kernel = kernel_name(call.name);
  if (!is_memory_bound(kernel.does)) return std::nullopt;
  const double space = iteration_of(call);
  const bool some = looks_up(call.name) && space > 0;
  Traffic bytes, least, last, last_least;
  for (const TensorShape& input : call.inputs) {
    if (input.dims.empty()) continue;
    const double all = bytes_of(input), elements = std::max(elements_of(input), 1.0);
    const double capped = space > 0 ? all * std::min(1.0, space / elements) : all;
    bytes.read_bytes += last.write_bytes;
    least.read_bytes += last_least.write_bytes;
    last.write_bytes = some ? capped : all;
    last_least.write_bytes = space > 0 ? capped : 0;
  }
  bytes.write_bytes = last.write_bytes;
  least.write_bytes = last_least.write_bytes;
  if (bytes.total_bytes() <= 0) return std::nullopt;
  Recognized found = moving(call.name, bytes, kernel.does);
  found.least = least;
  return found;
}

}  // namespace

double bytes_of(const TensorShape& tensor) {
  const auto type = dtype_of(tensor);
  constexpr double kIndex = 8, kInt = 4;
  const double element = type                        ? size_bytes(*type)
                         : tensor.type == "long int" ? kIndex
                         : tensor.type == "int"      ? kInt
                                                     : 1;
  return elements_of(tensor) * element;
}

Recognized moving(const std::string& name, const Traffic& bytes, Does does,
                  const FlopsByType& tensor_flops) {
  described::Description kernel;
  kernel.name = name;
  kernel.summary = "bytes of its tensors";
  kernel.threads = number(256);
  kernel.registers = number(32);
  kernel.arrays = {{number(bytes.read_bytes)}, {{}, number(bytes.write_bytes)}};
  for (const DType type : kAllDTypes) {
    if (tensor_flops[type] > 0) kernel.tensor_flops.emplace_back(type, number(tensor_flops[type]));
  }
  const KernelRef made = described::make_kernel(std::move(kernel));
  return {made, problem_with_fallbacks(made, DType::fp32), does};
}

std::optional<Recognized> recognize_memory_bound(const TracedCall& call) {
  const auto crosses_bus = [](const ProfiledKernel& kernel) {
    return kernel.name.starts_with("Memcpy") && !kernel.name.starts_with("Memcpy DtoD");
  };
  if (std::any_of(call.kernels.begin(), call.kernels.end(), crosses_bus)) return std::nullopt;
  if (!call.kernels.empty() && call.kernels.front().moved_bytes && !call.by_operator) {
    const double bytes = *call.kernels.front().moved_bytes;
    const bool copies = call.name.starts_with("Memcpy");
    return moving(call.name, {copies ? bytes : 0, bytes}, Does::elementwise);
  }
  if (call.name.starts_with("triton_")) return triton(call);
  const auto known = known_operator(call.name);
  if (!known || call.inputs.empty()) return std::nullopt;
  const Traffic bytes = traffic_of(call, known->moves);
  constexpr double kMost = 1e18;  // more only in a broken file
  if (bytes.total_bytes() <= 0 || !(bytes.total_bytes() < kMost) || bytes.read_bytes < 0) {
    return std::nullopt;
  }
  Recognized found = moving(call.name, bytes, known->does);
  // The second read may hit L2.
  const bool reads_again =
      known->moves == Moves::norm_backward || known->moves == Moves::batch_norm;
  if (reads_again) found.least = Traffic{bytes.read_bytes / 2, bytes.write_bytes};
  return found;
}

}  // namespace roofcast::validation
