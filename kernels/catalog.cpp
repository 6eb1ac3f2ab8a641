#include "kernels/catalog.hpp"

#include <vector>

#include "kernels/access/access.hpp"
#include "kernels/baselines/baselines.hpp"
#include "kernels/divergence/divergence.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/expression/expression.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/norm/norm.hpp"
#include "kernels/recompute/recompute.hpp"
#include "kernels/reduce/reduce.hpp"
#include "kernels/softmax/softmax.hpp"
#include "kernels/stream/stream.hpp"
#include "kernels/transpose/transpose.hpp"

namespace roofcast::cuda {

std::span<const KernelEntry> catalog() {
  static const std::vector<KernelEntry> entries = [] {
    std::vector<KernelEntry> all;
    const auto append = [&](std::span<const KernelEntry> family) {
      all.insert(all.end(), family.begin(), family.end());
    };
    append(stream::entries());
    append(elementwise::entries());
    append(expr::entries());
    append(recompute::entries());
    append(divergence::entries());
    all.push_back(access::strided());
    all.push_back(access::offset());
    all.push_back(access::gather());
    all.push_back(access::row_wise());
    all.push_back(access::column_wise());
    all.push_back(access::shared());
    append(transpose::entries());
    append(softmax::entries());
    append(norm::entries());
    append(reduce::entries());
    all.push_back(gemm::naive());
    all.push_back(gemm::coalesced());
    all.push_back(gemm::tiled());
    all.push_back(gemm::coarsened_1d());
    all.push_back(gemm::coarsened_2d());
    all.push_back(gemm::vectorized());
    return all;
  }();
  return entries;
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
  if (kernel_name.starts_with("gemm.") && kernel_name != "gemm.library") {
    return find("gemm.library");
  }
  return nullptr;
}

}  // namespace roofcast::cuda
