#pragma once
// What a framework's kernels over rows have in common: a block a row, and later passes that count
// on the caches.
#include <array>
#include <cstddef>
#include <string_view>

#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/common/rows.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast::library {

/// Rows that one resident block moves through L2 between its first pass over its row and its
/// second. Where DRAM sets the pace the first pass takes most of a block's life: until its second
/// pass every other block has read a row and written one.
inline constexpr double kFirstReread = 2;
/// The same from there to a third pass: passes that miss take equal time, a third of the blocks
/// are in each, and one in three also writes.
inline constexpr double kNextReread = 4.0 / 3;

/// What a later pass over rows of so many bytes reads again.
constexpr Reuse reread(double bytes, double row_bytes, double rows_apart = kFirstReread) {
  return {.bytes = bytes,
          .distance_bytes = kFirstReread * row_bytes,
          .l2_distance_bytes = rows_apart * row_bytes};
}

/// γ and β, which every row asks for; between two uses an SM reads a row and writes one.
constexpr Reuse parameter_reuse(double rows, double parameter_bytes, double row_bytes) {
  return {.scope = Scope::sm,
          .bytes = rows * parameter_bytes,
          .distinct_bytes = parameter_bytes,
          .distance_bytes = 2 * row_bytes + parameter_bytes};
}

/// What an element takes in a sweep over a row.
struct Swept {
  double flops;
  double special;
  double instructions;  ///< of a thread
  double chain;         ///< dependent operations
};
/// A step of a sweep: a block's threads go through so many elements, which they wait for once.
inline Step sweep_step(const Swept& of, double elements, std::int64_t threads,
                       const Traffic& bytes) {
  Step step;
  step.issued = elements * vector_work(of.flops, of.special);
  set_traffic(step.issued, bytes);
  step.warp_instructions = elements / as_double(rows::kWarp) * of.instructions;
  step.waits = {.global = bytes.read_bytes > 0 ? 1.0 : 0.0,
                .arithmetic = elements / as_double(threads) * of.chain};
  return step;
}

/// Shapes of the table that the forecasts are held against
/// (tests/validation/comparison/reference_test.cpp).
inline constexpr std::array kRowsValidated = {ValidatedRange{rows::kRows, 8192, 4194304},
                                              ValidatedRange{rows::kCols, 768, 16384}};

}  // namespace roofcast::library

namespace roofcast::softmax {

/// Softmax over the rows as PyTorch launches it (ATen/native/cuda/SoftMax.cu and
/// PersistentSoftmax.cuh). A warp holds a short row, or two, in registers and reads it once;
/// beyond, a block takes a row: 2.1 sweeps it three times, for the maximum, the sum and the result;
/// 2.11 holds it in registers or shared memory as far as it fits.
LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);

enum LibraryParameter : std::size_t { kRelease = 2 };
enum Release : std::int64_t { k2_1, k2_11 };
inline constexpr std::array<std::string_view, 2> kReleaseNames = {"2.1", "2.11"};
inline constexpr std::array kLibraryParameters = with_own(
    rows::kShape,
    choice("release", "of PyTorch, whose kernels for rows of more than 1024 elements differ",
           kReleaseNames, k2_1));

inline constexpr KernelModel kLibrary = {"softmax.library",
                                         "what PyTorch launches: a short row in a warp, beyond a "
                                         "block a row",
                                         kLibraryParameters,
                                         rows::kTypes,
                                         plan_library,
                                         library::kRowsValidated};

}  // namespace roofcast::softmax

namespace roofcast::norm {

/// Normalization of rows, forward, as PyTorch launches it (ATen/native/cuda/layer_norm_kernel.cu):
/// 128 threads a row that sweep it twice, for the moments and for the result; where the rows do not
/// divide into vectors of four, a kernel for each sweep. Writes the moments of each row too.
LaunchSequence plan_library(const Problem& problem, const Gpu& gpu);

/// Positions in Problem after the shape.
enum LibraryParameter : std::size_t { kLibraryPass = 2, kLibraryKind = 3 };
enum LibraryKind : std::int64_t { kLibraryLayernorm, kLibraryRmsnorm };
inline constexpr std::array<std::string_view, 2> kLibraryKinds = {"layernorm", "rmsnorm"};
inline constexpr std::array<std::string_view, 1> kLibraryPasses = {"forward"};
inline constexpr std::array kLibraryParameters =
    with_own(rows::kShape, choice("pass", "forward alone", kLibraryPasses, 0),
             choice("kind", "what is normalized: mean and variance, or the root mean square",
                    kLibraryKinds, kLibraryLayernorm));

inline constexpr KernelModel kLibrary = {"norm.library",
                                         "what PyTorch launches, forward: 128 threads a row, two "
                                         "sweeps",
                                         kLibraryParameters,
                                         rows::kTypes,
                                         plan_library,
                                         library::kRowsValidated};

}  // namespace roofcast::norm
