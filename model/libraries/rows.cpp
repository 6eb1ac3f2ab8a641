#include "model/libraries/rows.hpp"

#include <algorithm>
#include <utility>

#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/layer_operations.hpp"

namespace roofcast::softmax {
namespace {

// Arithmetic per element: the maximum; x - max, exp and sum; x - max, exp and the division, which
// is refined and checked before the next one begins. Instructions as counted in PyTorch 2.11's
// kernels, for release 2.1's block in the machine code of its algorithm (CUDA 13.0).
constexpr layer::Movement kSoftmax =
    layer::by_rows(layer::kOne, layer::kOne, 4, 3).with(&layer::Movement::chain, 14);
constexpr double kInstructionsOfBlock = 40, kInstructionsOfWarp = 36;  // arithmetic included

// Instructions per element and sweep, besides the arithmetic.
double beside(double instructions, double sweeps = 1) {
  return instructions / sweeps - 1 - kSoftmax.flops - kSoftmax.special;
}

// A block has four warps. A warp takes two rows of up to 128 elements; rows shorter than a warp
// share it. Lanes process the next power of two of elements.
layer::Movement in_warps(std::int64_t cols) {
  constexpr double kMostElements = std::int64_t{1} << 30;
  const std::int64_t width = power_of_two_from(cols);
  layer::Movement movement = kSoftmax;
  movement.threads = rows::kWarpsPerBlock * rows::kWarp;
  movement.rows_of_block = movement.threads / std::min(width, rows::kWarp) * (width <= 128 ? 2 : 1);
  const double padded = as_double(width) / as_double(cols);
  movement.at_once = width;
  movement.instructions = beside(kInstructionsOfWarp * padded);
  movement.registers = std::clamp<std::int64_t>(24 + width / rows::kWarp, 32, 80);
  movement.chain *= padded;
  movement.of_thread = 44;
  movement.reduction.barriers = 0;
  movement.most_elements = kMostElements;
  return movement;
}

// Three sweeps, one vector at a time, by half as many threads as a row has vectors. Reductions go
// through shared memory: each lane of the first warp adds the values of one warp.
layer::Movement in_sweeps(std::int64_t vectors) {
  layer::Movement movement = kSoftmax.swept(3);
  const std::int64_t half = power_of_two_from(std::min(vectors, rows::kMaxThreads) / 2);
  movement.threads = std::max(rows::kWarp, half);
  const double warps = warps_of(movement.threads);
  movement.at_once = 1;
  movement.instructions = beside(kInstructionsOfBlock, movement.sweeps);
  movement.of_thread = 90;
  movement.registers = 31;  // by ptxas for compute capability 8.0
  movement.exchanged = 70 * warps;
  movement.reduction = {.shared = 6 + warps / 2, .arithmetic = 64 + 2 * warps, .barriers = 8};
  return movement;
}

// 1024 threads hold the row in registers if it fits, else sweep over it three times.
layer::Movement held(std::int64_t cols) {
  constexpr double kInstructionsHeld = 48;
  constexpr std::int64_t kMostInRegisters = 9 * rows::kMaxThreads;
  constexpr std::int64_t kMostInHalf = 6 * rows::kMaxThreads;  // of an SM's registers
  const bool fits = cols <= kMostInRegisters;
  layer::Movement movement = fits ? kSoftmax : kSoftmax.swept(3);
  movement.threads = rows::kMaxThreads;
  movement.at_once = fits ? cols : 1;
  movement.registers = fits && cols > kMostInHalf ? 40 : 32;
  movement.instructions = beside(kInstructionsHeld, movement.sweeps);
  movement.of_thread = 110;
  movement.reduction = {.shared = 24, .arithmetic = 20, .barriers = 6};
  return movement;
}

}  // namespace

LaunchSequence plan_library(const Problem& p, const Gpu& gpu) {
  const std::int64_t cols = p[rows::kCols];
  const bool newer = p[kRelease] != k2_1;
  if (cols <= (newer ? 2048 : 1024)) return layer::plan_of({in_warps(cols)}, p, gpu);
  return layer::plan_of({newer ? held(cols) : in_sweeps(rows::vectors_of(p))}, p, gpu);
}

}  // namespace roofcast::softmax

namespace roofcast::norm {
namespace {

// Each sweep has one load in flight: the branches of Welford's update, or the store, stand between.
// Reads γ (and β); writes as many fp32 values per row. Instructions as counted in PyTorch 2.11's
// kernels (compute capability 9.0). Welford's update of mean and squared deviations divides: its
// reciprocal is refined and checked before the next element begins; 31 instructions merge two
// threads' statistics, 14 of them dependent.
constexpr double kLayernormResult = 4,
                 kRmsnormResult = 2;  // FLOPs: (x - mean)·rstd·γ + β; x·rstd·γ
layer::Movement layernorm(std::int64_t cols) {
  layer::Movement movement = layer::kNormSweeps.beside({0, 8});
  movement.parameters = 2;
  movement.flops = 7 + kLayernormResult;
  movement.special = 1;
  movement.chain = 8;
  // Warps without elements merge no statistics.
  const double with_elements = std::min(1.0, std::ceil(as_double(cols) / 128) / 4);
  movement.of_thread = 120 + 170 * with_elements;
  movement.registers = 40;  // 39 by ptxas for compute capability 8.0
  movement.reduction = {.shared = 8, .arithmetic = 98, .barriers = 5};
  return movement;
}
constexpr layer::Movement rmsnorm() {
  layer::Movement movement = layer::kNormSweeps.beside({0, 4}).scaled();
  movement.flops = 2 + kRmsnormResult;
  movement.instructions = -1;
  movement.chain = 1;
  movement.of_thread = 125;
  movement.reduction = {.shared = 8, .arithmetic = 21, .barriers = 5};
  return movement;
}

}  // namespace

LaunchSequence plan_library(const Problem& p, const Gpu& gpu) {
  constexpr ArrayId kVectors = 9;
  const bool rms = p[kLibraryKind] == kLibraryRmsnorm;
  const layer::Movement whole = rms ? rmsnorm() : layernorm(p[rows::kCols]);
  if (p[rows::kCols] % whole.together == 0) return layer::plan_of({whole}, p, gpu);
  // Rows of no multiple of four elements: one kernel per sweep, one indexed element per thread.
  layer::Movement moments = whole.swept(1), result = whole.swept(1).after();
  moments.together = result.together = 1;
  moments.writes = layer::kNone;
  moments.parameters = 0;
  moments.threads = 512;
  result.flops = rms ? kRmsnormResult : kLayernormResult;
  moments.flops -= result.flops;
  moments.instructions = 29 - moments.flops - moments.special;
  moments.chain = 0;
  moments.of_thread = 258;
  moments.reduction = {.shared = 10, .arithmetic = 140, .barriers = 2};
  std::swap(result.row.read_bytes, result.row.write_bytes);
  result.threads = 256;
  result.special = result.chain = 0;
  result.instructions = 27;
  result.of_thread = 28;
  result.reduction = {};
  LaunchSequence sequence = layer::plan_of({moments, result}, p, gpu);
  const Plan& first = sequence.front().plan;
  std::vector<ArrayUse>& arrays =
      sequence.back().plan.arrays;  // moments; x and vectors; the result
  const double vectors = whole.parameters * as_double(p[rows::kCols]) * size_bytes(p.dtype);
  arrays[1].array = kVectors;
  arrays[1].compulsory.read_bytes = arrays[1].footprint.read_bytes = vectors;
  arrays.push_back(scratch(first.arrays.front().array, first.arrays.front().footprint));
  return sequence;
}

}  // namespace roofcast::norm
