#include "kernels/catalog.hpp"

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
          norm::entries(), reduce::entries(), gemm::entries()}) {
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
  for (const KernelEntry& entry : gemm::tensor_entries()) {
    if (entry.name == kernel_name) return &of_tensor_kernels;
  }
#endif
  if (kernel_name.starts_with("gemm.") && kernel_name != "gemm.library") {
    return find("gemm.library");
  }
  return nullptr;
}

}  // namespace roofcast::cuda
