#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::gemm {
namespace {

/// A block computes `outputs` sums with `lanes` threads each.
struct VectorTile {
  std::int64_t outputs, lanes;
  std::int64_t registers;
  std::int64_t at_once = 64;  ///< elements in flight per thread

  std::int64_t threads() const { return outputs * lanes; }
};

// cuBLAS 13.0's kernels by grids, registers and machine code: gemvx, and gemv2T (eight outputs).
constexpr std::array kTiles = {VectorTile{4, 32, 159}, VectorTile{8, 16, 65, 16},
                               VectorTile{16, 2, 165}, VectorTile{32, 2, 72}};

/// Whether the result is a row of C; else it is a column.
bool is_row(const Problem& p) {
  return p[kM] == 1;
}

/// Position of the parameter that sets a block's outputs.
std::size_t outputs_setting(const Problem& p) {
  return is_row(p) ? kTileN : kTileM;
}

/// A matrix of `outputs` rows of k elements, times a vector.
struct VectorProduct {
  const Problem& p;
  const VectorTile& tile;

  std::int64_t outputs() const { return p[is_row(p) ? kN : kM]; }
  /// Whether the matrix is stored along k.
  bool along_k() const { return is_row(p) ? transposes_b(p[kLayout]) : !transposes_a(p[kLayout]); }
  std::int64_t blocks_of_part() const { return ceil_div(outputs(), tile.outputs); }
  std::int64_t elements_of_thread() const {
    return ceil_div(ceil_div(p[kK], p[kSplitK]), tile.lanes);
  }
};

const VectorTile& tile_of(const Problem& p) {
  const std::int64_t outputs = p[outputs_setting(p)];
  for (const VectorTile& one : kTiles) {
    if (one.outputs == outputs) return one;
  }
  const auto text = [](const VectorTile& one) { return std::to_string(one.outputs); };
  throw InputError("gemm.library has no block of " + std::to_string(outputs) +
                   " outputs for this product with a vector: choose one of " +
                   listed(kTiles, text));
}

// A thread loads chunks of 64, 32 or 16 elements, then of four, then single ones. If lanes have
// different numbers of elements, a warp executes every lane's cases.
double round_trips(const VectorProduct& c) {
  constexpr std::int64_t kFours = 4, kLeastAtOnce = 16;
  std::int64_t most = c.elements_of_thread(), trips = 0;
  std::int64_t least = c.p[kK] % (c.p[kSplitK] * c.tile.lanes) == 0 ? most : most - 1;
  for (std::int64_t chunk = c.tile.at_once; chunk >= kLeastAtOnce; chunk /= 2) {
    trips += std::max(most / chunk, least / chunk);
    most %= chunk;
    least %= chunk;
  }
  const auto last = [](std::int64_t left) { return std::min<std::int64_t>(2, left % kFours); };
  return as_double(trips + std::max(most / kFours, least / kFours) +
                   std::max(last(most), last(least)));
}

// A step in which each thread loads `elements` of the matrix and of the vector at once.
Step step_of(const VectorProduct& c, double elements) {
  const double lanes = as_double(kWarpLanes), element = size_bytes(c.p.dtype);
  const double accesses = elements * as_double(c.tile.threads()) / lanes;
  // Shares of a block's outputs and of its k extent that lie within the matrix.
  const double used_outputs =
      as_double(c.outputs()) / as_double(c.blocks_of_part() * c.tile.outputs);
  const double used_k =
      as_double(c.p[kK]) / as_double(c.p[kSplitK] * c.tile.lanes * c.elements_of_thread());
  // Contiguous runs of the matrix per warp access.
  const std::int64_t wide = std::min(kWarpLanes, c.along_k() ? c.tile.lanes : c.tile.outputs);
  const double runs = lanes / as_double(wide);
  const double vector = elements * as_double(c.tile.lanes) * used_k * element;
  const double matrix = vector * as_double(c.tile.outputs) * used_outputs;
  // Warp instructions per element of each thread: two addresses, two loads, the multiply-add, the
  // loop; the conversion of 16 bits.
  constexpr double kInstructions = 6, kWidening = 2, kMostWavefronts = 8;
  Step step;
  step.issued.vector_flops = 2 * matrix / element;
  set_traffic(step.issued, {matrix + vector, 0});
  step.warp_instructions = accesses * (kInstructions + (element < 4 ? kWidening : 0));
  step.wavefronts.l1_lookups = accesses * (runs + 1);
  step.wavefronts.l1 = accesses * (std::min(runs, kMostWavefronts) + 1);
  step.waits.global = 1;
  return step;
}

std::vector<Phase> phases_of(const VectorProduct& c, double stored_bytes) {
  const Step first{.waits = {.global = 2}};  // parameters and addresses
  std::vector<Phase> phases = {{first}};
  const double full = as_double(c.elements_of_thread() / c.tile.at_once);
  if (full > 0) phases.push_back({step_of(c, as_double(c.tile.at_once)), full});
  if (const double rest = round_trips(c) - full; rest > 0) {
    const double left = as_double(c.elements_of_thread() % c.tile.at_once);
    phases.push_back({step_of(c, left / rest), rest});
  }
  // The lanes of an output reduce their sums pairwise in shared memory; one stores the result.
  const double halves = std::log2(as_double(c.tile.lanes));
  Step end{.waits = {.shared = halves, .barriers = halves}};
  set_traffic(end.issued, {0, stored_bytes});
  phases.push_back({end});
  return phases;
}

}  // namespace

bool is_vector_product(const Problem& p) {
  if (p[kM] != 1 && p[kN] != 1) return false;
  if (p[kEpilogue] != kPlain || p[kQuantize] != kNothing || p.dtype == DType::fp8) return false;
  if (p[is_row(p) ? kTileM : kTileN] > 1) return false;
  return element_bytes(p.dtype) == 4 || !library_aligned(p);
}

std::vector<Problem> vector_candidates(const Problem& p, const Gpu& gpu) {
  constexpr std::int64_t kLeastOfPart = 16;
  std::vector<Problem> found;
  for (const VectorTile& tile : kTiles) {
    if (!is_asked(p[outputs_setting(p)], tile.outputs)) continue;
    const std::int64_t blocks = VectorProduct{p, tile}.blocks_of_part() * p[kBatch];
    const std::int64_t parts = ceil_div(p[kK], kLeastOfPart * tile.lanes);
    for (const std::int64_t splits :
         splits_of(asked_splits(p), parts, blocks, gpu.slots(1), kSplits, 1)) {
      found.push_back(is_row(p) ? in_tiles(p, 1, tile.outputs, splits)
                                : in_tiles(p, tile.outputs, 1, splits));
    }
  }
  if (found.empty()) (void)tile_of(p);  // throws, and lists the tiles
  return found;
}

LaunchSequence plan_vector_product(const Problem& p) {
  const VectorProduct c{p, tile_of(p)};
  const ProductSizes sizes = sizes_of(p);
  Plan plan = launch_plan(c.blocks_of_part() * p[kBatch] * p[kSplitK], {c.tile.threads(), 1, 1},
                          c.tile.registers);
  plan.compute = p.dtype == DType::tf32 ? DType::fp32 : p.dtype;
  plan.useful.vector_flops = 2 * sizes.outputs * as_double(p[kK]);
  set_matrices(plan, p, sizes);
  plan.start = Start::kept_code;
  const double blocks = as_double(plan.launch.blocks()), vector = is_row(p) ? sizes.a : sizes.b;
  const double read = vector / as_double(p[kBatch] * p[kSplitK]);  // bytes per block
  plan.reuse = {{.scope = Scope::sm,
                 .bytes = read * blocks,
                 .distinct_bytes = vector,
                 .distance_bytes = read}};
  set_blocks(plan, phases_of(c, plan.arrays.back().footprint.write_bytes / blocks));
  plan.on_chip_bytes = as_double(c.tile.threads() * kPartBytes);
  plan.notes.estimated_traffic = true;
  plan.notes.guessed_kernel = true;
  plan.notes.caveat =
      "a product with a vector: by blocks and registers of cuBLAS's gemv kernels; which of them it "
      "takes is a guess";
  LaunchSequence sequence;
  add_product(sequence, std::move(plan), p);
  return sequence;
}

}  // namespace roofcast::gemm
