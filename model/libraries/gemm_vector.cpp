#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::gemm {
namespace {

/// A block computes `outputs` sums with `lanes` threads each.
struct VectorTile {
  std::int64_t outputs, lanes;
  std::int64_t registers;
  std::int64_t at_once = 64;  ///< elements that a thread loads before it multiplies the first

  std::int64_t threads() const { return outputs * lanes; }
};

// cuBLAS 13.0's kernels by their grids, registers and machine code: gemvx, and gemv2T, which sums
// eight outputs.
constexpr std::array kTiles = {VectorTile{4, 32, 159}, VectorTile{8, 16, 65, 16},
                               VectorTile{16, 2, 165}, VectorTile{32, 2, 72}};

bool is_row(const Problem& p) {
  return p[kM] == 1;
}

/// A matrix of `outputs` rows of k elements, times a vector.
struct VectorProduct {
  explicit VectorProduct(const Problem& p)
      : row(is_row(p)),
        along_k(row ? transposes_b(p[kLayout]) : !transposes_a(p[kLayout])),
        setting(row ? kTileN : kTileM),
        outputs(p[row ? kN : kM]),
        k(p[kK]),
        batch(p[kBatch]),
        splits(p[kSplitK]),
        element(size_bytes(p.dtype)) {}

  bool row;             ///< the result is a row of C; else a column
  bool along_k;         ///< the matrix is stored along k
  std::size_t setting;  ///< position of the parameter that sets a block's outputs
  std::int64_t outputs, k, batch, splits;
  double element;
  VectorTile tile{};
  double vector_bytes() const { return as_double(batch * k) * element; }
  double matrix_bytes() const { return as_double(outputs) * vector_bytes(); }
  std::int64_t elements_of_thread() const { return ceil_div(ceil_div(k, splits), tile.lanes); }
};

VectorProduct with_tile(const Problem& p) {
  VectorProduct c(p);
  for (const VectorTile& one : kTiles) {
    if (one.outputs != p[c.setting]) continue;
    c.tile = one;
    return c;
  }
  const auto text = [](const VectorTile& one) { return std::to_string(one.outputs); };
  throw InputError("gemm.library has no block of " + std::to_string(p[c.setting]) +
                   " outputs for this product with a vector: choose one of " +
                   listed(kTiles, text));
}

// A thread loads 64, 32 or 16 elements at once while so many are left, then four, then single ones.
// Where lanes have different numbers of elements, a warp executes the cases of all.
double round_trips(const VectorProduct& c) {
  constexpr std::int64_t kFours = 4, kLeastAtOnce = 16;
  std::int64_t most = c.elements_of_thread();
  std::int64_t least = c.k % (c.splits * c.tile.lanes) == 0 ? most : most - 1;
  double trips = 0;
  for (std::int64_t chunk = c.tile.at_once; chunk >= kLeastAtOnce; chunk /= 2) {
    trips += as_double(std::max(most / chunk, least / chunk));
    most %= chunk;
    least %= chunk;
  }
  const auto last = [](std::int64_t left) { return std::min<std::int64_t>(2, left % kFours); };
  return trips +
         as_double(std::max(most / kFours, least / kFours) + std::max(last(most), last(least)));
}

// A step in which each thread loads `elements` at once, with one load from the matrix and one from
// the vector for each.
Step step_of(const VectorProduct& c, double elements) {
  const double lanes = as_double(kWarpLanes);
  const double accesses = elements * as_double(c.tile.threads()) / lanes;
  // The shares of a block's sums, and of their elements, that exist.
  const double used_outputs =
      as_double(c.outputs) / as_double(ceil_div(c.outputs, c.tile.outputs) * c.tile.outputs);
  const double used_k =
      as_double(c.k) / as_double(c.splits * c.tile.lanes * c.elements_of_thread());
  // Contiguous runs of the matrix that one access of a warp touches.
  const std::int64_t wide = std::min(kWarpLanes, c.along_k ? c.tile.lanes : c.tile.outputs);
  const double runs = lanes / as_double(wide);
  const double vector = elements * as_double(c.tile.lanes) * used_k * c.element;
  const double matrix = vector * as_double(c.tile.outputs) * used_outputs;
  // Instructions of a warp for an element of each thread: two addresses, two loads, the
  // multiply-add, the loop; and the conversion of 16 bits.
  constexpr double kInstructions = 6, kWidening = 2, kMostWavefronts = 8;
  Step step;
  step.issued.vector_flops = 2 * matrix / c.element;
  set_traffic(step.issued, {matrix + vector, 0});
  step.warp_instructions = accesses * (kInstructions + (c.element < 4 ? kWidening : 0));
  step.wavefronts.l1_lookups = accesses * (runs + 1);
  step.wavefronts.l1 = accesses * (std::min(runs, kMostWavefronts) + 1);
  step.waits.global = 1;
  return step;
}

std::vector<Phase> phases_of(const VectorProduct& c, double stored_bytes) {
  Step first;  // parameters and addresses
  first.waits.global = 2;
  std::vector<Phase> phases = {{first}};
  const double full = as_double(c.elements_of_thread() / c.tile.at_once);
  if (full > 0) phases.push_back({step_of(c, as_double(c.tile.at_once)), full});
  if (const double rest = round_trips(c) - full; rest > 0) {
    const double left = as_double(c.elements_of_thread() % c.tile.at_once);
    phases.push_back({step_of(c, left / rest), rest});
  }
  // The lanes of an output reduce their sums pairwise through shared memory; one stores the result.
  const double halves = std::log2(as_double(c.tile.lanes));
  Step end;
  end.waits = {.shared = halves, .barriers = halves};
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
  const VectorProduct c(p);
  std::vector<Problem> found;
  for (const VectorTile& tile : kTiles) {
    if (!is_asked(p[c.setting], tile.outputs)) continue;
    const std::int64_t blocks = ceil_div(c.outputs, tile.outputs) * c.batch;
    const std::int64_t parts = ceil_div(c.k, kLeastOfPart * tile.lanes);
    for (const std::int64_t splits :
         splits_of(asked_splits(p), parts, blocks, gpu.slots(1), kSplits, 1)) {
      Problem& one = found.emplace_back(p);
      one[kTileM] = one[kTileN] = 1;
      one[c.setting] = tile.outputs;
      one[kSplitK] = splits;
    }
  }
  if (found.empty()) (void)with_tile(p);  // throws, and lists the tiles
  return found;
}

LaunchSequence plan_vector_product(const Problem& p) {
  const VectorProduct c = with_tile(p);
  const double outputs = as_double(c.batch * c.outputs);
  ProductSizes sizes{c.vector_bytes(), c.matrix_bytes(),
                     outputs * size_bytes(tensor::result_type(p.dtype)), outputs};
  if (!c.row) std::swap(sizes.a, sizes.b);
  Plan plan;
  plan.compute = p.dtype == DType::tf32 ? DType::fp32 : p.dtype;
  plan.useful.vector_flops = 2 * c.matrix_bytes() / c.element;
  set_matrices(plan, p, sizes);
  plan.start = Start::kept_code;
  plan.launch.grid[0] = ceil_div(c.outputs, c.tile.outputs) * c.batch * c.splits;
  plan.launch.block[0] = c.tile.threads();
  plan.launch.registers = c.tile.registers;
  const double blocks = as_double(plan.launch.blocks());
  const double read = c.vector_bytes() / as_double(c.batch * c.splits);  // bytes per block
  plan.reuse = {{.scope = Scope::sm,
                 .bytes = read * blocks,
                 .distinct_bytes = c.vector_bytes(),
                 .distance_bytes = read}};
  set_blocks(plan, phases_of(c, plan.arrays.back().footprint.write_bytes / blocks));
  plan.on_chip_bytes = as_double(c.tile.threads() * kPartBytes);
  plan.notes.estimated_traffic = true;
  plan.notes.caveat =
      "a product with a vector: by blocks and registers of cuBLAS's gemv kernels; which of them it "
      "takes is a guess";
  LaunchSequence sequence;
  add_product(sequence, std::move(plan), p, sizes);
  return sequence;
}

}  // namespace roofcast::gemm
