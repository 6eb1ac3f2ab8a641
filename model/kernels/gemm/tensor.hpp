#pragma once
// C[m,n] = A[m,k] · B on the tensor cores by this project's kernels (kernels/gemm), which include
// this file: parameters, tiles, and how gemm.skinny and the passes lay a product out.
#include <string>

#include "model/counting/integers.hpp"
#include "model/kernels/gemm/gemm.hpp"

namespace roofcast::gemm::tensor {

/// Positions in Problem after kTileK.
enum Parameter : std::size_t {
  kTransposedB = kTileK + 1,  ///< 1: B is [n,k]
  kTransposedA,               ///< 1: A is [k,m]
  kBatch,                     ///< products of that shape; their operands are contiguous
  kLda,                       ///< leading dimensions: elements from row to row; 0: rows are dense
  kLdb,
  kLdc,
  kSplitK,     ///< parts of k (split-K), each summed by its own block
  kCluster,    ///< blocks that share a tile of B by multicast; with swap_ab a tile of A
  kSplitRest,  ///< tail split-K: parts of k of the last round's tiles, where it is not full
};

/// Type of C: bf16 for fp8 operands, fp32 for int8 operands, else the operands' type.
constexpr DType result_type(DType type) {
  if (type == DType::int8) return DType::fp32;
  return type == DType::fp8 ? DType::bf16 : type;
}

/// A row-major matrix as it is stored, `row` elements from row to row; the next matrix of a batch
/// follows its last row.
struct Stored {
  std::int64_t rows, columns, row;

  constexpr std::int64_t elements() const { return rows * row; }
};
constexpr Stored stored(std::int64_t rows, std::int64_t columns, std::int64_t leading_dimension) {
  return {rows, columns, leading_dimension == 0 ? columns : leading_dimension};
}
constexpr Stored stored_a(const Problem& p) {
  return p[kTransposedA] != 0 ? stored(p[kK], p[kM], p[kLda]) : stored(p[kM], p[kK], p[kLda]);
}
constexpr Stored stored_b(const Problem& p) {
  return p[kTransposedB] != 0 ? stored(p[kN], p[kK], p[kLdb]) : stored(p[kK], p[kN], p[kLdb]);
}
constexpr Stored stored_c(const Problem& p) {
  return stored(p[kM], p[kN], p[kLdc]);
}
/// Empty if every leading dimension is at least the row length, else an error text.
inline std::string overlapping_rows(const Problem& p) {
  const std::array<Stored, 3> matrices = {stored_a(p), stored_b(p), stored_c(p)};
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    if (matrices[i].row >= matrices[i].columns) continue;
    return std::string("ld") + "abc"[i] + " is " + std::to_string(matrices[i].row) +
           " and a row holds " + std::to_string(matrices[i].columns) +
           " elements: give at least as many, or 0 for dense rows";
  }
  return {};
}

/// Empty if int32 accumulators cannot overflow (int8 operands), else an error text.
inline std::string overflowing_sums(const Problem& p) {
  constexpr std::int64_t kMost = (std::int64_t{1} << 31) / (std::int64_t{128} * 128) - 1;
  if (p.dtype != DType::int8 || p[kK] <= kMost) return {};
  return "the int32 sums of int8 products hold a k of at most " + std::to_string(kMost);
}

/// TileRaster::group_rows of gemm.mma_sync.
inline constexpr std::int64_t kMmaGroupRows = 8;
/// TileRaster::group_rows of gemm.wgmma: about 16, such that a group with `beside` tile columns
/// takes whole rounds of `blocks` persistent blocks. Where a group ends within a round, A is read
/// again.
constexpr std::int64_t wgmma_group(std::int64_t beside, std::int64_t blocks) {
  constexpr std::int64_t kTiles = 16;
  const std::int64_t rounds = (2 * kTiles * beside + blocks) / (2 * blocks);  // to the nearest
  if (rounds == 0) return kTiles;
  const std::int64_t tiles = rounds * blocks / beside;
  return tiles > 0 ? tiles : 1;
}

/// Whether swap_ab tiles of gemm.wgmma run down C first, so that neighbouring blocks share columns
/// of B. Clusters share A's tile and run across C.
constexpr bool columns_first(bool swap_ab, std::int64_t cluster) {
  return swap_ab && cluster == 1;
}

inline constexpr std::int64_t kTileLineBytes = 128;  ///< k-slab of gemm.wgmma: bytes of a row

/// A tile of gemm.wgmma, whose blocks are persistent.
struct WgmmaTile {
  std::int64_t m, n;
  int stages;      ///< k-slabs in shared memory, as many as fit beside the panels of C
  int consumers;   ///< warpgroups that multiply; one more copies
  int cluster;     ///< blocks along the instruction's rows: they share the other operand's tile
  bool ping_pong;  ///< warpgroups take alternate tiles: one multiplies while the other stores
  /// The 64 rows of an instruction lie along n and its columns along m; else the other way round.
  bool swap_ab = false;

  constexpr std::int64_t threads() const { return std::int64_t{128} * (1 + consumers); }
  /// Registers per thread at launch: a block takes all of an SM, and setmaxnreg redistributes them.
  constexpr std::int64_t registers() const { return 65536 / threads() / 8 * 8; }
  /// Elements of the tile along the rows and the columns of an instruction.
  constexpr std::int64_t down() const { return swap_ab ? n : m; }
  constexpr std::int64_t across() const { return swap_ab ? m : n; }
  /// Lines of a panel of C in shared memory, 128 bytes each.
  constexpr std::int64_t panel_lines() const {
    constexpr std::int64_t kMost = std::int64_t{227} * 1024;
    return swap_ab && shared_bytes(64) > kMost ? 32 : 64;
  }
  constexpr std::int64_t shared_bytes() const { return shared_bytes(panel_lines()); }
  /// Bytes of the stages, two panels a warpgroup, the mbarriers, and 1024 for alignment.
  constexpr std::int64_t shared_bytes(std::int64_t panel_lines) const {
    return 1024 + stages * (m + n) * kTileLineBytes +
           std::int64_t{consumers} * 2 * panel_lines * kTileLineBytes +
           (2 * std::int64_t{stages} + 2) * 8;
  }
};

/// Error text where split_rest and split_k are both given.
inline constexpr const char* kOneSplit =
    "split_rest splits k of the tiles of the last round and split_k that of all: give one of them "
    "and 1 for the other";

/// Tiles for types of two bytes.
inline constexpr std::array kWgmmaTiles = {
    WgmmaTile{128, 256, 4, 2, 2, false}, WgmmaTile{128, 256, 4, 2, 1, false},
    WgmmaTile{256, 128, 4, 2, 2, false}, WgmmaTile{256, 128, 4, 2, 1, false},
    WgmmaTile{128, 192, 4, 2, 2, false}, WgmmaTile{192, 192, 3, 3, 1, false},
    WgmmaTile{128, 128, 5, 2, 2, true},  WgmmaTile{128, 128, 5, 2, 1, true},
    WgmmaTile{64, 256, 4, 2, 1, true},   WgmmaTile{64, 128, 7, 2, 1, true},
    WgmmaTile{64, 64, 8, 2, 1, true}};
/// More tiles where B is [n,k]: less padding where m is no multiple of 64, and fuller rounds.
inline constexpr std::array kWgmmaSwapAbTiles = {
    WgmmaTile{240, 128, 4, 2, 2, false, true}, WgmmaTile{224, 128, 4, 2, 2, false, true},
    WgmmaTile{208, 128, 4, 2, 1, false, true}, WgmmaTile{176, 128, 5, 2, 1, false, true},
    WgmmaTile{160, 128, 5, 2, 1, true, true},  WgmmaTile{144, 128, 5, 2, 1, true, true},
    WgmmaTile{112, 128, 6, 2, 1, true, true},  WgmmaTile{160, 256, 4, 2, 2, false, true},
    WgmmaTile{96, 256, 4, 2, 1, false, true}};
/// Whether wgmma reads both operands along k (tf32, fp8): B as [k,n] is transposed first.
constexpr bool wgmma_along_k(DType type) {
  return type == DType::tf32 || type == DType::fp8;
}
inline constexpr std::array kWgmmaAlongKTiles = {
    WgmmaTile{128, 256, 4, 2, 2, false}, WgmmaTile{128, 256, 4, 2, 1, false},
    WgmmaTile{128, 128, 5, 2, 1, true}, WgmmaTile{64, 128, 7, 2, 1, true}};

/// A tile for mma.sync: a block each, or persistent blocks of gemm.mma_sync on GPUs with wgmma.
struct MmaTile {
  std::int64_t m, n;
  std::int64_t k_bytes;  ///< bytes of a row in a stage
  int warps_down, warps_across;
  int stages;
  int blocks;  ///< blocks per SM for which __launch_bounds__ limits registers

  constexpr std::int64_t threads() const { return std::int64_t{32} * warps_down * warps_across; }
  constexpr std::int64_t shared_bytes() const { return stages * (m + n) * k_bytes; }
  /// Bytes of a persistent block: also 16 padded rows of C for each warp, and the mbarriers.
  constexpr std::int64_t persistent_shared_bytes(std::int64_t result_bytes) const {
    return shared_bytes() +
           std::int64_t{16} * warps_down * (n + std::int64_t{8} * warps_across) * result_bytes +
           std::int64_t{16} * stages;
  }
};
/// Tiles for types of two bytes.
inline constexpr std::array kMmaTiles = {
    MmaTile{128, 256, 128, 2, 4, 3, 1}, MmaTile{128, 192, 128, 2, 4, 3, 1},
    MmaTile{128, 128, 64, 2, 2, 4, 2}, MmaTile{64, 64, 128, 2, 2, 4, 2}};
/// Whether mma.sync reads B with k along its rows (tf32, int8): B as [k,n] is transposed first.
constexpr bool mma_sync_along_k(DType type) {
  return type == DType::tf32 || type == DType::int8;
}
/// Tiles for tf32.
inline constexpr std::array kMmaAlongKTiles = {MmaTile{128, 256, 128, 2, 4, 3, 1},
                                               MmaTile{128, 128, 128, 2, 4, 4, 1},
                                               MmaTile{64, 64, 128, 2, 2, 4, 2}};
/// Tiles for int8.
inline constexpr std::array kMmaInt8Tiles = {MmaTile{128, 256, 128, 2, 4, 3, 1},
                                             MmaTile{128, 128, 64, 2, 2, 4, 2},
                                             MmaTile{64, 64, 128, 2, 2, 4, 2}};

/// A tile of gemm.skinny's register kernel: few tokens against weights that are read once.
struct SkinnyTile {
  std::int64_t tokens;
  bool along_k;  ///< a row of weights holds k
  /// Warp instructions, {unaligned, aligned to 16 bytes}: per round of loads with its products, and
  /// outside all rounds. Least-squares fit of counters over rounds.
  std::array<double, 2> round_instructions{}, end_instructions{};

  /// Groups of 16 rows of weights in a block: more of them amortize the block's loads of tokens.
  constexpr std::int64_t row_tiles() const { return !along_k ? 4 : tokens > 16 ? 2 : 1; }
  constexpr std::int64_t rows() const { return 16 * row_tiles(); }
  /// Blocks of kBlockK that a warp loads in one round.
  constexpr std::int64_t blocks_at_once() const { return along_k ? kLoads / (2 * row_tiles()) : 1; }
  constexpr std::int64_t round_k() const { return kWarps * kBlockK * blocks_at_once(); }
  constexpr std::int64_t shared_bytes() const { return kWarps * rows() * tokens * 4; }

  static constexpr std::int64_t kWarps = 8;
  static constexpr std::int64_t kLoads = 8;    ///< 16-byte loads of a lane in flight together
  static constexpr std::int64_t kBlockK = 32;  ///< elements of k that four lanes load
};
inline constexpr std::array kSkinnyTiles = {SkinnyTile{8, false, {500, 172}, {165, 336}},
                                            SkinnyTile{8, true, {424, 181}, {172, 222}}};
/// In place of kSkinnyRings for operands that are not aligned to 16 bytes.
inline constexpr std::array kSkinnyElementTiles = {
    SkinnyTile{16, false, {530}, {365}}, SkinnyTile{32, false, {640}, {500}},
    SkinnyTile{64, false, {755}, {681}}, SkinnyTile{16, true, {572}, {190}},
    SkinnyTile{32, true, {653}, {410}},  SkinnyTile{64, true, {936}, {592}}};

/// Tiles of gemm.skinny for more than 8 tokens: m tokens and n rows of weights, which warps divide.
/// Both operands, aligned to 16 bytes, go through stages in shared memory.
inline constexpr std::array kSkinnyRings = {
    MmaTile{16, 128, 256, 1, 4, 3, 2}, MmaTile{32, 64, 256, 1, 4, 4, 2},
    MmaTile{32, 128, 128, 1, 4, 5, 2}, MmaTile{64, 64, 256, 1, 4, 3, 2},
    MmaTile{64, 128, 128, 1, 4, 4, 2}, MmaTile{64, 128, 256, 1, 4, 4, 1}};
inline constexpr std::int64_t kMostTokens = 64;

/// How gemm.skinny sees a product: rows of weights times tokens.
namespace skinny {
/// Whether B holds the weights and A's few rows are the tokens; else A holds the weights.
constexpr bool weights_in_b(const Problem& p) {
  return p[kM] <= kMostTokens;
}
constexpr std::int64_t tokens_of(const Problem& p) {
  return weights_in_b(p) ? p[kM] : p[kN];
}
/// Whether a row of weights holds k, once A stored by rows of k is transposed.
constexpr bool along_k(const Problem& p) {
  return !weights_in_b(p) || p[kTransposedB] != 0;
}
/// Whether the tokens are columns of B stored as [k,n]; without a ring B is transposed first.
constexpr bool transposes(const Problem& p) {
  return !weights_in_b(p) && p[kTransposedB] == 0;
}
/// On GPUs with wgmma, tiles of 64 tokens and 64 of k run as gemm.wgmma: those with 64 rows of
/// weights, and with 128 where B holds the weights.
inline constexpr std::array<std::int64_t, 2> kWgmmaRows = {64, 128};
constexpr bool of_wgmma(const Problem& p) {
  return p[kTileM] == kMostTokens && p[kTileK] == kTileLineBytes / 2 &&
         (p[kTileN] == kWgmmaRows[0] || (p[kTileN] == kWgmmaRows[1] && weights_in_b(p)));
}
/// The same problem for gemm.wgmma: split_k becomes tail split-K, for the last round's tiles.
constexpr Problem as_wgmma(Problem p) {
  p[kCluster] = 1;
  p[kSplitRest] = p[kSplitK];
  if (p[kSplitK] != kToChoose) p[kSplitK] = 1;
  return p;
}
}  // namespace skinny

/// Configuration of the launches before and after a product (kernels/gemm/passes.cu).
namespace passes {
inline constexpr std::int64_t kThreads = 256;
inline constexpr std::int64_t kRowsEach = 4;  ///< rows a copying thread has in flight
inline constexpr std::int64_t kSquare = 32;   ///< side of the transpose's tile, elements
/// Pitch of a copy's rows in elements: a multiple of 128 bytes.
constexpr std::int64_t padded_row(std::int64_t columns, std::int64_t size) {
  return round_up(columns, kTileLineBytes / size);
}
}  // namespace passes

}  // namespace roofcast::gemm::tensor
