#include "model/product_advice.hpp"

#include "model/libraries/gemm.hpp"
#include "model/shape_search.hpp"

namespace roofcast {
namespace {

struct Operands {
  std::array<std::int64_t LinearLayer::*, 3> extents;  ///< m, n and k
  gemm::Layout layout;
};
constexpr std::array<Operands, kLayerProducts.size()> kOperands = {
    {{{&LinearLayer::tokens, &LinearLayer::out, &LinearLayer::in}, gemm::kNT},
     {{&LinearLayer::tokens, &LinearLayer::in, &LinearLayer::out}, gemm::kNN},
     {{&LinearLayer::out, &LinearLayer::in, &LinearLayer::tokens}, gemm::kTN}}};

Problem problem_of(const Operands& product, const LinearLayer& layer, DType dtype) {
  const auto [m, n, k] = product.extents;
  Problem problem = gemm::library_problem(dtype, layer.*m, layer.*n, layer.*k);
  problem[gemm::kLayout] = product.layout;
  return problem;
}

std::set<std::int64_t> padded(std::int64_t extent) {
  std::set<std::int64_t> sizes = {extent};
  for (const std::int64_t multiple : {8, 16, 32, 64, 128, 256}) {
    sizes.insert(ceil_div(extent, multiple) * multiple);
  }
  return sizes;
}

}  // namespace

double LayerForecast::time_s() const {
  double sum = 0;
  for (const Prediction& product : products) sum += product.time ? product.time->expected_s : 0;
  return sum;
}

LayerAdvice advise_layer(const LinearLayer& layer, DType dtype, const Gpu& gpu,
                         const Assumptions& assumptions) {
  const KernelRef library = find_kernel("gemm.library");
  const auto forecast = [&](const LinearLayer& one) {
    LayerForecast result{one, {}};
    for (std::size_t i = 0; i < kLayerProducts.size(); ++i) {
      result.products[i] = predict(library, problem_of(kOperands[i], one, dtype), gpu, assumptions);
    }
    return result;
  };
  LayerAdvice advice{forecast(layer), {}};
  require_time(advice.asked.products.front(), gpu);
  std::vector<LayerForecast> found;
  for (const std::int64_t in : padded(layer.in)) {
    for (const std::int64_t out : padded(layer.out)) {
      const LinearLayer one{layer.tokens, in, out};
      if (one != layer) found.push_back(forecast(one));
    }
  }
  const auto weights = [](const LayerForecast& one) { return one.layer.in * one.layer.out; };
  const auto faster = [](const auto& one, const auto& other) {
    return saves(one.time_s(), other.time_s());
  };
  for (const LayerForecast* one : improvements_by(weights, found, advice.asked, faster)) {
    advice.padded.push_back(*one);
  }
  return advice;
}

}  // namespace roofcast
