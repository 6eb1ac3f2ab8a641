#include "advice/search.hpp"
#include "model/libraries/gemm.hpp"

namespace roofcast {
namespace {

std::set<std::int64_t> padded(std::int64_t extent) {
  std::set<std::int64_t> sizes = {extent};
  for (std::int64_t width = 8; width <= 256; width *= 2) {
    sizes.insert(round_up(extent, width));
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
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k, gemm::Layout layout) {
    Problem problem = gemm::library_problem(dtype, m, n, k);
    problem[gemm::kLayout] = layout;
    return predict(library, problem, gpu, assumptions);
  };
  std::vector<LayerForecast> found;  // first the asked one
  for (const std::int64_t in : padded(layer.in)) {
    for (const std::int64_t out : padded(layer.out)) {
      const std::int64_t tokens = layer.tokens;
      found.push_back({{tokens, in, out},
                       {product(tokens, out, in, gemm::kNT), product(tokens, in, out, gemm::kNN),
                        product(out, in, tokens, gemm::kTN)}});
    }
  }
  require_time(found.front().products.front(), gpu);
  const auto weights = [](const LayerForecast& one) { return one.layer.in * one.layer.out; };
  const auto faster = [](const LayerForecast& one, const LayerForecast& other) {
    return saves(one.time_s(), other.time_s());
  };
  LayerAdvice advice{found.front()};
  for (const LayerForecast* one : improvements(found, found.front(), weights, faster)) {
    advice.padded.push_back(*one);
  }
  return advice;
}

}  // namespace roofcast
