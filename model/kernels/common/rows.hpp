#pragma once
// Kernels whose unit of work is a row of a row-major matrix: softmax, normalization, reductions.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "model/counting/integers.hpp"
#include "model/types/gpu.hpp"
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

inline constexpr std::int64_t kWarp = 32;
inline constexpr std::int64_t kVectorBytes = 16;  ///< one access of a thread
inline constexpr std::int64_t kMaxThreads = 1024;
inline constexpr std::int64_t kWarpsPerBlock = 4;  ///< where a warp has a row of its own
inline constexpr std::int64_t kMaxCluster = 16;
/// The blocks of a cluster wait for one another before the first row, and their places stay empty
/// until the last of them has ended.
inline constexpr double kExchangesOfStart = 2;
/// Before its first copy a block sets up what counts its arrivals and shows it to the unit that
/// copies: that waits for half a load more.
inline constexpr double kLoadsOfStart = 0.5;

using roofcast::ceil_div;
using roofcast::power_of_two_from;

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
};

/// Vectors of a row; what is left, fewer elements than one vector at each end, goes one by one.
constexpr std::int64_t vectors_of(std::int64_t cols, std::int64_t element_bytes) {
  return cols / (kVectorBytes / element_bytes);
}

/// The layout of rows of `cols` elements in registers: `cluster` blocks a row, `vectors` a thread.
/// The result may ask for more than kMaxThreads threads: then the row does not fit.
constexpr Layout held_layout(std::int64_t cols, std::int64_t element_bytes, std::int64_t vectors,
                             std::int64_t cluster) {
  const std::int64_t slice =
      std::max<std::int64_t>(1, ceil_div(vectors_of(cols, element_bytes), cluster));
  Layout layout;
  layout.vectors = vectors;
  layout.threads = ceil_div(ceil_div(slice, vectors), kWarp) * kWarp;
  layout.rows_per_block = cluster == 1 && layout.threads == kWarp ? kWarpsPerBlock : 1;
  layout.cluster = cluster;
  return layout;
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

/// A row over `cluster` blocks, all threads with `vectors` accesses each.
constexpr Layout ring_layout(std::int64_t cols, std::int64_t element_bytes, std::int64_t vectors,
                             std::int64_t cluster) {
  Layout layout;
  layout.vectors = vectors;
  layout.cluster = cluster;
  const std::int64_t slice =
      std::max<std::int64_t>(1, ceil_div(vectors_of(cols, element_bytes), cluster * vectors));
  layout.threads = ceil_div(slice, kWarp) * kWarp;
  return layout;
}

/// Blocks that share a row so that each has at most `slice_bytes` of it, where a cluster can be
/// that large: a power of two.
constexpr std::int64_t cluster_for(std::int64_t row_bytes, std::int64_t slice_bytes) {
  return std::min(kMaxCluster, power_of_two_from(ceil_div(row_bytes, slice_bytes)));
}

/// Throws InputError if one of these settings of a plan is still kToChoose.
void check_chosen(std::initializer_list<std::int64_t> settings);

/// Values to try of a setting: the one given, or with 0 powers of two from `least` to `most`, of
/// which there is always the first.
std::vector<std::int64_t> powers_of_two(std::int64_t given, std::int64_t least, std::int64_t most);

/// Vectors a thread to try for rows in registers, `cluster` blocks a row: those that take from one
/// warp to `most_threads` threads.
std::vector<std::int64_t> held_vectors(std::int64_t given, std::int64_t slice_vectors,
                                       std::int64_t most_vectors, std::int64_t most_threads);

/// Clusters to try: the smallest that holds the row, and larger ones that the device has.
std::vector<std::int64_t> clusters(std::int64_t given, std::int64_t smallest, const Gpu& gpu);

/// Rows to try that a block or cluster takes one after the other.
std::vector<std::int64_t> rows_in_turn(std::int64_t given, std::int64_t most, std::int64_t rows);

/// Instructions of a warp of a kernel whose threads hold a row or a slice of it, counted.
struct Instructions {
  double vector;   ///< each access of 16 bytes a thread inside the row, with its arithmetic
  double idle;     ///< each beyond the row
  double shifted;  ///< more for each inside, where other operands are not as far past 16 bytes as x
  double warp;     ///< each warp and row
  double merge;    ///< the same, once for each merge of several warps' parts
  double start;    ///< each warp of a block that takes rows in turn
};

/// What a row costs a block: `inside` of its warps' `accesses` lie inside the row.
double instructions_of_row(const Instructions& counted, double inside, double accesses,
                           double warps, double merges);

/// Accesses of 16 bytes by a block's warps that lie inside its rows, or its slice of one.
double accesses_inside(std::int64_t cols, std::int64_t element_bytes, const Layout& layout);

/// What the kernels ask of memory for a matrix, rows one after the other from a line boundary, each
/// in vectors that lie on multiples of 16 bytes and in edges: sectors.
struct Sectors {
  double accessed = 0;  ///< summed over warp accesses: what crosses between threads and L1
  double distinct = 0;  ///< summed over rows: L1 joins the accesses of a row
};
Sectors sectors_of(std::int64_t rows, std::int64_t cols, std::int64_t element_bytes,
                   const Layout& layout);

/// The launch and on-chip bytes of a kernel over rows; `registers` a thread.
Plan plan_of(const Layout& layout, std::int64_t rows, std::int64_t registers,
             std::int64_t shared_bytes);

}  // namespace roofcast::rows
