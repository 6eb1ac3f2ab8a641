#pragma once
// Where the rules of the scan are known not to hold.
#include <span>
#include <string_view>

namespace roofcast::testing {

// Times shorter than a launch cannot be measured alone, and the start and drain of blocks decide
// them.
inline constexpr double kShorterThanALaunch_s = 5e-6;

inline bool both_shorter_than_a_launch(double a_s, double b_s) {
  return a_s < kShorterThanALaunch_s && b_s < kShorterThanALaunch_s;
}

/// A known exception to a rule, and the largest ratio of the two forecasts: twice as long is 2.
struct Exception {
  std::string_view kernel;
  std::string_view change;  ///< the parameter that grows, or the improved value of the device
  double ceiling;
};

// From 8 rows on, accesses have 16 bytes. Rows of a table that are off 16 bytes are copied element
// by element, those of gemm.vectorized word by word.
inline constexpr Exception kWiderAccesses[] = {
    {"gemm.vectorized", "k", 1.08},       {"gemm.vectorized", "n", 1.08},
    {"layer.embedding", "cols", 1.75},    {"transpose.padded", "rows", 1.17},
    {"transpose.swizzled", "rows", 1.17}, {"transpose.tiled", "rows", 1.12},
};

// Layouts that follow the length of a row and not the forecast: a library's, those of the backward
// pass with rows in registers, and chunks, whose number is a power of four. The backward pass asks
// for one cluster of 4 more than fit, which then takes a round of its own. Beyond 256 columns two
// warps share a row: half as many strips, whose partial sums L1 merges more often than those of
// four warps with a row each. Strips of two rows overlap work that strips of one do not. In PyTorch
// 2.11 a warp takes longer for 2048 elements than a block of 1024 threads for 2560.
inline constexpr Exception kLayoutsByLength[] = {
    {"softmax.library", "cols", 1.92}, {"norm.layernorm", "cols", 1.7},
    {"norm.rmsnorm", "cols", 1.45},    {"norm.layernorm", "rows", 1.10},
    {"norm.rmsnorm", "rows", 1.11},    {"reduce.weighted", "cols", 1.07},
    {"reduce.global", "cols", 1.06},   {"reduce.global", "rows", 1.06},
    {"reduce.row", "cols", 1.06},
};

// Shares of waits are those of a whole launch, and loads of edge tiles the mean of all tiles: a
// last round that has little to do counts like the others.
inline constexpr Exception kMeansOverRounds[] = {
    {"gemm.coarsened_1d", "m", 1.06}, {"gemm.tiled", "m", 1.03},    {"gemm.coalesced", "m", 1.11},
    {"gemm.coalesced", "n", 1.11},    {"access.gather", "n", 1.03},
};

// A library's product. From 8 on, k and n fill copies of 16 B, for which there are faster kernels.
// Few tiles, of attention too, leave SMs without loads in flight; more rows or columns give them
// some. Only the faster kernels store from tensor memory while the next tile is multiplied: 2.39 of
// k and 3.21 of n become 2.73 and 3.31 on the device that has it.
inline constexpr Exception kKernelsOfALibrary[] = {
    {"gemm.library", "k", 2.75},
    {"gemm.library", "m", 3.31},  // n, where A is stored as [k,m]
    {"gemm.library", "n", 3.31},
    // More experts share as many rows: another choice of tiles fills them better.
    {"moe.library", "experts", 1.15},
    {"moe.library", "hidden", 1.05},
    {"moe.library", "tokens", 1.11},
    // As gemm.library, whose tiles they take: filters are n, channels are in k, pixels in m.
    {"gemm_int4.library", "k", 2.75},
    {"gemm_int4.library", "m", 3.31},
    {"gemm_int4.library", "n", 3.31},
    // More channels and filters take wgmma in place of mma.sync.
    {"convolution.library", "channels", 2.0},
    {"convolution.library", "filters", 2.4},
    {"convolution.library", "images", 1.05},
    {"convolution.library", "height", 1.05},
    {"convolution.library", "width", 1.05},
    // FlashAttention-2's rule for splitting keys ignores the cost of adding the parts.
    {"attention.library", "seq_q", 2.15},
    {"attention.library", "chip/sm_count", 1.27},
    // The tiles occupy a smaller share of more SMs, and it takes a share of the SMs to saturate
    // DRAM. Where candidates are dropped, the addition of parts is only estimated.
};

// Few tiles of attention without split keys leave SMs without loads in flight; more queries give
// them some.
inline constexpr Exception kTilesOfAttention[] = {
    {"attention.flash2", "seq_q", 1.03},
    {"attention.flash3", "seq_q", 1.08},
    {"attention.standard", "seq_q", 1.08},
};

// Products on the tensor cores. Rows of k or n elements that are multiples of 16 bytes need no copy
// before the product, whose threads wait for the ends of rows element by element, and no loads or
// stores by elements. Few tiles without split-K leave SMs without loads in flight. From 65 rows on
// A holds the weights of gemm.skinny, whose ring reads few columns of B by rows of k without a copy
// if they are multiples of 16 bytes. A persistent grid takes its tiles in rounds, and parts of k
// that fill the last round do not fill that of another number of SMs; of more SMs more must be busy
// to saturate DRAM. The candidate is chosen by its outline, which is within a few percent of its
// forecast.
inline constexpr Exception kProductsOnTensorCores[] = {
    {"gemm.mma_sync", "k", 4.34}, {"gemm.mma_sync", "n", 2.21}, {"gemm.mma_sync", "m", 1.96},
    {"gemm.wgmma", "k", 3.18},    {"gemm.wgmma", "n", 2.28},    {"gemm.wgmma", "m", 1.43},
    {"gemm.skinny", "k", 2.56},   {"gemm.skinny", "n", 2.4},    {"gemm.skinny", "m", 1.62},
};

// A lone warp overlaps its pipes less than two warps do, which share a longer row or belong to two
// blocks of an SM: 0.1 µs.
inline constexpr Exception kLoneWarps[] = {{"softmax.cluster", "cols", 1.15},
                                           {"softmax.cluster", "rows", 1.021}};

// PyTorch's blocks over columns have more warps from 64, 128 and 256 rows on; rows beyond 65536 of
// few columns are split among blocks. The gradient of an embedding sorts its indices from 3073 on;
// a thread adds up what reaches a row of the table, which is more in a table of few rows. A linear
// loss has chunks of a power of two of tokens, the fewer the wider the vocabulary is for the layer,
// and products with the tiles of a library.
inline constexpr Exception kLaunchesByRows[] = {
    {"layer.norm_backward", "rows", 2.0},
    {"layer.rmsnorm_plain", "rows", 2.0},
    {"layer.rmsnorm_plain", "cols", 1.03},
    {"moe.library", "per_token", 1.03},
    {"layer.residual_norm", "rows", 2.0},
    {"layer.cross_entropy", "cols", 1.15},
    {"layer.embedding", "rows", 1.2},
    {"layer.embedding", "cols", 1.07},
    {"layer.embedding", "entries", 3.6},
    {"layer.linear_cross_entropy", "rows", 3.31},
    {"layer.linear_cross_entropy", "cols", 4.1},
    {"layer.linear_cross_entropy", "hidden", 21},
};

/// By how much a better value of the device may make a forecast worse.
struct DeviceCeiling {
  std::string_view change;
  double ceiling;
};

// Blocks of a launch of one round run in lockstep, those of later rounds are desynchronized: more
// SMs make one round of two. Where one pipe is faster, more blocks wait for others. The network's
// equation is solved to a millionth.
inline constexpr DeviceCeiling kOneRound{"chip/sm_count", 1.11};
inline constexpr double kAnyOtherValue = 1.03;

inline bool is_known(std::string_view kernel, std::string_view change, double ratio) {
  if (change == kOneRound.change && ratio <= kOneRound.ceiling) return true;
  if (change.find('/') != std::string_view::npos && ratio <= kAnyOtherValue) return true;
  for (const std::span<const Exception> some :
       {std::span<const Exception>(kWiderAccesses), std::span<const Exception>(kLayoutsByLength),
        std::span<const Exception>(kMeansOverRounds),
        std::span<const Exception>(kKernelsOfALibrary),
        std::span<const Exception>(kTilesOfAttention),
        std::span<const Exception>(kProductsOnTensorCores), std::span<const Exception>(kLoneWarps),
        std::span<const Exception>(kLaunchesByRows)}) {
    for (const Exception& one : some) {
      if (one.kernel == kernel && one.change == change && ratio <= one.ceiling) return true;
    }
  }
  return false;
}

}  // namespace roofcast::testing
