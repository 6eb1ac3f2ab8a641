#pragma once
// Kernels whose unit of work is a row of a row-major matrix: softmax, normalization, reductions.
#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>

#include "model/counting/integers.hpp"
#include "model/kernels/compiled.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::rows {

/// Positions of the shape in Problem.
enum Parameter : std::size_t { kRows, kCols };

inline constexpr std::int64_t kMaxRows = (std::int64_t{1} << 31) - 1;
inline constexpr std::int64_t kMaxCols = std::int64_t{1} << 30;
inline constexpr std::array kShape = {
    roofcast::Parameter{"rows", "rows of the matrix", 1, kMaxRows},
    roofcast::Parameter{"cols", "elements of a row", 1, kMaxCols}};

inline constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};
/// Validated ranges of softmax and the normalizations: validation/sweeps/rows.json.
inline constexpr std::array kValidated = {ValidatedRange{kRows, 64, std::int64_t{1} << 20},
                                          ValidatedRange{kCols, 128, 262144}};

inline constexpr std::int64_t kWarp = 32;
inline constexpr std::int64_t kVectorBytes = 16;  ///< one access of a thread
inline constexpr std::int64_t kMaxThreads = 1024;
inline constexpr std::int64_t kWarpsPerBlock = 4;  ///< where each warp has a row
inline constexpr std::int64_t kMaxCluster = 16;
inline constexpr double kShufflesOfWarp = 10;  ///< two reductions over 32 lanes
/// Dependent operations at the start and end of a row, as in the machine code of the reductions.
inline constexpr double kDependentOfEnds = 32;

constexpr bool has_16_bits(const Problem& p) {
  return element_bytes(p.dtype) == 2;
}
constexpr std::int64_t row_bytes(const Problem& p) {
  return p[kCols] * element_bytes(p.dtype);
}
/// 16-byte vectors of a row, at least one; fewer elements at its ends are accessed one by one.
constexpr std::int64_t vectors_of(const Problem& p) {
  return std::max<std::int64_t>(1, row_bytes(p) / kVectorBytes);
}
/// Most 16-byte accesses a thread holds: 32 elements, in registers as fp32.
constexpr std::int64_t most_vectors(DType type) {
  return 2 * element_bytes(type);
}

/// How a row, or a block's slice of it, is spread over registers: for CUDA kernels and plans alike.
struct Layout {
  std::int64_t vectors = 1;           ///< 16-byte accesses a thread holds
  std::int64_t threads = kWarp;       ///< threads that share a slice: a multiple of 32
  std::int64_t rows_per_block = 1;    ///< rows side by side; more than one: a warp each
  std::int64_t cluster = 1;           ///< blocks that share a row
  std::int64_t rows_per_cluster = 1;  ///< rows a block takes one after the other

  constexpr std::int64_t blocks(std::int64_t rows) const {
    return ceil_div(rows, rows_per_block * rows_per_cluster) * cluster;
  }
  constexpr std::int64_t warps() const { return threads * rows_per_block / kWarp; }
  /// Whether each warp has a row of its own.
  constexpr bool is_of_warps() const {
    return threads == kWarp && cluster == 1 && rows_per_cluster == 1;
  }
};

/// The layout of rows of `row` vectors in registers: `cluster` blocks per row, `vectors` per
/// thread. The row does not fit if this takes more than kMaxThreads threads.
constexpr Layout held_layout(std::int64_t row, std::int64_t vectors, std::int64_t cluster,
                             std::int64_t rows_per_cluster = 1) {
  Layout layout{.vectors = vectors,
                .threads = ceil_div(row, cluster * vectors * kWarp) * kWarp,
                .cluster = cluster,
                .rows_per_cluster = rows_per_cluster};
  if (layout.is_of_warps()) layout.rows_per_block = kWarpsPerBlock;
  return layout;
}

/// Rows that stream through rings in shared memory (kernels/common/row_ring.cuh): each warp has a
/// ring of `stages` buffers for its segment of a row, `vectors` accesses a thread.
constexpr std::int64_t ring_segment_bytes(std::int64_t vectors) {
  return vectors * kWarp * kVectorBytes;
}
inline constexpr std::int64_t kArrivalBytes = 8;  ///< an mbarrier
/// Shared memory of a block's rings, for `arrays` matrices.
constexpr std::int64_t ring_bytes(const Layout& layout, std::int64_t stages, std::int64_t arrays) {
  return layout.threads / kWarp * stages *
         (arrays * ring_segment_bytes(layout.vectors) + kArrivalBytes);
}

/// Bytes of static shared memory in which the warps of a row, up to `threads` threads in each
/// block, exchange partial results: two rows alternate. The rings begin on a multiple of 128 bytes.
constexpr std::int64_t exchange_bytes(std::int64_t threads, bool clustered) {
  constexpr std::int64_t kPart = 8, kTurnPlaces = 2, kAlignment = 128;
  const std::int64_t parts = threads / kWarp * (clustered ? kMaxCluster : 1);
  return round_up(kTurnPlaces * (parts * kPart + kArrivalBytes), kAlignment);
}

/// The layout of rows in such rings.
constexpr Layout ring_layout(std::int64_t row, std::int64_t vectors, std::int64_t cluster,
                             std::int64_t rows_per_cluster = 1) {
  Layout layout = held_layout(row, vectors, cluster, rows_per_cluster);
  layout.rows_per_block = 1;
  return layout;
}

/// The smallest power of two of blocks, at most 16, whose slices hold a row; both in one unit.
constexpr std::int64_t cluster_for(std::int64_t row, std::int64_t slice) {
  return std::min(kMaxCluster, power_of_two_from(ceil_div(row, slice)));
}

/// Throws InputError if one of these settings of a plan is still kToChoose.
void check_chosen(std::initializer_list<std::int64_t> settings);
/// Throws InputError unless a thread's vectors are a power of two, at most `most`.
void check_vectors(std::int64_t vectors, std::int64_t most);
/// Throws InputError unless the blocks of a cluster are a power of two.
void check_cluster(std::int64_t blocks);

using Values = std::vector<std::int64_t>;
/// Each problem with each of its `values` of a setting that is left to choose, else as it is.
std::vector<Problem> with_each(const std::vector<Problem>& problems, std::size_t setting,
                               const std::function<Values(const Problem&)>& values);

/// `least` and its double, fourfold … up to `most`.
Values powers_of_two(std::int64_t least, std::int64_t most);

/// Vectors per thread to try where a row in registers may take 32 to `most_threads` threads.
Values held_vectors(const Problem& p, std::int64_t most_threads);

/// The problems with each cluster size from `smallest` to the device's largest, and each of 1, 2,
/// 4, 8 and 16 rows per cluster, the setting after `cluster`.
std::vector<Problem> with_clusters(const std::vector<Problem>& problems, std::size_t cluster,
                                   const std::function<std::int64_t(const Problem&)>& smallest,
                                   const Gpu& gpu);

/// Instructions of a warp of a kernel whose threads hold a row or a slice of it.
struct Instructions {
  double row;        ///< a row whose accesses all lie inside
  double beyond;     ///< saved by each access beyond the row
  double start = 0;  ///< before the first row
};
/// Instructions of a warp, by the counters: index, edges and exit; merging a row's partial results.
inline constexpr double kInstructionsOfEnds = 10, kInstructionsOfMerge = 48;
/// Iterations of the loop that merges the partial results of a row's warps, 32 an iteration.
constexpr double turns_of_merge(const Layout& layout) {
  return as_double(ceil_div(layout.cluster * layout.warps(), kWarp));
}
/// Instructions that only a 16-byte access inside the row takes: 8 for addresses, tests, loads and
/// stores; for each element `operations`, and in 16 bits `read` conversions and half a packing.
constexpr double access_instructions(const Problem& p, double operations, double read) {
  const double width = as_double(kVectorBytes / element_bytes(p.dtype));
  return 8 + width * (operations + (has_16_bits(p) ? read + 0.5 : 0));
}

/// A dense matrix that begins at a line boundary, and how warps read its rows, 16 bytes per thread.
struct Matrix {
  Layout layout;
  double rows, elements, row_bytes, bytes;
  double accessed;  ///< bytes of the sectors touched, summed over warp accesses
  double distinct;  ///< bytes of the sectors touched, each once a row (L1 joins its accesses)
  double width;     ///< elements in 16 bytes
  bool ragged;      ///< row_bytes is no multiple of 16
  double inside;    ///< warp accesses of a block that lie inside its rows, or its slice of one
};
Matrix matrix_of(const Problem& p, const Layout& layout);

/// The arithmetic of an element, with the conversion that packs 16-bit elements, two at once.
constexpr Work with_conversions(const Problem& p, Work each) {
  each.conversions = has_16_bits(p) ? 0.5 : 0;
  return each;
}

/// Traffic at each level of `reads` matrices read and one written, with `parts` stores a vector.
Work traffic_of(const Matrix& matrix, double reads, double parts);
/// Split stores of the written matrix, whose parts L1 may merge.
SplitWrites split_stores(const Matrix& matrix, double parts);

/// The plan of a launch over rows, still without arrays and blocks.
Plan plan_of(const Layout& layout, std::int64_t blocks, std::int64_t registers,
             std::int64_t shared_bytes);

/// A kernel whose threads hold a row, or their block's slice of one, from its loads to its stores.
struct HeldRows {
  const Matrix& matrix;
  const Instructions& instructions;
  bool streams = false;    ///< rows arrive in rings in shared memory, else in registers
  Work each{};             ///< arithmetic of an element; padding beyond the row counts too
  double reads = 1;        ///< matrices read; one is written
  double parts = 1;        ///< stores of each vector written
  Work beside{};           ///< traffic of other arrays, of the whole launch
  double round_trips = 0;  ///< dependent round trips to memory per row
  double sums = 1;         ///< independent accumulators of a thread in each reduction
  double ahead = 0;        ///< Phase::ahead
};
/// Adds the blocks to a plan made by plan_of, whose arrays are set.
void set_rows(Plan& plan, const HeldRows& how);

/// A launch that adds up fp32 partial sums of strips of rows or of chunks.
struct PartialSums {
  static constexpr std::int64_t kTogether = 8;  ///< loads in flight together; the rest one by one
  std::int64_t loads;                           ///< of a thread for an array
  double trips;                                 ///< dependent round trips of a thread per array
  double arrays = 1;                            ///< added up one after the other
};
/// Adds the blocks to a plan whose arrays (partial sums and results) are set. The kernel has two
/// loops per array: one of single loads, one of kTogether loads.
void set_partial_sums(Plan& plan, const compiled::Kernel& kernel, const PartialSums& sums,
                      DType out);

}  // namespace roofcast::rows
