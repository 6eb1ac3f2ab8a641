#pragma once
// The tensor-core variants of the family, for its table.
#include <array>
#include <vector>

#include "model/kernels/gemm/simt.hpp"
#include "model/kernels/gemm/tensor.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/types/launch.hpp"

namespace roofcast::gemm::tensor {

LaunchSequence plan_mma_sync(const Problem&, const Gpu&);
std::vector<Problem> mma_sync_candidates(const Problem&, const Gpu&);

/// A batch in tiles of that kind; the uses count the operands and the results of all its products.
/// Tiles read each operand of their product from L2; it comes from DRAM once.
Plan mma_sync_batch(const Problem&, const MmaTile&, const Operands&, const ArrayUse& result,
                    const Gpu&);

LaunchSequence plan_wgmma(const Problem&, const Gpu&);
std::vector<Problem> wgmma_candidates(const Problem&, const Gpu&);
Outline wgmma_outline(const Problem&, const Gpu&);
LaunchSequence copies_before_wgmma(const Problem& problem, const Gpu& gpu);

LaunchSequence plan_skinny(const Problem&, const Gpu&);
std::vector<Problem> skinny_candidates(const Problem&, const Gpu&);

inline constexpr std::array kMmaTypes = {DType::bf16, DType::fp16, DType::tf32, DType::int8};
inline constexpr std::array kWgmmaTypes = {DType::bf16, DType::fp16, DType::tf32, DType::fp8};
inline constexpr std::array kSkinnyTypes = {DType::bf16, DType::fp16};

inline constexpr roofcast::Parameter kLayoutOfB = {
    "transposed_b", "1: B is stored as [n,k], as the weights of a linear layer", 0, 1, 0};
inline constexpr roofcast::Parameter kLayoutOfA = {"transposed_a", "1: A is stored as [k,m]", 0, 1,
                                                   0};
inline constexpr roofcast::Parameter kProducts = {
    "batch", "products of that shape, their operands one after the other", 1, kMostBlocksYZ, 1};
constexpr roofcast::Parameter leading_dimension(std::string_view name, std::string_view meaning) {
  return {name, meaning, 0, 2 * kMaxExtent, 0};
}
inline constexpr roofcast::Parameter kRowsOfA =
    leading_dimension("lda", "elements of A from row to row; 0: rows are dense");
inline constexpr roofcast::Parameter kRowsOfB =
    leading_dimension("ldb", "elements of B from row to row; 0: rows are dense");
inline constexpr roofcast::Parameter kRowsOfC =
    leading_dimension("ldc", "elements of C from row to row; 0: rows are dense");
inline constexpr roofcast::Parameter kRowsOfTile =
    setting("tile_m", "rows of C a block computes; 0: to choose", kToChoose, 512, kToChoose);
inline constexpr roofcast::Parameter kColumnsOfTile =
    setting("tile_n", "columns of C a block computes; 0: to choose", kToChoose, 512, kToChoose);
inline constexpr roofcast::Parameter kPartsOfK =
    setting("split_k", "parts of k, each a block's; 0: to choose", kToChoose, 64, kToChoose);
inline constexpr std::array kMmaParameters =
    with_own(kShape, kRowsOfTile, kColumnsOfTile,
             setting("tile_k", "depth of a stage; 0: to choose", kToChoose, 128, kToChoose),
             kLayoutOfB, kLayoutOfA, kProducts, kRowsOfA, kRowsOfB, kRowsOfC);
inline constexpr std::array kWgmmaParameters = with_own(
    kShape, kRowsOfTile, kColumnsOfTile,
    setting("tile_k", "depth of a stage, 128 bytes; 0: to choose", kToChoose, 128, kToChoose),
    kLayoutOfB, kLayoutOfA, kProducts, kRowsOfA, kRowsOfB, kRowsOfC, kPartsOfK,
    setting("cluster", "blocks that share B's tile by multicast; 0: to choose", kToChoose, 2,
            kToChoose),
    setting("split_rest",
            "parts of k of the tiles of the last round, where it is not full; 0: to choose",
            kToChoose, 16, kToChoose));
inline constexpr std::array kSkinnyParameters = with_own(
    kShape,
    setting("tile_m", "tokens a block takes: rows of A or columns of B; 0: to choose", kToChoose,
            kMostTokens, kToChoose),
    setting("tile_n", "rows of weights a block takes; 0: to choose", kToChoose, 128, kToChoose),
    setting("tile_k", "k of the loads of four lanes, 32, or depth of a stage; 0: to choose",
            kToChoose, 128, kToChoose),
    kLayoutOfB, kLayoutOfA, kProducts, kRowsOfA, kRowsOfB, kRowsOfC, kPartsOfK);

// validation/sweeps/tensor.json and random.json.
inline constexpr std::array kProductsValidated = {
    ValidatedRange{kM, 64, 32768}, ValidatedRange{kN, 64, 50304}, ValidatedRange{kK, 64, 28672}};
inline constexpr std::array kMmaValidated = {
    ValidatedRange{kM, 64, 32768}, ValidatedRange{kN, 64, 50304}, ValidatedRange{kK, 64, 16384}};
inline constexpr std::array kSkinnyValidated = {
    ValidatedRange{kM, 1, 65536}, ValidatedRange{kN, 1, 65536}, ValidatedRange{kK, 1024, 32768}};

inline constexpr KernelModel kMmaSync = {
    .name = "gemm.mma_sync",
    .summary = "tensor cores by mma.sync: cp.async copies ahead, each warp multiplies by itself",
    .parameters = kMmaParameters,
    .dtypes = kMmaTypes,
    .plan = plan_mma_sync,
    .validated = kMmaValidated,
    .candidates = mma_sync_candidates,
    .work = product_work,
    .io = product_io};
inline constexpr KernelModel kWgmma = {
    .name = "gemm.wgmma",
    .summary = "tensor cores by wgmma: TMA, four warps multiply together, persistent blocks",
    .parameters = kWgmmaParameters,
    .dtypes = kWgmmaTypes,
    .plan = plan_wgmma,
    .validated = kProductsValidated,
    .candidates = wgmma_candidates,
    .outline = wgmma_outline,
    .before = copies_before_wgmma,
    .work = product_work,
    .io = product_io};
inline constexpr KernelModel kSkinny = {
    .name = "gemm.skinny",
    .summary = "few rows or columns (decode): weights read once, at the copy rate",
    .parameters = kSkinnyParameters,
    .dtypes = kSkinnyTypes,
    .plan = plan_skinny,
    .validated = kSkinnyValidated,
    .candidates = skinny_candidates,
    .work = product_work,
    .io = product_io};

}  // namespace roofcast::gemm::tensor
