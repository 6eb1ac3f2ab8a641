#include "model/catalog.hpp"

#include <array>
#include <string>
#include <vector>

#include "model/did_you_mean.hpp"
#include "model/kernels/elementwise.hpp"
#include "model/kernels/gemm.hpp"
#include "model/kernels/stream.hpp"

namespace roofcast {

std::span<const KernelFamily> catalog() {
  static const std::array families = {stream::kFamily, elementwise::kRelu, elementwise::kGelu,
                                      gemm::kFamily};
  return families;
}

Found find_kernel(std::string_view wanted) {
  std::vector<std::string_view> known;
  for (const KernelFamily& family : catalog()) {
    if (family.name == wanted) return {&family, nullptr};
    known.push_back(family.name);
    for (const KernelModel& kernel : family.variants) {
      if (kernel.name == wanted) return {&family, &kernel};
      known.push_back(kernel.name);
    }
  }
  const std::string_view near = closest(wanted, known);
  throw InputError("no kernel is named '" + std::string(wanted) + "'" +
                   (near.empty() ? "" : ": did you mean '" + std::string(near) + "'?") +
                   " `roofcast kernels` lists them all");
}

}  // namespace roofcast
