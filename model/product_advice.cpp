#include "model/product_advice.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/counting/integers.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

double volume(const ProductForecast& one) {
  double product = 1;
  for (const std::size_t i : kProductExtents) product *= as_double(one.prediction.problem[i]);
  return product;
}

bool contains(const ProductForecast& larger, const ProductForecast& smaller) {
  return std::all_of(kProductExtents.begin(), kProductExtents.end(), [&](std::size_t extent) {
    return larger.prediction.problem[extent] >= smaller.prediction.problem[extent];
  });
}

std::string tile_text(const KernelRef& kernel, const Problem& p) {
  const auto m = value_named(kernel, p, "tile_m"), n = value_named(kernel, p, "tile_n");
  return m && n ? std::to_string(*m) + "x" + std::to_string(*n) : "";
}

std::string waves_text(const ProductForecast& one) {
  const auto waves = static_cast<std::int64_t>(std::ceil(one.waves));
  return std::to_string(waves) + (waves == 1 ? " wave" : " waves");
}

// What differs for the better. How full waves and tiles are compares where the tiles are the same.
std::string reason(const KernelRef& kernel, const ProductForecast& from,
                   const ProductForecast& to) {
  constexpr double kSameFill = 0.005;
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (to.vector_bytes > from.vector_bytes) {
    add("rows aligned to " + std::to_string(to.vector_bytes) + " B");
  }
  const std::string before = tile_text(kernel, from.prediction.problem);
  const std::string after = tile_text(kernel, to.prediction.problem);
  if (before != after) {
    add(waves_text(to) + " of tiles " + after + ", not " + waves_text(from) + " of " + before);
  } else {
    if (std::ceil(to.waves) < std::ceil(from.waves)) {
      add(waves_text(to) + ", not " + waves_text(from));
    }
    if (to.tile_fill > from.tile_fill + kSameFill) {
      add("tiles " + percent(to.tile_fill) + " full, not " + percent(from.tile_fill));
    }
  }
  if (text.empty()) add(to.blocks == from.blocks ? "the same blocks" : "the same waves");
  return text;
}

bool gains(const ProductForecast& one, const ProductForecast& other) {
  return saves(one.time_s(), other.time_s()) && saves(other.flops_per_s, one.flops_per_s);
}

bool is_free(const ProductForecast& one, const ProductForecast& base) {
  const double growth = volume(one) / volume(base) - 1;
  return growth > 0 &&
         one.time_s() <= base.time_s() * (1 + std::min(kFreeShare * growth, kFreeTime));
}

using Shapes = std::vector<const ProductForecast*>;

// Shapes whose growth is free at every step from the base, the largest first, none inside another.
Shapes room(const std::vector<ProductForecast>& larger, const ProductForecast& base) {
  Shapes order;
  for (const ProductForecast& one : larger) {
    if (contains(one, base) && is_free(one, base)) order.push_back(&one);
  }
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(volume(*a), a->time_s()) < std::pair(volume(*b), b->time_s());
  });
  Shapes free;
  for (const ProductForecast* one : order) {
    if (std::all_of(free.begin(), free.end(), [&](const auto* other) {
          return !contains(*one, *other) || is_free(*one, *other);
        })) {
      free.push_back(one);
    }
  }
  std::reverse(free.begin(), free.end());
  Shapes outermost;
  for (const ProductForecast* one : free) {
    if (std::none_of(outermost.begin(), outermost.end(),
                     [&](const auto* other) { return contains(*other, *one); })) {
      outermost.push_back(one);
    }
  }
  return outermost;
}

double weight_bytes(const KernelRef& kernel, const Problem& p) {
  return as_double(value_named(kernel, p, "batch").value_or(1)) * as_double(p[gemm::kK]) *
         as_double(p[gemm::kN]) * size_bytes(p.dtype);
}

}  // namespace

Advised advise_product(const Question& question, const AdviceOptions& options) {
  const KernelRef& kernel = question.kernel;
  if (kernel.kernel == nullptr || kernel.family != find_kernel("gemm").family) {
    throw InputError("advice is for kernels of gemm, such as gemm.library");
  }
  Advised advised;
  advised.asked = forecast_product(question);
  const ProductForecast& asked = advised.asked;
  const auto add = [&](AdviceKind kind, const Shapes& shapes, const ProductForecast& from) {
    for (std::size_t i = 0; i < std::min(options.most, shapes.size()); ++i) {
      const ProductForecast& one = *shapes[i];
      advised.shapes.push_back(
          {kind, one, one.time_s() / asked.time_s() - 1, one.flops_per_s / asked.flops_per_s - 1,
           weight_bytes(kernel, one.prediction.problem) - weight_bytes(kernel, question.problem),
           reason(kernel, from, one)});
    }
  };
  const auto time_s = [](const ProductForecast& one) { return one.time_s(); };
  const auto larger = products_near(question, options, true);
  const Shapes padded = improvements(
      larger, asked, volume, time_s,
      [](const auto& one, const auto& other) { return saves(one.time_s(), other.time_s()); });
  add(AdviceKind::faster, padded, asked);
  if (options.smaller) {
    const auto less = products_near(question, options, false);
    add(AdviceKind::smaller, improvements(less, asked, volume, time_s, gains), asked);
  }
  const ProductForecast& base = padded.empty() ? asked : *padded.front();
  add(AdviceKind::room, room(larger, base), base);
  return advised;
}

}  // namespace roofcast
