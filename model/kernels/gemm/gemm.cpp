// The family's table: the SIMT ladder, the tensor cores, then the library.
#include "model/kernels/gemm/gemm.hpp"

#include <span>

#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/libraries/gemm.hpp"

namespace roofcast::gemm {
namespace {

Work work(const Problem& p) {
  const tensor::Sizes s(p);
  return {.vector_flops = s.flops(), .compulsory = {s.a() + s.b(), s.outputs() * s.element}};
}

// A batch counts as one product with the rows of all.
IoComplexity io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  const tensor::Sizes s(p);
  return matrix_product_io(s.batch * s.m, s.n, s.k, s.element, compulsory_bytes, on_chip_bytes);
}

using Parameters = std::span<const roofcast::Parameter>;

constexpr roofcast::Parameter tile(std::string_view name, std::string_view meaning,
                                   std::int64_t fallback) {
  return setting(name, meaning, 1, 512, fallback);
}

/// Parameters of the SIMT ladder; each rung takes a prefix of them.
constexpr auto ladder(std::int64_t tile_m, std::int64_t tile_n, std::int64_t tile_k,
                      std::int64_t thread_m, std::int64_t thread_n) {
  return with_own(kShape, tile("tile_m", "rows of C a block computes", tile_m),
                  tile("tile_n", "columns of C a block computes", tile_n),
                  tile("tile_k", "depth of the tiles in shared memory", tile_k),
                  tile("thread_m", "rows of C a thread computes", thread_m),
                  tile("thread_n", "columns of C a thread computes", thread_n));
}
constexpr auto kTiled = ladder(32, 32, 32, 1, 1);
constexpr auto kCoarsened1d = ladder(64, 64, 8, 8, 1);
constexpr auto kCoarsened2d = ladder(128, 128, 8, 8, 8);
constexpr auto kVectorized = ladder(128, 256, 16, 16, 8);

constexpr roofcast::Parameter leading_dimension(std::string_view name, std::string_view meaning) {
  return {name, meaning, 0, 2 * kMaxExtent, 0};
}
/// Parameters of the variants on tensor cores, with the given tile; each variant takes a prefix.
constexpr auto on_tensor_cores(const roofcast::Parameter& tile_m, const roofcast::Parameter& tile_n,
                               const roofcast::Parameter& tile_k) {
  return with_own(
      kShape, tile_m, tile_n, tile_k,
      roofcast::Parameter{"transposed_b",
                          "1: B is stored as [n,k], as the weights of a linear layer", 0, 1, 0},
      roofcast::Parameter{"transposed_a", "1: A is stored as [k,m]", 0, 1, 0},
      roofcast::Parameter{"batch", "products of that shape, their operands one after the other", 1,
                          kMostBlocksYZ, 1},
      leading_dimension("lda", "elements of A from row to row; 0: rows are dense"),
      leading_dimension("ldb", "elements of B from row to row; 0: rows are dense"),
      leading_dimension("ldc", "elements of C from row to row; 0: rows are dense"),
      open_setting("split_k", "parts of k, each a block's; 0: to choose", 64),
      open_setting("cluster",
                   "blocks that share B's tile (swap_ab: A's) by multicast; 0: to choose", 2),
      open_setting("split_rest",
                   "parts of k of the tiles of the last round, where it is not full; 0: to choose",
                   16));
}
constexpr auto kTensor =
    on_tensor_cores(open_setting("tile_m", "rows of C a block computes; 0: to choose", 512),
                    open_setting("tile_n", "columns of C a block computes; 0: to choose", 512),
                    open_setting("tile_k", "depth of a stage; 0: to choose", 128));
constexpr auto kSkinny = on_tensor_cores(
    open_setting("tile_m", "tokens a block takes: rows of A or columns of B; 0: to choose",
                 tensor::kMostTokens),
    open_setting("tile_n", "rows of weights a block takes; 0: to choose", 128),
    open_setting("tile_k", "k of the loads of four lanes, 32, or depth of a stage; 0: to choose",
                 128));

constexpr std::array kSimtTypes = {DType::fp32};
constexpr std::array kMmaTypes = {DType::bf16, DType::fp16, DType::tf32, DType::int8};
constexpr std::array kWgmmaTypes = {DType::bf16, DType::fp16, DType::tf32, DType::fp8};
constexpr std::array kSkinnyTypes = {DType::bf16, DType::fp16};

// validation/sweeps/gemm.json, tensor.json and random.json.
constexpr std::array kValidated = {ValidatedRange{kM, 64, 50304}, ValidatedRange{kN, 64, 50257},
                                   ValidatedRange{kK, 128, 16384}};
constexpr std::array kMmaValidated = {ValidatedRange{kM, 64, 32768}, ValidatedRange{kN, 64, 50304},
                                      ValidatedRange{kK, 64, 16384}};
constexpr std::array kWgmmaValidated = {
    ValidatedRange{kM, 64, 32768}, ValidatedRange{kN, 64, 50304}, ValidatedRange{kK, 64, 28672}};
constexpr std::array kSkinnyValidated = {ValidatedRange{kM, 1, 65536}, ValidatedRange{kN, 1, 65536},
                                         ValidatedRange{kK, 1024, 32768}};

constexpr std::array<KernelModel, 10> kVariants = {{
    {"gemm.naive", "one thread an element, warps walk down rows (uncoalesced)",
     Parameters(kTiled).first(kTileN + 1), kSimtTypes,
     [](const Problem& p, const Gpu&) { return plan_direct(p, true); }},
    {"gemm.coalesced", "one thread an element, warps walk along columns",
     Parameters(kTiled).first(kTileN + 1), kSimtTypes,
     [](const Problem& p, const Gpu&) { return plan_direct(p, false); }},
    {"gemm.tiled", "operand tiles staged in shared memory", Parameters(kTiled).first(kTileK + 1),
     kSimtTypes, [](const Problem& p, const Gpu&) { return plan_staged(p, "gemm::tiled_kernel"); }},
    {"gemm.coarsened_1d", "a column of outputs a thread",
     Parameters(kCoarsened1d).first(kThreadM + 1), kSimtTypes,
     [](const Problem& p, const Gpu&) { return plan_staged(p, "gemm::coarsened_1d_kernel"); }},
    {"gemm.coarsened_2d", "a register tile of outputs a thread", kCoarsened2d, kSimtTypes,
     [](const Problem& p, const Gpu&) { return plan_staged(p, "gemm::coarsened_2d_kernel"); }},
    {"gemm.vectorized", "128-bit accesses, tiles copied ahead", kVectorized, kSimtTypes,
     [](const Problem& p, const Gpu&) { return plan_staged(p, "gemm::vectorized_kernel", true); }},
    {.name = "gemm.mma_sync",
     .summary = "tensor cores by mma.sync: cp.async copies ahead, each warp multiplies by itself",
     .parameters = Parameters(kTensor).first(tensor::kLdc + 1),
     .dtypes = kMmaTypes,
     .plan = tensor::plan_mma_sync,
     .candidates = tensor::mma_sync_candidates,
     .validated = kMmaValidated,
     .work = tensor::product_work},
    {.name = "gemm.wgmma",
     .summary = "tensor cores by wgmma: TMA, four warps multiply together, persistent blocks",
     .parameters = kTensor,
     .dtypes = kWgmmaTypes,
     .plan = tensor::plan_wgmma,
     .candidates = tensor::wgmma_candidates,
     .validated = kWgmmaValidated,
     .outlines = tensor::wgmma_outlines,
     .work = tensor::product_work},
    {.name = "gemm.skinny",
     .summary = "few rows or columns (decode): weights read once, at the copy rate",
     .parameters = Parameters(kSkinny).first(tensor::kSplitK + 1),
     .dtypes = kSkinnyTypes,
     .plan = tensor::plan_skinny,
     .candidates = tensor::skinny_candidates,
     .validated = kSkinnyValidated,
     .work = tensor::product_work},
    kLibrary,
}};

}  // namespace

constinit const KernelFamily kFamily = {
    "gemm", "C[m,n] = A[m,k]·B[k,n], row-major", kShape, kAllDTypes, kVariants, kValidated, work,
    io};

}  // namespace roofcast::gemm
