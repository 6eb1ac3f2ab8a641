#include "model/kernels/gemm/gemm.hpp"
#include "model/search.hpp"
#include "model/types/quantity_text.hpp"

namespace roofcast {
namespace {

std::int64_t layout_of(const KernelRef& kernel, const Problem& problem) {
  return value_named(kernel, problem, "layout").value_or(gemm::kNN);
}

// Share of its whole tiles that an extent fills.
double fill(std::int64_t extent, std::int64_t tile) {
  return as_double(extent) / as_double(ceil_div(extent, tile) * tile);
}

double weight_bytes(const KernelRef& kernel, const Problem& p) {
  return as_double(value_named(kernel, p, "batch").value_or(1)) * as_double(p[gemm::kK]) *
         as_double(p[gemm::kN]) * size_bytes(p.dtype);
}

std::string tile_text(const Problem& p) {
  return message(p[gemm::kTileM], "x", p[gemm::kTileN]);
}

std::string waves_text(const ProductCounts& one) {
  const auto waves = static_cast<std::int64_t>(std::ceil(one.waves));
  return message(waves, waves == 1 ? " wave" : " waves");
}

}  // namespace

bool is_product(const KernelRef& kernel) {
  // The catalog holds a copy of kFamily, so the families' addresses differ.
  return kernel.kernel != nullptr &&
         kernel.family->variants.data() == gemm::kFamily.variants.data();
}

std::vector<Multiples> product_multiples(const Question& question, const Problem& base,
                                         std::size_t extent) {
  constexpr std::int64_t kEach = 8;
  const KernelModel& kernel = *question.kernel.kernel;
  const std::int64_t layout = layout_of(question.kernel, base);
  // Whether elements along the extent are contiguous in one of the matrices.
  const bool is_row = extent == gemm::kM   ? gemm::transposes_a(layout)
                      : extent == gemm::kK ? layout != gemm::kTN
                                           : true;
  const std::int64_t vector = gemm::kVectorBytes / element_bytes(base.dtype);
  std::vector<Multiples> found = {{vector, kEach, is_row}};
  for (std::int64_t i = 2; i <= 16; i *= 2) found.push_back({i * vector, kEach});
  if (extent == gemm::kK) return found;
  const std::size_t side = extent == gemm::kM ? gemm::kTileM : gemm::kTileN;
  for (const Problem& one :
       kernel.candidates != nullptr ? kernel.candidates(base, question.gpu) : std::vector{base}) {
    found.push_back({one[side], kEach});
  }
  return found;
}

ProductCounts product_counts(const Question& question, const Prediction& prediction) {
  const KernelRef& kernel = question.kernel;
  const Problem& p = prediction.problem;
  ProductCounts counts{prediction.launch->blocks(), prediction.waves->count};
  counts.tile_fill = fill(p[gemm::kM], p[gemm::kTileM]) * fill(p[gemm::kN], p[gemm::kTileN]);
  counts.vector_bytes =
      gemm::narrowest_vector(gemm::row_lengths(p, layout_of(kernel, p)), p.dtype) *
      element_bytes(p.dtype);
  counts.weight_bytes = weight_bytes(kernel, p) - weight_bytes(kernel, question.problem);
  return counts;
}

// States the improvements. Waves and tile fill are compared only between equal tiles.
std::string product_reason(const AdvisedShape& from, const AdvisedShape& to) {
  constexpr double kSameFill = 0.005;
  const ProductCounts &before = *from.product, &after = *to.product;
  const std::string was = tile_text(from.prediction.problem), is = tile_text(to.prediction.problem);
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  if (after.vector_bytes > before.vector_bytes) {
    add(message("rows aligned to ", after.vector_bytes, " B"));
  }
  if (was != is) {
    add(waves_text(after) + " of tiles " + is + ", not " + waves_text(before) + " of " + was);
    return text;
  }
  if (std::ceil(after.waves) < std::ceil(before.waves)) {
    add(waves_text(after) + ", not " + waves_text(before));
  }
  if (after.tile_fill > before.tile_fill + kSameFill) {
    add("tiles " + percent(after.tile_fill) + " full, not " + percent(before.tile_fill));
  }
  if (text.empty()) text = after.blocks == before.blocks ? "the same blocks" : "the same waves";
  return text;
}

}  // namespace roofcast
