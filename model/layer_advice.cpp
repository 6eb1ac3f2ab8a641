#include "model/layer_advice.hpp"

#include <algorithm>
#include <set>

#include "model/advice.hpp"
#include "model/catalog.hpp"
#include "model/counting/integers.hpp"
#include "model/kernels/gemm/alignment.hpp"
#include "model/libraries/gemm.hpp"

namespace roofcast {
namespace {

Problem problem_of(LayerProduct product, const LinearLayer& layer, DType dtype) {
  const auto& [tokens, in, out] = layer;
  const auto of = [&](std::int64_t m, std::int64_t n, std::int64_t k, gemm::Layout layout) {
    Problem problem = gemm::library_problem(dtype, m, n, k);
    problem[gemm::kLayout] = layout;
    return problem;
  };
  switch (product) {
    case LayerProduct::output:
      return of(tokens, out, in, gemm::kNT);
    case LayerProduct::input_gradient:
      return of(tokens, in, out, gemm::kNN);
    default:
      return of(out, in, tokens, gemm::kTN);
  }
}

std::set<std::int64_t> padded(std::int64_t extent) {
  std::set<std::int64_t> sizes = {extent};
  for (const std::int64_t multiple : {8, 16, 32, 64, 128, 256}) {
    sizes.insert(ceil_div(extent, multiple) * multiple);
  }
  return sizes;
}

std::int64_t weights(const LinearLayer& layer) {
  return layer.in * layer.out;
}

// Those that gain enough over every one that adds less.
std::vector<LayerForecast> worth_naming(std::vector<LayerForecast> found, double asked_s) {
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return weights(a.layer) < weights(b.layer);
  });
  std::vector<LayerForecast> named;
  double least_s = asked_s;
  for (LayerForecast& one : found) {
    if (!saves(one.time_s(), least_s)) continue;
    least_s = one.time_s();
    named.push_back(std::move(one));
  }
  std::reverse(named.begin(), named.end());
  return named;
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
      result.products[i] =
          predict(library, problem_of(kLayerProducts[i], one, dtype), gpu, assumptions);
    }
    return result;
  };
  LayerAdvice advice{forecast(layer), {}};
  if (!advice.asked.products.front().time) {
    throw InputError("no expected time on " + gpu.name +
                     ": choose a GPU whose SMs and clock are known (`roofcast gpus`)");
  }
  std::vector<LayerForecast> found;
  for (const std::int64_t in : padded(layer.in)) {
    for (const std::int64_t out : padded(layer.out)) {
      const LinearLayer one{layer.tokens, in, out};
      if (one != layer) found.push_back(forecast(one));
    }
  }
  advice.padded = worth_naming(std::move(found), advice.asked.time_s());
  return advice;
}

}  // namespace roofcast
