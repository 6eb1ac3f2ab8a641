#include "model/catalog.hpp"

#include <array>
#include <string>
#include <vector>

#include "model/kernels/access/access.hpp"
#include "model/kernels/attention/attention.hpp"
#include "model/kernels/divergence/divergence.hpp"
#include "model/kernels/elementwise/elementwise.hpp"
#include "model/kernels/expression/expression.hpp"
#include "model/kernels/gemm/gemm.hpp"
#include "model/kernels/norm/norm.hpp"
#include "model/kernels/recompute/recompute.hpp"
#include "model/kernels/reduce/reduce.hpp"
#include "model/kernels/softmax/softmax.hpp"
#include "model/kernels/stream/stream.hpp"
#include "model/kernels/transpose/transpose.hpp"
#include "model/libraries/experts.hpp"
#include "model/libraries/layer.hpp"
#include "model/libraries/products.hpp"
#include "model/types/did_you_mean.hpp"

namespace roofcast {

std::span<const KernelFamily> catalog() {
  static const std::array families = {
      stream::kFamily,        //
      elementwise::kRelu,     //
      elementwise::kGelu,     //
      elementwise::kElu,      //
      elementwise::kSincos,   //
      elementwise::kFma,      //
      elementwise::kExpr,     //
      access::kFamily,        //
      transpose::kFamily,     //
      recompute::kFamily,     //
      divergence::kFamily,    //
      softmax::kFamily,       //
      norm::kFamily,          //
      reduce::kFamily,        //
      gemm::kFamily,          //
      attention::kFamily,     //
      experts::kFamily,       //
      layer::kFamily,         //
      products::kInt4Family,  //
      products::kConvolutionFamily,
  };
  return families;
}

KernelRef find_kernel(std::string_view name) {
  std::vector<std::string_view> known;
  for (const KernelFamily& family : catalog()) {
    if (family.name == name) return {&family, nullptr};
    known.push_back(family.name);
    for (const KernelModel& kernel : family.variants) {
      if (kernel.name == name) return {&family, &kernel};
      known.push_back(kernel.name);
    }
  }
  const std::string_view near = closest(name, known);
  throw InputError("no kernel is named '" + std::string(name) + "'" +
                   (near.empty() ? ":" : ": did you mean '" + std::string(near) + "'?") +
                   " `roofcast kernels` lists them all");
}

}  // namespace roofcast
