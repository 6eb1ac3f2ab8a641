#pragma once
// Kernels whose unit of work is a row of a row-major matrix: softmax, normalization, reductions.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "model/counting/integers.hpp"
#include "model/kernels/compiled.hpp"
#include "model/types/gpu.hpp"
#include "model/types/kernel_model.hpp"
#include "model/types/plan.hpp"
#include "model/types/problem.hpp"

namespace roofcast::rows {

/// Positions of the shape in Problem.
enum Parameter : std::size_t { kRows, kCols };

inline constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t kMaxCols = std::int64_t{1} << 30;
inline constexpr std::array kShape = {
    roofcast::Parameter{"rows", "rows of the matrix", 1, kMaxRows, std::nullopt},
    roofcast::Parameter{"cols", "elements of a row", 1, kMaxCols, std::nullopt}};

inline constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};
/// Of softmax and the normalizations: validation/sweeps/rows.json.
inline constexpr std::array kValidated = {ValidatedRange{kRows, 64, std::int64_t{1} << 20},
                                          ValidatedRange{kCols, 128, 262144}};

inline constexpr std::int64_t kWarp = 32;
inline constexpr std::int64_t kVectorBytes = 16;  ///< one access of a thread
inline constexpr std::int64_t kMaxThreads = 1024;
inline constexpr std::int64_t kWarpsPerBlock = 4;  ///< where a warp has a row of its own
inline constexpr std::int64_t kMaxCluster = 16;
/// Before its first copy a block sets up what counts its arrivals and shows it to the unit that
/// copies: that waits for half a load more.
inline constexpr double kLoadsOfStart = 0.5;
inline constexpr double kShufflesOfWarp = 10;  ///< two reductions over its lanes
/// Dependent operations where a row begins and ends: its address and edges, as in the machine code
/// of the reductions.
inline constexpr double kDependentOfEnds = 32;

using roofcast::ceil_div;
using roofcast::power_of_two_from;

constexpr std::int64_t element_bytes(const Problem& p) {
  return static_cast<std::int64_t>(size_bytes(p.dtype));
}
constexpr bool has_16_bits(const Problem& p) {
  return element_bytes(p) == 2;
}
/// How a row, or a block's slice of it, is spread over the registers of threads. The CUDA kernels
/// and their plans both ask this.
struct Layout {
  std::int64_t vectors = 1;           ///< 16-byte accesses a thread holds
  std::int64_t threads = kWarp;       ///< that hold a slice: a multiple of 32
  std::int64_t rows_per_block = 1;    ///< more than one: a warp each
  std::int64_t cluster = 1;           ///< blocks that share a row
  std::int64_t rows_per_cluster = 1;  ///< rows a block takes one after the other

  constexpr std::int64_t blocks(std::int64_t rows) const {
    return ceil_div(rows, rows_per_block * rows_per_cluster) * cluster;
  }
  constexpr std::int64_t warps() const { return threads * rows_per_block / kWarp; }
  /// Whether a warp has a row for itself.
  constexpr bool is_of_warps() const {
    return threads == kWarp && cluster == 1 && rows_per_cluster == 1;
  }
};

/// Vectors of a row; what is left, fewer elements than one vector at each end, goes one by one.
constexpr std::int64_t vectors_of(std::int64_t cols, std::int64_t element_bytes) {
  return cols / (kVectorBytes / element_bytes);
}

/// The layout of rows of `cols` elements in registers: `cluster` blocks a row, `vectors` a thread.
/// The result may ask for more than kMaxThreads threads: then the row does not fit.
constexpr Layout held_layout(std::int64_t cols, std::int64_t element_bytes, std::int64_t vectors,
                             std::int64_t cluster, std::int64_t rows_per_cluster = 1) {
  const std::int64_t row = std::max<std::int64_t>(1, vectors_of(cols, element_bytes));
  const std::int64_t threads = ceil_div(row, cluster * vectors * kWarp) * kWarp;
  const bool of_warps = cluster == 1 && threads == kWarp && rows_per_cluster <= 1;
  return {.vectors = vectors,
          .threads = threads,
          .rows_per_block = of_warps ? kWarpsPerBlock : 1,
          .cluster = cluster,
          .rows_per_cluster = rows_per_cluster};
}

/// Rows in turn through rings in shared memory (kernels/common/row_ring.cuh), each warp with a ring
/// of `stages` buffers of its segment of a row, `vectors` accesses a thread.
constexpr std::int64_t ring_segment_bytes(std::int64_t vectors) {
  return vectors * kWarp * kVectorBytes;
}
inline constexpr std::int64_t kArrivalBytes = 8;  ///< what counts the bytes that came
constexpr std::int64_t ring_bytes(const Layout& layout, std::int64_t stages, std::int64_t arrays) {
  return layout.threads / kWarp * stages *
         (arrays * ring_segment_bytes(layout.vectors) + kArrivalBytes);
}

/// Static shared memory for the parts of two rows, from up to that many threads of a block or of
/// each block of a cluster; the rings begin on a multiple of 128 bytes.
constexpr std::int64_t exchange_bytes(std::int64_t threads, bool clustered) {
  constexpr std::int64_t kPart = 8, kTurnPlaces = 2, kAlignment = 128;
  const std::int64_t parts = threads / kWarp * (clustered ? kMaxCluster : 1);
  return ceil_div(kTurnPlaces * (parts * kPart + kArrivalBytes), kAlignment) * kAlignment;
}

/// The layout of rows in such rings.
constexpr Layout ring_layout(std::int64_t cols, std::int64_t element_bytes, std::int64_t vectors,
                             std::int64_t cluster, std::int64_t rows_per_cluster = 1) {
  Layout layout = held_layout(cols, element_bytes, vectors, cluster, rows_per_cluster);
  layout.rows_per_block = 1;
  return layout;
}

/// Blocks that share a row so that each has at most `slice_bytes` of it, where a cluster can be
/// that large: a power of two.
constexpr std::int64_t cluster_for(std::int64_t row_bytes, std::int64_t slice_bytes) {
  return std::min(kMaxCluster, power_of_two_from(ceil_div(row_bytes, slice_bytes)));
}

/// Throws InputError if one of these settings of a plan is still kToChoose.
void check_chosen(std::initializer_list<std::int64_t> settings);
/// Throws InputError unless a thread has 1, 2, 4 … `most` vectors, and a row as many blocks.
void check_vectors(std::int64_t vectors, std::int64_t most);
void check_cluster(std::int64_t blocks);

/// Each problem with each of the values of a setting, in the values' order.
std::vector<Problem> with_each(const std::vector<Problem>& problems, std::size_t setting,
                               const std::vector<std::int64_t>& values);

/// Values to try of a setting: the one given, or with 0 powers of two from `least` to `most`, of
/// which there is always the first.
std::vector<std::int64_t> powers_of_two(std::int64_t given, std::int64_t least, std::int64_t most);

/// Vectors a thread to try for rows in registers: those that take from one warp to `most_threads`
/// threads.
std::vector<std::int64_t> held_vectors(std::int64_t given, std::int64_t slice_vectors,
                                       std::int64_t most_vectors, std::int64_t most_threads);

/// The problem with clusters to try, the smallest that holds the row and larger ones that the
/// device has, and with 1, 2, 4, 8 or 16 rows in turn, whose setting follows the cluster's.
std::vector<Problem> with_clusters(const Problem& p, std::size_t cluster, std::int64_t smallest,
                                   const Gpu& gpu);

/// Instructions of a warp of a kernel whose threads hold a row or a slice of it.
struct Instructions {
  double row;        ///< of each row, where all accesses lie inside
  double beyond;     ///< fewer for each access beyond the row
  double start = 0;  ///< of a block, before its first row
};
/// Index, edges and exit, and what merges the parts of a row's warps beside its loops: by the
/// counters.
inline constexpr double kInstructionsOfEnds = 10, kInstructionsOfMerge = 48;
/// Turns of a loop that merges the parts of all warps of a row, 32 a turn.
constexpr double turns_of_merge(const Layout& layout) {
  return as_double(ceil_div(layout.cluster * layout.warps(), kWarp));
}
/// What an access of 16 bytes takes only inside the row: addresses, tests, loads and stores (8), so
/// many operations on each element, and where these have 16 bits the conversions of the vectors
/// read and of the one written.
constexpr double access_instructions(const Problem& p, double operations, double read) {
  const double width = as_double(kVectorBytes / element_bytes(p));
  return 8 + width * (operations + (has_16_bits(p) ? read + 0.5 : 0));
}

/// A matrix, rows one after the other from a line boundary, as warps go along its rows.
struct Matrix {
  double rows, elements, row_bytes, bytes;
  double accessed;  ///< bytes of the sectors of all warps' accesses, of 16 bytes a thread
  double distinct;  ///< the same where L1 joins the accesses of a row
  double width;     ///< elements of 16 bytes
  bool ragged;      ///< rows that do not end on 16 bytes
  double inside;    ///< accesses by a block's warps that lie inside its rows, or its slice of one
};
Matrix matrix_of(const Problem& p, const Layout& layout);

/// The arithmetic of an element and what packs it where it has 16 bits, two at once.
constexpr Work with_conversions(const Problem& p, Work each) {
  each.conversions = has_16_bits(p) ? 0.5 : 0;
  return each;
}

/// Traffic of matrices read and of one written, each vector of it in `parts`, at each level.
Work traffic_of(const Matrix& matrix, double reads, double parts);
/// What L1 may join of such parts, where a block's threads store together.
SplitWrites split_stores(const Matrix& matrix, double parts, const Layout& layout);

/// The launch of a kernel over rows and the bytes in its registers; `registers` a thread.
Plan plan_of(const Layout& layout, std::int64_t blocks, std::int64_t registers,
             std::int64_t shared_bytes);

/// A kernel whose threads hold a row, or their block's slice of one, from its loads to its stores.
struct HeldRows {
  const Layout& layout;
  const Matrix& matrix;
  const Instructions& instructions;
  bool streams = false;    ///< rows come through rings in shared memory, else to registers
  Work each{};             ///< arithmetic for an element, those beyond the row too
  double reads = 1;        ///< matrices read; one is written
  double parts = 1;        ///< stores of a vector written
  Work beside{};           ///< traffic of other arrays, of the launch
  double round_trips = 0;  ///< of a row
  double sums = 1;         ///< that a thread adds up side by side, of a reduction
  double ahead = 0;        ///< Phase::ahead
};
/// Gives a plan of plan_of its steps.
void set_rows(Plan& plan, const HeldRows& how);

/// fp32 sums of strips of rows, or of chunks, that a second launch adds up and stores one by one.
struct PartialSums {
  static constexpr std::int64_t kTogether = 8;  ///< loads; what is left goes one by one
  double bytes, out_bytes;
  std::int64_t loads;  ///< of a thread, of an array
  double trips;        ///< to memory for them, one after the other
  double arrays = 1;   ///< one after the other
};
/// Gives such a launch its step. Its kernel's loops, for each array: of single loads and of those
/// together.
void set_partial_sums(Plan& plan, const compiled::Kernel& kernel, const PartialSums& sums,
                      DType out);

}  // namespace roofcast::rows
