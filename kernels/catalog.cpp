#include "kernels/catalog.hpp"

#include <algorithm>
#include <vector>

#include "kernels/baselines/baselines.hpp"
#include "kernels/families.hpp"

namespace roofcast::cuda {

std::span<const KernelEntry> catalog() {
  static const std::vector<KernelEntry> all = [] {
    std::vector<KernelEntry> entries;
    for (const Entries family :
         {stream::entries(), elementwise::entries(), expr::entries(), recompute::entries(),
          divergence::entries(), access::entries(), transpose::entries(), softmax::entries(),
          norm::entries(), reduce::entries(), gemm::entries(), attention::entries()}) {
      entries.insert(entries.end(), family.begin(), family.end());
    }
    return entries;
  }();
  return all;
}

std::span<const KernelEntry> baselines() {
  static const std::vector<KernelEntry> entries = {
      library::memcpy(),
#ifdef ROOFCAST_HAS_CUBLAS
      library::cublas_gemm(),
#endif
  };
  return entries;
}

const KernelEntry* find(std::string_view name) {
  for (const std::span<const KernelEntry> list : {catalog(), baselines()}) {
    for (const KernelEntry& entry : list) {
      if (entry.name == name) return &entry;
    }
  }
  return nullptr;
}

const KernelEntry* baseline(std::string_view kernel_name) {
  if (kernel_name == "stream.copy") return find("stream.memcpy");
#ifdef ROOFCAST_HAS_CUBLAS
  static const KernelEntry of_tensor_kernels = library::cublas_gemm_of_tensor_kernels();
  static const KernelEntry of_simt_kernels = library::cublas_gemm_of_simt_kernels();
  const auto has = [kernel_name](Entries entries) {
    return std::any_of(entries.begin(), entries.end(), [kernel_name](const KernelEntry& entry) {
      return entry.name == kernel_name;
    });
  };
  if (has(gemm::tensor_entries())) return &of_tensor_kernels;
  if (has(gemm::entries())) return &of_simt_kernels;
#endif
  return nullptr;
}

}  // namespace roofcast::cuda
