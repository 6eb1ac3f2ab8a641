#include "validation/profiles/kernel_names.hpp"

#include <algorithm>

namespace roofcast::validation {
namespace {

struct Known {
  std::string_view part;  ///< of the name
  std::string_view library;
  Does does;
};

// The first entry whose part occurs in the name decides: specific parts precede general ones.
constexpr std::array kKnown = {
    Known{"ncclDevKernel", "NCCL", Does::collective},
    Known{"ncclKernel", "NCCL", Does::collective},
    Known{"triton_poi_", "Inductor", Does::elementwise},
    Known{"triton_per_", "Inductor", Does::rows},
    Known{"triton_red_", "Inductor", Does::rows},
    Known{"triton_tem_", "Inductor", Does::product},
    Known{"triton_for_", "Inductor", Does::elementwise},
    Known{"triton_mm", "Inductor", Does::product},
    Known{"triton_bmm", "Inductor", Does::product},
    Known{"triton_", "Inductor", Does::elementwise},
    Known{"flash_fwd", "FlashAttention", Does::attention},
    Known{"flash_bwd", "FlashAttention", Does::attention},
    Known{"FlashAttnFwd", "FlashAttention", Does::attention},
    Known{"FlashAttnBwd", "FlashAttention", Does::attention},
    Known{"fmha_cutlass", "PyTorch", Does::attention},
    Known{"fmha", "FlashAttention", Does::attention},
    Known{"_sdpa_", "cuDNN", Does::attention},
    Known{"cudnn::fusion::compute_dot_do_o", "cuDNN", Does::attention},
    Known{"cudnn::fusion::convert_dq", "cuDNN", Does::attention},
    Known{"cudnn_bn", "cuDNN", Does::rows},
    Known{"fprop", "cuDNN", Does::product},
    Known{"dgrad", "cuDNN", Does::product},
    Known{"wgrad", "cuDNN", Does::product},
    Known{"cudnn", "cuDNN", Does::unknown},
    Known{"nvjet_", "cuBLAS", Does::product},
    Known{"splitKreduce", "cuBLAS", Does::reduction},
    Known{"gemvNSP", "cuBLAS", Does::product},
    Known{"gemv", "cuBLAS", Does::product},
    Known{"gemmk1", "cuBLAS", Does::product},
    Known{"dot_kernel", "cuBLAS", Does::reduction},
    Known{"cutlass", "CUTLASS", Does::product},
    Known{"xmma_gemm", "cuBLAS", Does::product},
    Known{"gemm", "cuBLAS", Does::product},
    Known{"magma_", "MAGMA", Does::product},
    Known{"softmax", "PyTorch", Does::rows},
    Known{"SoftMax", "PyTorch", Does::rows},
    Known{"layer_norm", "PyTorch", Does::rows},
    Known{"LayerNorm", "PyTorch", Does::rows},
    Known{"GammaBeta", "PyTorch", Does::rows},
    Known{"rms_norm", "PyTorch", Does::rows},
    Known{"RowwiseMoments", "PyTorch", Does::rows},
    Known{"batch_norm", "PyTorch", Does::rows},
    Known{"nll_loss", "PyTorch", Does::indexing},
    Known{"embedding", "PyTorch", Does::indexing},
    Known{"gather_kernel", "PyTorch", Does::indexing},
    Known{"scatter", "PyTorch", Does::indexing},
    Known{"index", "PyTorch", Does::indexing},
    Known{"compute_grad_weight", "PyTorch", Does::indexing},
    Known{"radix_sort", "CUB", Does::indexing},
    Known{"RadixSort", "CUB", Does::indexing},
    Known{"DeviceScan", "CUB", Does::indexing},
    Known{"DeviceReduce", "CUB", Does::reduction},
    Known{"reduce_kernel", "PyTorch", Does::reduction},
    Known{"CatArrayBatchedCopy", "PyTorch", Does::elementwise},
    Known{"multi_tensor_apply", "PyTorch", Does::elementwise},
    Known{"elementwise", "PyTorch", Does::elementwise},
    Known{"fill_kernel", "PyTorch", Does::elementwise},
    Known{"Memset", "CUDA", Does::elementwise},
    Known{"Memcpy DtoD", "CUDA", Does::elementwise},
};

// Position of the bracket that closes the one at `open`; the text's size if there is none.
std::size_t closing(std::string_view text, std::size_t open, char opening, char close) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == opening) ++depth;
    if (text[i] == close && --depth == 0) return i;
  }
  return text.size();
}

std::string without(std::string_view text, char opening, char close) {
  std::string kept;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == opening) {
      i = closing(text, i, opening, close);
    } else {
      kept.push_back(text[i]);
    }
  }
  return kept;
}

}  // namespace

KernelName kernel_name(std::string_view name) {
  for (const Known& known : kKnown) {
    if (name.find(known.part) == name.npos) continue;
    const bool backward = name.find("bwd") != name.npos || name.find("bprop") != name.npos ||
                          name.find("ackward") != name.npos;
    return {known.library, known.does, backward};
  }
  if (name.find("at::native") != name.npos || name.find("at_cuda_detail") != name.npos) {
    return {"PyTorch", Does::unknown, false};
  }
  return {};
}

std::string brief_kernel_name(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  // The argument of cutlass::Kernel2<…> is the kernel's name.
  for (const std::string_view wrapper : {"cutlass::Kernel2<", "cutlass::Kernel<"}) {
    if (name.starts_with(wrapper)) {
      name.remove_prefix(wrapper.size());
      return std::string(name.substr(0, name.find_first_of(":>(")));
    }
  }
  // The functor says what an elementwise kernel computes.
  std::string functor;
  for (const std::string_view mark : {"Functor", "_kernel_cuda", "_cuda_kernel", "KernelImpl"}) {
    const std::size_t found = name.find(mark);
    if (found == name.npos || name.find("elementwise") == name.npos) continue;
    std::size_t begin = found;
    const auto is_letter = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    while (begin > 0 && is_letter(name[begin - 1])) --begin;
    std::size_t end = found;
    while (end < name.size() && is_letter(name[end])) ++end;
    functor = name.substr(begin, end - begin);
    break;
  }
  std::string kept = without(without(without(name, '<', '>'), '(', ')'), '{', '}');
  const std::size_t last = kept.rfind("::");
  if (last != kept.npos && last + 2 < kept.size()) kept.erase(0, last + 2);
  if (!functor.empty()) kept += " " + functor;
  constexpr std::size_t kMost = 60;
  if (kept.size() > kMost) kept.resize(kMost);
  return kept.empty() ? std::string(name.substr(0, kMost)) : kept;
}

}  // namespace roofcast::validation
