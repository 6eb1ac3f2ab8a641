#pragma once
// The register of library kernels' constants that no public source states.
#include <array>

#include "model/constants/constant.hpp"

namespace roofcast::library {

inline constexpr std::string_view kAttentionFit =
    "attention-libraries-2026-11-24 of both GPUs in validation/measured, shapes of even position: "
    "coordinate search of the mean |log error| of time";

inline constexpr std::string_view kFlash2Fit =
    "shapes of even position of attention-libraries-2026-11-24 and 2,500 rows each (seed 5) of "
    "vLLM 0.24's FlashAttention-2 by compute capability 8.9 and of 0.14's prefill by 8.0 "
    "(ai-dynamo/aiconfigurator): chosen by hand from 1 to 6 and 0 to 600";
inline constexpr std::string_view kFlash2Code =
    "SASS of PyTorch 2.11's flash_fwd_kernel, attention-flash2-code-2026-11-30 in "
    "validation/measured";

inline constexpr Constant kFlash2Products =
    fitted("attention_flash2_products", 2, "",
           "products in flight per warp in FlashAttention-2's forward: S and P·V",
           "attention-flash2-2026-11-30 and attention-libraries-2026-11-24 in validation/measured, "
           "500 rows each of the tables of 2026-11-26: 1.5, 1.75 or 2",
           "2026-11-30");
inline constexpr Constant kFlash2ScoreInstructions =
    counted("attention_flash2_score_instructions", 8.5, "",
            "thread instructions per score in FlashAttention-2's forward: scale, subtraction, the "
            "maximum, the exponential with a comparison and two products for small numbers, the "
            "sum, half a conversion",
            kFlash2Code, "2026-11-30");
inline constexpr Constant kFlash2StepInstructions =
    counted("attention_flash2_step_instructions", 130, "",
            "instructions of a warp per step beyond scores and products: copies, the exchange of "
            "maxima, sums rescaled",
            kFlash2Code, "2026-11-30");
inline constexpr Constant kFlash2MaskInstructions =
    counted("attention_flash2_mask_instructions", 2.5, "",
            "thread instructions per score of a masked step of FlashAttention-2's forward: the "
            "diagonal; as many for the last key where lengths fill no tile; 2.5 times as many "
            "where a thread holds 128 elements of O and spills registers",
            kFlash2Code, "2026-11-30");
inline constexpr Constant kFlash2BlockInstructions =
    counted("attention_flash2_block_instructions", 350, "",
            "instructions of a warp outside the steps of FlashAttention-2's forward", kFlash2Code,
            "2026-11-30");
inline constexpr Constant kFlash2OutputInstructions =
    counted("attention_flash2_output_instructions", 4, "",
            "further ones per element of O that a thread holds", kFlash2Code, "2026-11-30");
inline constexpr Constant kBlockOperations =
    fitted("attention_block_operations", 300, "",
           "dependent operations of a block before its first tile, or per 16 rows of a "
           "TensorRT-LLM group: addresses, divisions, sums over rows",
           kFlash2Fit, "2026-11-26");
inline constexpr Constant kCacheWriteWaits = fitted(
    "attention_cache_waits", 8, "trips",
    "round trips to L2 or DRAM of a vLLM block that writes to a cache: positions, data",
    "attention_fa3_causal_prefill.csv above 20 us, compute capability 9.0: by hand among 4 to 10",
    "2026-11-26");
inline constexpr Constant kScoreInstructions =
    counted("attention_score_instructions", 5.3, "",
            "thread instructions per score: a multiply-add for scale and maximum, the maximum, the "
            "exponential, the sum, half a conversion to a pair; backward a multiply-add, the "
            "exponential, a subtraction, a product and two halves of conversions",
            "this project's flash3, 6.3 with the sums at head dim 128", "2026-11-24");
inline constexpr Constant kPackedScoreInstructions = counted(
    "attention_packed_score_instructions", 3, "",
    "thread instructions per score where one instruction computes two: half a multiply-add, half a "
    "maximum of three, the exponential, half a sum, half a conversion",
    "PTX ISA: fma and add of f32x2, max of three inputs, compute capability 10.0", "2026-11-27");
inline constexpr Constant kMaskInstructions =
    fitted("attention_mask_instructions", 8, "",
           "thread instructions per score that a causal mask cuts, in cuDNN and FlashAttention-2's "
           "backward",
           kAttentionFit, "2026-11-24");
inline constexpr Constant kResultInstructions =
    fitted("attention_result_instructions", 30, "",
           "thread instructions per element of dK and dV at the end of a block, in cuDNN",
           kAttentionFit, "2026-11-24");
inline constexpr Constant kGradientPassWaits = fitted(
    "attention_pass_waits", 8, "trips",
    "round trips to L2 or DRAM of a block of the row kernels before or after backward's GEMMs, and "
    "of PyTorch's sums of dK and dV over a group",
    "attention-libraries-2026-11-24 and -26 of both GPUs in validation/measured: one value where "
    "two had been fitted, 6 and 12",
    "2026-11-30");

inline constexpr Constant kVectorInstructions =
    fitted("attention_vector_instructions", 15, "",
           "thread instructions per element of K and of V without tensor cores (MMHA): "
           "conversions, multiply-adds, a part of the sums over threads",
           "attention_decode.csv (ai-dynamo/aiconfigurator, TensorRT-LLM), rows of even position "
           "over 20 us of both GPUs: least mean error of time among 14 to 17",
           "2026-11-26");

inline constexpr Constant kVectorOperations =
    fitted("attention_vector_operations", 2000, "",
           "dependent operations of an MMHA block before its first keys and after its last",
           "attention_decode.csv, lone heads to 64 keys of rows of even position of both GPUs",
           "2026-11-26");

inline constexpr Constant kMovedInstructions = measured(
    "attention_moved_instructions", 95, "",
    "issue slots of a warp per 32 elements that PyTorch copies to another layout "
    "(elementwise_kernel): positions in both arrays by four divisions of each element's index",
    "attention-backward-kernels-2026-11-26 in validation/measured: times of copies less 1.5 us, at "
    "the boost clock",
    "2026-11-26");

inline constexpr std::string_view kCopiesFit =
    "by hand, to products off 16 bytes in cublas-grids-2026-11-26 of both GPUs in "
    "validation/measured: seeds 91 to 95, then within a tenth of those seeds 96 and 97";

inline constexpr Constant kCopyRequests = fitted(
    "gemm_copy_requests", 14, "",
    "copy-engine requests that take as long as a warp's copy of 32 pieces of a row off 16 bytes",
    kCopiesFit, "2026-11-26");
inline constexpr Constant kRegisterCopyRequests = fitted(
    "gemm_register_copy_requests", 8, "",
    "copy-engine requests that take as long as a warp's copy of 32 such pieces through registers",
    "cublas-grids-2026-11-26 of both GPUs in validation/measured: 445 products in bf16 with the "
    "tiles and splits that cuBLAS took, least bias of several rounds of blocks of 8 and 9",
    "2026-11-30");
inline constexpr Constant kLeftOutCopies =
    fitted("gemm_left_out_copies", 0.5, "",
           "cost of a copy through registers beyond C's edges ÷ a copy within: addresses and the "
           "zeros stored",
           "by hand among 0, 0.3, 0.4, 0.5 and 1, to cublas-grids-2026-11-26 and "
           "cublas-thin-2026-11-26 of both GPUs in validation/measured",
           "2026-11-30");

inline constexpr std::string_view kCompiledCount =
    "PyTorch 2.11's compiled kernels under ncu: compiled-instructions-2026-11-27 in "
    "validation/measured";

inline constexpr Constant kLossInstructions =
    counted("loss_instructions", 29, "",
            "thread instructions per logit besides its arithmetic, in the loss: 36 with it",
            kCompiledCount, "2026-11-27");
inline constexpr Constant kLossGradientInstructions = counted(
    "loss_gradient_instructions", 25, "",
    "thread instructions per logit besides its arithmetic, in the loss's gradient: 32 with it",
    kCompiledCount, "2026-11-27");
inline constexpr Constant kNormGradientInstructions =
    counted("norm_gradient_instructions", 13, "",
            "thread instructions per element besides its arithmetic, in the gradient of a residual "
            "norm: 31 with it",
            kCompiledCount, "2026-11-27");

inline constexpr std::string_view kEagerCount =
    "PyTorch 2.11's kernels under ncu: eager-instructions-2026-11-27 in validation/measured";

inline constexpr Constant kStridedInstructions =
    counted("strided_instructions", 58, "",
            "thread instructions per element of a transposed, broadcast or converted operand: 44 "
            "to 71 with its arithmetic, in twelve kinds of launch",
            kEagerCount, "2026-11-27");
inline constexpr Constant kJoinInstructions =
    counted("join_instructions", 87, "",
            "thread instructions per element of concatenated matrices (aten::cat)", kEagerCount,
            "2026-11-27");

inline constexpr std::string_view kCountedOperations =
    "ncu, PyTorch 2.11 on compute capability 9.0: warp instructions of elementwise kernels in bf16";
inline constexpr Constant kTanhInstructions =
    counted("tanh_instructions", 8, "",
            "thread instructions of GELU's tanh besides its FLOPs and special functions",
            kCountedOperations, "2026-11-27");
inline constexpr Constant kSigmoidInstructions =
    counted("sigmoid_instructions", 10, "",
            "thread instructions of SiLU's exact division besides its FLOPs and special functions",
            kCountedOperations, "2026-11-27");

inline constexpr Constant kRandomInstructions =
    counted("random_instructions", 22, "",
            "thread instructions of a random number for dropout (Philox), besides its FLOPs",
            kCountedOperations, "2026-11-27");

inline constexpr std::string_view kExpertFit =
    "moe_fused.csv (ai-dynamo/aiconfigurator, TensorRT-LLM), rows of even position, all GPUs "
    "together: coordinate search of the mean |log error| of time, each at most 0.5";

inline constexpr Constant kExpertRowInstructions =
    fitted("expert_row_instructions", 300, "",
           "instructions per warp of a block over experts' rows, besides those for its elements",
           kExpertFit, "2026-11-25");
inline constexpr Constant kExpertTileSwitch =
    fitted("expert_tile_switch", 4, "trips",
           "round trips to L2 or DRAM between two tiles of a grouped GEMM: the tile's expert, the "
           "place of its rows",
           kExpertFit, "2026-11-25");
inline constexpr Constant kExpertMmaSlowdown =
    fitted("expert_mma_slowdown", 1.9, "",
           "arithmetic of a grouped GEMM by mma.sync ÷ the fastest plain GEMM's", kExpertFit,
           "2026-11-25");
inline constexpr Constant kWideInterval = fitted(
    "wide_interval", 1.8, "",
    "half-width of the interval where a library's kernel is a guess ÷ elsewhere: holds 90% of "
    "cold convolutions over 8 us, and more of experts' rows",
    "drawn-7-2026-11-27 in validation/measured", "2026-11-27");

inline constexpr std::array kAll = {kFlash2Products,
                                    kFlash2ScoreInstructions,
                                    kFlash2StepInstructions,
                                    kFlash2MaskInstructions,
                                    kFlash2BlockInstructions,
                                    kFlash2OutputInstructions,
                                    kBlockOperations,
                                    kCacheWriteWaits,
                                    kScoreInstructions,
                                    kMaskInstructions,
                                    kResultInstructions,
                                    kGradientPassWaits,
                                    kVectorInstructions,
                                    kVectorOperations,
                                    kCopyRequests,
                                    kRegisterCopyRequests,
                                    kMovedInstructions,
                                    kLeftOutCopies,
                                    kExpertRowInstructions,
                                    kExpertTileSwitch,
                                    kExpertMmaSlowdown,
                                    kWideInterval,
                                    kLossInstructions,
                                    kLossGradientInstructions,
                                    kNormGradientInstructions,
                                    kStridedInstructions,
                                    kTanhInstructions,
                                    kSigmoidInstructions,
                                    kRandomInstructions,
                                    kPackedScoreInstructions,
                                    kJoinInstructions};

}  // namespace roofcast::library
