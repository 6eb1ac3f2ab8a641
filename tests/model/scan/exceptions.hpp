#pragma once
// Where the rules of the scan are known not to hold.
#include <span>
#include <string_view>

namespace roofcast::testing {

// What is shorter than a launch is nothing that could be measured alone, and starting and draining
// of blocks decide it.
inline constexpr double kShorterThanALaunch_s = 5e-6;

inline bool both_shorter_than_a_launch(double a_s, double b_s) {
  return a_s < kShorterThanALaunch_s && b_s < kShorterThanALaunch_s;
}

/// Where a rule is known not to hold, and by how much at most: a forecast twice another's is 2.
struct Exception {
  std::string_view kernel;
  std::string_view change;  ///< the parameter that grows, or the improved value of the device
  double ceiling;
};

// From 8 rows on, accesses of 16 bytes.
inline constexpr Exception kWiderAccesses[] = {
    {"transpose.padded", "rows", 1.17},
    {"transpose.swizzled", "rows", 1.17},
    {"transpose.tiled", "rows", 1.12},
};

// Layouts that follow the length of a row and not the forecast: a library's, those of the backward
// pass with rows in registers, and chunks, of which there are powers of four. The backward pass
// asks for one cluster of 4 more than have room, which then takes a round of its own. Beyond 256
// columns two warps share a row: half as many strips, whose partial sums L1 joins more often than
// those of four warps with a row each. Strips of two rows overlap what those of one do not. A warp
// of PyTorch 2.11 goes through 2048 elements longer than a block of 1024 threads through 2560.
inline constexpr Exception kLayoutsByLength[] = {
    {"softmax.library", "cols", 1.92}, {"norm.layernorm", "cols", 1.7},
    {"norm.rmsnorm", "cols", 1.45},    {"norm.layernorm", "rows", 1.10},
    {"norm.rmsnorm", "rows", 1.11},    {"reduce.weighted", "cols", 1.07},
    {"reduce.global", "cols", 1.06},   {"reduce.global", "rows", 1.06},
    {"reduce.row", "cols", 1.06},
};

// Shares of waits are those of a whole launch, and loads of cut tiles the mean of all tiles: a last
// round that has little to do counts like the others.
inline constexpr Exception kMeansOverRounds[] = {
    {"gemm.coarsened_1d", "m", 1.06},
    {"gemm.vectorized", "n", 1.05},
    {"gemm.tiled", "m", 1.03},
    {"access.gather", "n", 1.03},
};

// A library's product: k and n from 8 on fill copies of 16 B, for which there are faster kernels;
// few tiles, of attention too, leave SMs without a load of theirs, which more rows or columns give
// one. Of the faster kernels alone sums leave tensor memory while the next tile is multiplied, and
// 2.39 of k and 3.21 of n become 2.73 and 3.31 on the device that has it.
inline constexpr Exception kKernelsOfALibrary[] = {
    {"gemm.library", "k", 2.75},
    {"gemm.library", "m", 3.31},  // of A as [k,m] as n
    {"gemm.library", "n", 3.31},
    // More experts share as many rows: another choice of tiles fills them better.
    {"moe.library", "experts", 1.15},
    {"moe.library", "hidden", 1.05},
    {"moe.library", "tokens", 1.11},
    // As gemm.library, whose tiles they are: filters are n, channels of k, pixels m.
    {"gemm_int4.library", "k", 2.75},
    {"gemm_int4.library", "m", 3.31},
    {"gemm_int4.library", "n", 3.31},
    {"convolution.library", "filters", 4.6},
    {"convolution.library", "channels", 2.75},
    {"convolution.library", "images", 1.15},
    {"convolution.library", "height", 1.15},
    {"convolution.library", "width", 1.15},
    // FlashAttention-2 splits keys by a rule that does not know what adding the parts takes.
    {"attention.library", "seq_q", 2.1},
    {"attention.library", "chip/sm_count", 1.26},
    // So many tiles are a smaller share of more SMs, and it takes a share of them to fill DRAM.
    // What adds the parts of a split is only estimated where candidates are dropped.
};

// Few tiles, of attention that splits no keys, leave SMs without a load of theirs, which more
// queries give one.
inline constexpr Exception kTilesOfAttention[] = {
    {"attention.flash2", "seq_q", 1.03},
    {"attention.flash3", "seq_q", 1.08},
    {"attention.standard", "seq_q", 1.08},
};

// Products on the tensor cores. Rows of k or n elements that are multiples of 16 bytes need no copy
// before the product, whose threads wait for the ends of rows element by element, and no loads or
// stores by elements; few tiles, of a kernel that does not split k, leave SMs without a load of
// theirs; from 65 rows on A holds the weights of gemm.skinny, whose ring reads few columns of B by
// rows of k as they are, if they are multiples of 16 bytes. A grid of as many blocks as have room
// takes its tiles in rounds, and parts of k that filled the last do not fill that of another number
// of SMs; of more SMs it takes more to fill DRAM. The candidate is chosen by its outline, which is
// within a few percent of its forecast.
inline constexpr Exception kProductsOnTensorCores[] = {
    {"gemm.mma_sync", "k", 4.34}, {"gemm.mma_sync", "n", 2.21}, {"gemm.mma_sync", "m", 1.96},
    {"gemm.wgmma", "k", 3.18},    {"gemm.wgmma", "n", 2.28},    {"gemm.wgmma", "m", 1.43},
    {"gemm.skinny", "k", 2.56},   {"gemm.skinny", "n", 2.4},    {"gemm.skinny", "m", 1.62},
};

// The pipes of one warp overlap worse than those of two, which share a longer row or are of two
// blocks on an SM: 0.1 µs.
inline constexpr Exception kLoneWarps[] = {{"softmax.cluster", "cols", 1.15},
                                           {"softmax.cluster", "rows", 1.021}};

// PyTorch's blocks over columns have more warps from 64, 128 and 256 rows on, and split more than
// 65536 rows of few columns among blocks; from 3073 on it sorts indices; a thread adds up what reaches a row, more of few rows. A loss has chunks of a
// power of two of tokens, the fewer the wider the vocabulary is for the layer, and its products the
// tiles of a library.
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

// Blocks of a launch of one round go in lockstep, those of later rounds have drifted apart: more
// SMs make one round of two. A pipe that is through sooner leaves more waiting for others; the
// equation of the network is solved to a millionth.
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
