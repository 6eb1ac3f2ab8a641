#pragma once
#include <array>
#include <vector>

#include "model/kernels/attention/attention.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::attention {

/// A library's attention. Forward: a block keeps a tile of queries and streams K and V in steps.
/// Fully masked steps are skipped; long tiles run first. A tile may hold queries of all heads that
/// share K and V. If tiles leave SMs idle, the keys are split among blocks and a launch reduces the
/// splits. Backward: D; blocks of keys that add to an fp32 dQ; dQ's conversion.
enum LibraryParameter : std::size_t { kLibraryChoice = kPass + 1, kSplits, kCacheWrites, kLayout };
enum CacheWrites : std::int64_t { kNoWrites, kWritesKv, kWritesQkv };
enum Layout : std::int64_t { kHeadsFirst, kTokensFirst };
enum Library : std::int64_t { kBest, kCudnn, kFa2, kFa3, kTrtllm };

LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);
std::vector<Problem> library_candidates(const Problem& problem, const Gpu& gpu);

inline constexpr std::array<std::string_view, 5> kLibraryNames = {"best", "cudnn", "fa2", "fa3",
                                                                  "trtllm"};
inline constexpr std::array<std::string_view, 2> kLayoutNames = {"bhsd", "bshd"};
inline constexpr std::int64_t kMostSplits = 128;

inline constexpr std::array kLibraryParameters = with_own(
    kShape,
    choice("library",
           "whose kernels: cuDNN, FlashAttention-2 or -3, TensorRT-LLM; best: of the first three "
           "the fastest",
           kLibraryNames, kBest),
    open_setting("splits", "parts of the keys, each a block's; 0: to choose", kMostSplits),
    roofcast::Parameter{
        "cache_writes",
        "a launch before it writes K and V to a cache in pages, as serving frameworks "
        "do: 1; and Q beside: 2; neither: 0",
        kNoWrites, kWritesQkv, kNoWrites},
    choice("layout",
           "bhsd: heads before tokens, bshd: after; PyTorch copies O and dO of bhsd for "
           "FlashAttention-2's backward",
           kLayoutNames, kHeadsFirst));

/// Shapes in the tables of the comparison (../shared/reference).
inline constexpr std::array kLibraryValidated = {
    ValidatedRange{kBatch, 1, 2048}, ValidatedRange{kHeads, 1, 128},
    ValidatedRange{kSeqQ, 1, 16384}, ValidatedRange{kHeadDim, 64, 256}};

inline constexpr KernelModel kLibrary = {
    .name = "attention.library",
    .summary = "what cuDNN, FlashAttention-2 or -3 does: online softmax, K and V pass in tiles",
    .parameters = kLibraryParameters,
    .dtypes = kTypes,
    .plan = plan_library,
    .candidates = library_candidates,
    .validated = kLibraryValidated};

}  // namespace roofcast::attention
