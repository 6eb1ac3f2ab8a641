#include <vector>

#include "kernels/families.hpp"

namespace roofcast::cuda::elementwise {

// Each returns two entries, NAME.fused and NAME.unfused.
std::vector<KernelEntry> relu(), gelu(), elu(), sincos(), fma();

Entries entries() {
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
