#include "model/libraries/products.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::products {
namespace {

// --- weights of 4 bits ---

void require_plain(const Problem& p) {
  require(p[gemm::kQuantize] == gemm::kNothing && p[gemm::kLayout] == gemm::kNN,
          "weights of 4 bits lie packed: leave 'quantize' and 'layout' out");
}

/// Bytes per weight, with a 16-bit scale per group (AWQ, arXiv 2306.00978; GPTQ), relative to the
/// two bytes of a widened weight.
constexpr double kGroup = 128, kInt4Share = (0.5 + 2 / kGroup) / 2;

/// Threads widen the weights: they shift and mask four bits, merge them into a pair of halves,
/// subtract an offset, and scale (Marlin, arXiv 2408.11743, section 3.4).
constexpr gemm::Packings kInt4{.b = {kInt4Share, kInt4Share}, .widening = 1.5};

Work int4_work(const Problem& p) {
  Work work = gemm::library_work(p);
  work.compulsory.read_bytes -= gemm::sizes_of(p).b - gemm::sizes_of(p, kInt4).b;
  return work;
}

std::vector<Problem> int4_candidates(const Problem& p, const Gpu& gpu) {
  require_plain(p);
  return gemm::library_candidates(p, gpu);
}

LaunchSequence int4_plan(const Problem& p, const Gpu& gpu) {
  require_plain(p);
  LaunchSequence sequence = gemm::plan_library(p, gpu, kInt4);
  sequence.front().plan.notes.caveat =
      "weights of 4 bits are widened as Marlin's source counts: PyTorch's own kernel takes 0.8 to "
      "1.4 times as long for one row where it was measured, and 8 to 17 times for 64";
  return sequence;
}

constexpr std::array kInt4Types = {DType::bf16, DType::fp16};

constexpr std::array kInt4Variants = {
    KernelModel{.name = "gemm_int4.library",
                .summary = "cuBLAS's tiles, weights widened on their way to the products",
                .parameters = std::span(gemm::kLibraryParameters).first(gemm::kEpilogue),
                .dtypes = kInt4Types,
                .plan = int4_plan,
                .candidates = int4_candidates,
                .own_choice = gemm::kOwnChoice,
                .outline = [](const Problem& p, const Gpu& gpu) {
                  return gemm::library_outline(p, gpu, kInt4);
                }}};

// --- convolution ---

constexpr std::int64_t kMostExtent = 1 << 15;

constexpr std::array kShape = {
    Parameter{"images", "of a batch", 1, kMostExtent},
    Parameter{"height", "of an image (pixels)", 1, kMostExtent},
    Parameter{"width", "of an image (pixels)", 1, kMostExtent},
    Parameter{"channels", "elements of a pixel", 1, kMostExtent},
    Parameter{"filters", "elements of a pixel of the result", 1, kMostExtent},
    Parameter{"side", "of a filter (pixels); as many around as leave the image its size", 1, 32, 3},
    Parameter{"stride", "pixels from filter to filter", 1, 32, 1}};
constexpr std::array kParameters =
    with_own(kShape, open_setting("tile_m", "pixels of a block; 0: to choose", 512),
             open_setting("tile_n", "filters of a block; 0: to choose", 512),
             open_setting("split_k", "parts of the sum, each a block's; 0: to choose", 64));
constexpr std::array<std::size_t, 3> kOwnChoice = {kTileM, kTileN, kSplitK};

// GEMM rows: pixels of the result; columns: filters; k: pixels · channels of a filter.
Problem product_of(const Problem& p) {
  const std::int64_t pixels =
      p[kImages] * ceil_div(p[kHeight], p[kStride]) * ceil_div(p[kWidth], p[kStride]);
  return gemm::library_problem(p.dtype, pixels, p[kFilters], p[kChannels] * p[kSide] * p[kSide],
                               p[kTileM], p[kTileN], p[kSplitK]);
}

double matrix_elements(const Problem& p) {
  const Problem product = product_of(p);
  return as_double(product[gemm::kM]) * as_double(product[gemm::kK]);
}

/// Distinct image elements that are read. The GEMM's matrix A repeats them.
double image_elements(const Problem& p) {
  const double all = as_double(p[kImages] * p[kHeight] * p[kWidth]) * as_double(p[kChannels]);
  return std::min(all, matrix_elements(p));
}

Work convolution_work(const Problem& p) {
  const Problem product = product_of(p);
  Work work = gemm::library_work(product);
  work.compulsory.read_bytes = image_elements(p) * size_bytes(p.dtype) + gemm::sizes_of(product).b;
  return work;
}

IoComplexity convolution_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  return gemm::library_io(product_of(p), compulsory_bytes, on_chip_bytes);
}

LaunchSequence convolution_plan(const Problem& p, const Gpu& gpu) {
  const gemm::Packings image{.a = {.stored = image_elements(p) / matrix_elements(p)}};
  LaunchSequence sequence = gemm::plan_library(product_of(p), gpu, image);
  sequence.front().plan.notes.caveat =
      "an implicit product with cuBLAS's tiles, pixels last; that channels of less than 16 B are "
      "padded first is not counted";
  return sequence;
}

constexpr std::array kConvolutionTypes = {DType::bf16, DType::fp16, DType::tf32, DType::fp32};

constexpr std::array kConvolutionVariants = {KernelModel{
    .name = "convolution.library",
    .summary = "as an implicit product: the matrix of pixels and filters is never written",
    .parameters = kParameters,
    .dtypes = kConvolutionTypes,
    .plan = convolution_plan,
    .candidates =
        [](const Problem& p, const Gpu& gpu) {
          return gemm::candidates_of(p, product_of(p), gpu, kOwnChoice);
        },
    .own_choice = kOwnChoice,
    .outline = [](const Problem& p,
                  const Gpu& gpu) { return gemm::library_outline(product_of(p), gpu); }}};

}  // namespace

constinit const KernelFamily kInt4Family = {
    .name = "gemm_int4",
    .summary = "C[m,n] = A[m,k]·B[k,n], B in 4 bits, 128 of them with a scale",
    .parameters = gemm::kShape,
    .dtypes = kInt4Types,
    .variants = kInt4Variants,
    .work = int4_work,
    .io = gemm::library_io};

constinit const KernelFamily kConvolutionFamily = {.name = "convolution",
                                                   .summary = "filters over the pixels of images",
                                                   .parameters = kShape,
                                                   .dtypes = kConvolutionTypes,
                                                   .variants = kConvolutionVariants,
                                                   .work = convolution_work,
                                                   .io = convolution_io};

}  // namespace roofcast::products
