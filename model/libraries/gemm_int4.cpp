// gemm_int4.library: Marlin's GEMM, whose weights of 4 bits are widened before the product.
#include <array>
#include <span>

#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::gemm {
namespace {

void require_plain(const Problem& p) {
  require(p[kQuantize] == kNothing && p[kLayout] == kNN,
          "weights of 4 bits lie packed: leave 'quantize' and 'layout' out");
}

/// Bytes per weight, with a 16-bit scale per group (AWQ, arXiv 2306.00978; GPTQ), relative to the
/// two bytes of a widened weight.
constexpr double kGroup = 128, kInt4Share = (0.5 + 2 / kGroup) / 2;

/// Threads widen the weights: they shift and mask four bits, merge them into a pair of halves,
/// subtract an offset, and scale (Marlin, arXiv 2408.11743, section 3.4).
constexpr Packings kInt4{.b = {kInt4Share, kInt4Share}, .widening = 1.5};

Work int4_work(const Problem& p) {
  Work work = library_work(p);
  work.compulsory.read_bytes -= sizes_of(p).b - sizes_of(p, kInt4).b;
  return work;
}

std::vector<Problem> int4_candidates(const Problem& p, const Gpu& gpu) {
  require_plain(p);
  return library_candidates(p, gpu);
}

std::vector<Outline> int4_outlines(std::span<const Problem> candidates, const Gpu& gpu) {
  return library_outlines(candidates, gpu, kInt4);
}

LaunchSequence int4_plan(const Problem& p, const Gpu& gpu) {
  require_plain(p);
  LaunchSequence sequence = plan_library(p, gpu, kInt4);
  sequence.front().plan.notes.caveat =
      "weights of 4 bits are widened as Marlin's source counts: PyTorch's own kernel takes 0.8 to "
      "1.4 times as long for one row where it was measured, and 8 to 17 times for 64";
  return sequence;
}

constexpr std::array kInt4Types = {DType::bf16, DType::fp16};

constexpr std::array kInt4Variants = {
    KernelModel{.name = "gemm_int4.library",
                .summary = "cuBLAS's tiles, weights widened on their way to the products",
                .parameters = std::span(kLibraryParameters).first(kEpilogue),
                .dtypes = kInt4Types,
                .plan = int4_plan,
                .candidates = int4_candidates,
                .own_choice = kOwnChoice,
                .outlines = int4_outlines}};

}  // namespace

constinit const KernelFamily kInt4Family = {
    .name = "gemm_int4",
    .summary = "C[m,n] = A[m,k]·B[k,n], B in 4 bits, 128 of them with a scale",
    .parameters = kShape,
    .dtypes = kInt4Types,
    .variants = kInt4Variants,
    .work = int4_work,
    .io = library_io};

}  // namespace roofcast::gemm
