// convolution.library: cuDNN's implicit GEMMs of images whose channels lie last (NHWC).
#include "model/libraries/convolution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "model/constants/libraries.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::convolution {
namespace {

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
             open_setting("split_k", "parts of the sum, each a block's; 0: one", 64));
constexpr std::array<std::size_t, 3> kOwnChoice = {kTileM, kTileN, kSplitK};

// Sides of cuDNN's tiles, by the names of its kernels, as far as the products' catalogue has them.
constexpr std::array<std::int64_t, 3> kTileSides = {64, 128, 256};

struct Layer {
  Problem p;

  double bytes(std::int64_t elements) const { return as_double(elements) * size_bytes(p.dtype); }
  std::int64_t taps() const { return p[kSide] * p[kSide]; }
  std::int64_t pixels() const { return p[kImages] * p[kHeight] * p[kWidth]; }
  std::int64_t results() const {  ///< pixels of the result
    return p[kImages] * ceil_div(p[kHeight], p[kStride]) * ceil_div(p[kWidth], p[kStride]);
  }
  double image_bytes() const { return bytes(pixels() * p[kChannels]); }
  double filter_bytes() const { return bytes(taps() * p[kChannels] * p[kFilters]); }
  /// Share of the pixels that the filters read.
  double read_share() const {
    return std::min(1.0, as_double(results() * taps()) / as_double(pixels()));
  }
  /// Rows: pixels of the result; columns: filters; k: the channels of all taps.
  Problem product() const {
    return gemm::library_problem(p.dtype, results(), p[kFilters], p[kChannels] * taps(), p[kTileM],
                                 p[kTileN], std::max<std::int64_t>(1, p[kSplitK]));
  }
  /// cuDNN takes wgmma where a tap's filters are a large matrix (84% of 617 kernels' names, 79% of
  /// 779 with filters of one pixel), and for tf32; else mma.sync.
  gemm::LibraryKernels kernels(const Gpu& gpu) const {
    constexpr std::int64_t kLeastMatrix = 4096, kMostFilters = 128;
    const Problem implicit = product();
    const gemm::LibraryKernels cublas = gemm::cublas_kernels(implicit, gpu);
    if (cublas == gemm::LibraryKernels::simt || !gemm::library_aligned(implicit) ||
        !gpu.features.has(Instruction::wgmma)) {
      return cublas;
    }
    const bool large = p[kChannels] * std::min(p[kFilters], kMostFilters) >= kLeastMatrix;
    return large || p.dtype == DType::tf32 ? gemm::LibraryKernels::xmma
                                           : gemm::LibraryKernels::mma_sync;
  }
  /// The matrix of pixels repeats them for each tap and is never stored. On tensor cores a k-slab,
  /// or half of one for mma.sync, holds channels of one tap.
  gemm::Packings packings(const Gpu& gpu) const {
    const gemm::LibraryKernels by = kernels(gpu);
    const std::int64_t row = p[kChannels] * element_bytes(p.dtype);
    const std::int64_t slab =
        by == gemm::LibraryKernels::mma_sync ? gemm::kUsualStepBytes / 2 : gemm::kUsualStepBytes;
    const double slabs = as_double(round_up(row, slab)) / as_double(row);
    return {.a = {.stored = read_share() * as_double(pixels()) / as_double(results() * taps())},
            .k_slabs = by == gemm::LibraryKernels::simt ? 1 : slabs,
            .kernels = by};
  }
};

// The layer as it is multiplied. Tensor cores need pixels of whole 16 bytes, except where the
// pixels are rows of a matrix.
Layer multiplied(Problem p) {
  const bool is_matrix = p[kSide] == 1 && p[kStride] == 1;
  if (is_matrix || p.dtype == DType::fp32) return {p};
  for (const std::size_t extent : {kChannels, kFilters}) {
    p[extent] = round_up(p[extent], gemm::kVectorBytes / element_bytes(p.dtype));
  }
  return {p};
}

Work convolution_work(const Problem& p) {
  const Layer layer{p};
  Work work = gemm::library_work(layer.product());
  work.compulsory.read_bytes = layer.read_share() * layer.image_bytes() + layer.filter_bytes();
  return work;
}

IoComplexity convolution_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  return gemm::library_io(Layer{p}.product(), compulsory_bytes, on_chip_bytes);
}

// --- launches beside the product ---

// nhwcAddPaddingKernel, by its machine code: a thread finds the place of an element of `from` by
// three divisions, loads it, adds it to what `to` holds there and stores.
Plan repadded(const ArrayUse& from, ArrayUse to, std::int64_t element) {
  constexpr std::int64_t kThreads = 1024;
  constexpr double kInstructions = 51, kChain = 28;
  to.footprint.read_bytes = to.footprint.write_bytes;
  const auto elements = static_cast<std::int64_t>(from.footprint.read_bytes) / element;
  return even_launch(ceil_div(elements, kThreads), kThreads, {from, to},
                     {.warp_instructions = warps_of(kThreads) * kInstructions,
                      .waits = {.global = 1, .arithmetic = kChain}});
}

// Before a product on tensor cores pixels are extended to whole 16 bytes, and cut after it. fp32
// kernels take images by channel (NCHW).
LaunchSequence convolution_plan(const Problem& p, const Gpu& gpu) {
  constexpr ArrayId kInner = gemm::kBeside + 2;  // A, B and C as the product takes them
  const Layer given{p}, inner = multiplied(p);
  const bool to_nchw = p.dtype == DType::fp32;
  LaunchSequence sequence, product = gemm::plan_library(inner.product(), gpu, inner.packings(gpu));
  Plan& multiply = product.front().plan;
  // Winograd or FFT, which cuDNN takes in fp32, needs fewer FLOPs than the direct sum.
  multiply.useful = to_nchw && p[kSide] != 1 ? Work{} : gemm::library_work(given.product());
  multiply.useful.compulsory = {};
  multiply.notes.guessed_kernel = true;
  multiply.notes.caveat =
      "an implicit product, pixels last; which of cuDNN's tiles it takes is a guess";
  const auto as_inner = [&](ArrayUse& use) {
    use.array += kInner;
    use.compulsory = {};
    use.activation = false;
    return use.array;
  };
  const auto rearrange = [&](const ArrayUse& from, const ArrayUse& to) {
    const auto blocks = [](double bytes, double of_block) {
      return static_cast<std::int64_t>(std::ceil(bytes / of_block));
    };
    if (to_nchw) {  // nhwcToNchwKernel, nchwToNhwcKernel: tiles of 4 KiB through shared memory
      const Step step{.waits = {.global = 1, .shared = 1, .barriers = 1}};
      return sequence.push_back(
          {even_launch(blocks(from.footprint.read_bytes, 4096), 256, {from, to}, step)});
    }
    if (from.array < kInner) {  // a memset: a thread stores 16 bytes
      sequence.push_back({even_launch(blocks(to.footprint.write_bytes, 512 * 16), 512, {to}, {})});
    }
    sequence.push_back({repadded(from, to, element_bytes(p.dtype))});
  };
  const bool channels = to_nchw || inner.p[kChannels] != p[kChannels];
  const bool filters = to_nchw || inner.p[kFilters] != p[kFilters];
  if (channels) {
    ArrayUse from = reads_activation(gemm::kA, given.image_bytes());
    from.compulsory.read_bytes *= given.read_share();
    const ArrayId a = as_inner(multiply.arrays[gemm::kA]);
    rearrange(from, scratch(a, {0, inner.image_bytes()}));
  }
  if (channels || filters) {
    const ArrayId b = as_inner(multiply.arrays[gemm::kB]);
    rearrange(reads(gemm::kB, given.filter_bytes()), scratch(b, {0, inner.filter_bytes()}));
  }
  for (Launched& one : product) sequence.push_back(std::move(one));
  if (filters) {
    ArrayUse& use = sequence.back().plan.arrays.back();
    as_inner(use);
    rearrange(scratch(use.array, {use.footprint.write_bytes, 0}),
              writes(gemm::kC, given.bytes(given.results() * p[kFilters])));
  }
  return sequence;
}

std::vector<Problem> convolution_candidates(const Problem& p, const Gpu& gpu) {
  const Layer inner = multiplied(p);
  const Problem product = inner.product();
  const gemm::LibraryKernels kernels = inner.kernels(gpu);
  std::vector<Problem> found;
  for (const std::int64_t m : kTileSides) {
    for (const std::int64_t n : kTileSides) {
      if (!is_asked(p[kTileM], m) || !is_asked(p[kTileN], n)) continue;
      const Problem tiled = gemm::in_tiles(product, m, n, product[gemm::kSplitK]);
      if (!gemm::find_tile(tiled, gpu, kernels)) continue;
      found.push_back(gemm::candidates_of(p, tiled, gpu, kOwnChoice, kernels).front());
    }
  }
  return found.empty() ? gemm::candidates_of(p, product, gpu, kOwnChoice, kernels) : found;
}

std::vector<Outline> convolution_outlines(std::span<const Problem> candidates, const Gpu& gpu) {
  std::vector<Outline> found;
  for (const Problem& p : candidates) {
    const Layer given{p}, inner = multiplied(p);
    Outline outline = gemm::library_outline(inner.product(), gpu, inner.packings(gpu));
    outline.useful_flops = gemm::library_work(given.product()).tensor_flops.total();
    if (inner.p[kChannels] != p[kChannels]) outline.operands = {};  // launches before wrote them
    if (inner.p[kFilters] != p[kFilters]) outline.operands.back() = {};
    found.push_back(outline);
  }
  return found;
}

constexpr std::array kTypes = {DType::bf16, DType::fp16, DType::tf32, DType::fp32};

constexpr std::array kVariants = {KernelModel{
    .name = "convolution.library",
    .summary = "as an implicit product: the matrix of pixels and filters is never written",
    .parameters = kParameters,
    .dtypes = kTypes,
    .plan = convolution_plan,
    .candidates = convolution_candidates,
    .own_choice = kOwnChoice,
    .outlines = convolution_outlines}};

}  // namespace

constinit const KernelFamily kFamily = {.name = "convolution",
                                        .summary = "filters over the pixels of images",
                                        .parameters = kShape,
                                        .dtypes = kTypes,
                                        .variants = kVariants,
                                        .work = convolution_work,
                                        .io = convolution_io};

}  // namespace roofcast::convolution
