#pragma once
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/kernels/gemm/gemm.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::gemm {

/// cuBLAS's kernel for a GEMM: the one of least expected time in a catalogue of tiles and splits of
/// k (gemm_catalogue.hpp). Operands are prefetched in k-slabs of 128 bytes unless the tile says
/// otherwise. A separate launch reduces the splits.
enum LibrarySetting : std::size_t { kSplitK = kTileN + 1, kWeightCopies, kBatch, kQuantize };
enum LibraryParameter : std::size_t { kLayout = kQuantize + 1, kLda, kLdb, kEpilogue };

/// One GEMM of dense matrices in layout nn, with the given tile and splits of k.
constexpr Problem library_problem(DType type, std::int64_t m, std::int64_t n, std::int64_t k,
                                  std::int64_t tile_m = kToChoose, std::int64_t tile_n = kToChoose,
                                  std::int64_t split_k = kToChoose) {
  Problem problem{.dtype = type, .values = {m, n, k, tile_m, tile_n, split_k}};
  problem[kBatch] = 1;
  return problem;
}

/// Epilogues of cuBLASLt (cublasLtEpilogue_t, CUDA 13): BIAS, RELU_BIAS, GELU_BIAS, their AUX
/// forms, DGELU, C added by beta = 1. No SwiGLU, no activation after adding C.
enum Epilogue : std::int64_t { kPlain, kBias, kRelu, kGelu, kReluAux, kGeluAux, kDGelu, kResidual };
inline constexpr std::array<std::string_view, 8> kEpilogueNames = {
    "none", "bias", "relu", "gelu", "relu_aux", "gelu_aux", "dgelu", "residual"};

/// Kernels of a library by the instruction that multiplies: FMA, mma.sync, wgmma as in sm90_xmma_*,
/// or wgmma and tcgen05 with one side of any width (nvjet_*).
enum class LibraryKernels { simt, mma_sync, xmma, any_width };

/// Bytes of an operand relative to a dense matrix: stored in memory, and received by the SMs.
struct Packing {
  double stored = 1, received = 1;
};
struct Packings {
  Packing a{}, b{};
  double widening = 0;                      ///< thread instructions per element of B
  double k_slabs = 1;                       ///< relative to those of a dense k
  std::optional<LibraryKernels> kernels{};  ///< absent: cublas_kernels()
};

LaunchSequence plan_library(const Problem& problem, const Gpu& gpu, const Packings& packings = {});
/// `alone`: the GEMM shares its tile with no other: it may be a matrix-vector product.
std::vector<Problem> library_candidates(const Problem& problem, const Gpu& gpu, bool alone = false,
                                        std::optional<LibraryKernels> kernels = {});
/// No blocks for a matrix-vector product.
Outline library_outline(const Problem& problem, const Gpu& gpu, const Packings& packings = {});
std::vector<Outline> library_outlines(std::span<const Problem> candidates, const Gpu& gpu,
                                      const Packings& packings = {});
Work library_work(const Problem& problem);
IoComplexity library_io(const Problem& problem, double compulsory_bytes, double on_chip_bytes);

/// `problem` with each candidate tile and split of `product`, set at the positions `settings`.
std::vector<Problem> candidates_of(const Problem& problem, const Problem& product, const Gpu& gpu,
                                   std::span<const std::size_t> settings,
                                   std::optional<LibraryKernels> kernels = {});

inline constexpr std::array kLibraryTypes = {DType::bf16, DType::fp16, DType::tf32, DType::fp8,
                                             DType::fp32};
inline constexpr std::array<std::string_view, 4> kQuantizeNames = {"nothing", "activations",
                                                                   "dynamic", "dynamic_vectors"};

inline constexpr std::array kLibraryParameters = with_own(
    kShape, open_setting("tile_m", "rows of C a block computes; 0: to choose", 512),
    open_setting("tile_n", "columns of C a block computes; 0: to choose", 512),
    open_setting("split_k", "parts of k, each a block's; 0: to choose", 64),
    setting("weight_copies",
            "copies of B that launches with the same A and C take in turn: warm or steady, L2 may "
            "still hold the next; 0: it never does",
            0, 1024, 0),
    roofcast::Parameter{"batch", "products of that shape, each of its own operands", 1,
                        std::int64_t{1} << 20, 1},
    choice(
        "quantize",
        "fp8: activations, A comes in 16 bits and a launch before the product converts it; "
        "dynamic, by its own largest element, found in launches before that (dynamic_vectors: as "
        "newer releases of TensorRT-LLM do)",
        kQuantizeNames, kNothing),
    choice("layout", "how A and B lie: n as [m,k] and [k,n], t as [k,m] and [n,k]", kLayoutNames,
           kNN),
    roofcast::Parameter{"lda", "elements from row to row of A as it lies; 0: dense", 0,
                        std::int64_t{1} << 30, 0},
    roofcast::Parameter{"ldb", "elements from row to row of B as it lies; 0: dense", 0,
                        std::int64_t{1} << 30, 0},
    choice("epilogue",
           "what cuBLASLt does to C before it stores it: a bias, with ReLU or GELU too (aux: what "
           "the gradient needs is kept), the gradient of GELU, or a matrix added",
           kEpilogueNames, kPlain));

inline constexpr std::array<std::size_t, 3> kOwnChoice = {kTileM, kTileN, kSplitK};

inline constexpr std::array kLibraryValidated = {
    ValidatedRange{kM, 1, 32768}, ValidatedRange{kN, 32, 65536}, ValidatedRange{kK, 32, 65536}};

inline constexpr KernelModel kLibrary = {
    .name = "gemm.library",
    .summary = "what cuBLAS does: the best of its tiles and splits of k; fp32 on the SIMT pipes",
    .parameters = kLibraryParameters,
    .dtypes = kLibraryTypes,
    .plan = [](const Problem& p, const Gpu& gpu) { return plan_library(p, gpu); },
    .candidates = [](const Problem& p, const Gpu& gpu) { return library_candidates(p, gpu, true); },
    .validated = kLibraryValidated,
    .own_choice = kOwnChoice,
    .outlines = [](std::span<const Problem> candidates,
                   const Gpu& gpu) { return library_outlines(candidates, gpu); },
    .work = library_work,
    .io = library_io};

extern const KernelFamily kInt4Family;  ///< with weights of 4 bits

}  // namespace roofcast::gemm
