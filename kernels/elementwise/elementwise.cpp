#include "kernels/elementwise/elementwise.hpp"

#include <vector>

#include "kernels/elementwise/functions.hpp"

namespace roofcast::cuda::elementwise {

std::span<const KernelEntry> entries() {
  static const std::vector<KernelEntry> table = [] {
    std::vector<KernelEntry> all;
    for (const auto& function : {relu(), gelu(), elu(), sincos(), fma()}) {
      all.insert(all.end(), function.begin(), function.end());
    }
    return all;
  }();
  return table;
}

}  // namespace roofcast::cuda::elementwise
