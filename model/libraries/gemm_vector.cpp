#include "model/libraries/gemm_vector.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/kernels/gemm/tiles.hpp"
#include "model/libraries/gemm.hpp"
#include "model/libraries/gemm_rows.hpp"

namespace roofcast::gemm {
namespace {

/// A block: `outputs` sums, `lanes` threads each.
struct VectorTile {
  std::int64_t outputs, lanes;
  std::int64_t registers;
  std::int64_t at_once = 64;  ///< elements that a thread loads before it multiplies the first

  std::int64_t threads() const { return outputs * lanes; }
};

constexpr std::int64_t kToFit = 0;   // lanes, by the length of k
constexpr std::int64_t kShort = 96;  // k of less may be summed by two lanes
constexpr std::int64_t kFewLanes = 2;

// cuBLAS 13.0's kernels by their grids, registers and machine code: gemvx where threads side by
// side read along k, and gemv2T, which sums eight outputs.
constexpr std::array kAlongK = {VectorTile{4, 32, 159}, VectorTile{8, 16, 65, 16},
                                VectorTile{16, kFewLanes, 165}, VectorTile{32, kFewLanes, 72}};
// gemvx where threads side by side have neighbouring outputs.
constexpr std::array kAcrossK = {VectorTile{4, 32, 164},      VectorTile{8, 32, 164},
                                 VectorTile{16, 32, 128},     VectorTile{32, kToFit, 128},
                                 VectorTile{64, kToFit, 128}, VectorTile{128, 4, 128}};

/// The product, and the way it is computed.
struct VectorProduct {
  std::int64_t outputs, k, batch, splits;
  VectorTile tile;
  bool row;      ///< of C; else a column
  bool along_k;  ///< the matrix lies so
  double element, result;
  std::int64_t pitch_bytes;  ///< from row to row of the matrix as it lies

  double vector_bytes() const { return as_double(batch * k) * element; }
  double matrix_bytes() const { return as_double(outputs) * vector_bytes(); }
  double sums() const { return as_double(batch * outputs); }
  std::int64_t blocks() const { return ceil_div(outputs, tile.outputs) * batch * splits; }
  std::int64_t elements_of_thread() const { return ceil_div(ceil_div(k, splits), tile.lanes); }
};

bool is_row(const Problem& p) {
  return p[kM] == 1;
}

bool lies_along_k(const Problem& p) {
  return is_row(p) ? transposes_b(p[kLayout]) : !transposes_a(p[kLayout]);
}

std::size_t outputs_parameter(const Problem& p) {
  return is_row(p) ? kTileN : kTileM;
}

std::int64_t outputs_of(const Problem& p) {
  return is_row(p) ? p[kN] : p[kM];
}

std::span<const VectorTile> tiles_of(const Problem& p) {
  if (lies_along_k(p)) return kAlongK;
  return kAcrossK;
}

// Wide blocks have more threads along k the longer it is.
std::int64_t fitting_lanes(std::int64_t outputs, std::int64_t k) {
  constexpr std::int64_t kMostThreads = 512, kElements = 64;
  std::int64_t lanes = kFewLanes;
  while (lanes * outputs < kMostThreads && lanes * kElements < k) lanes *= 2;
  return lanes;
}

VectorTile tile_of(const Problem& p) {
  const std::int64_t outputs = p[outputs_parameter(p)];
  std::string known;
  for (VectorTile one : tiles_of(p)) {
    if (one.outputs == outputs) {
      if (one.lanes == kToFit) one.lanes = fitting_lanes(outputs, ceil_div(p[kK], p[kSplitK]));
      return one;
    }
    known += (known.empty() ? "" : ", ") + std::to_string(one.outputs);
  }
  throw InputError("gemm.library has no block of " + std::to_string(outputs) +
                   " outputs for this product with a vector: choose one of " + known);
}

VectorProduct product_of(const Problem& p) {
  const RowLengths rows = library_rows(p);
  return {.outputs = outputs_of(p),
          .k = p[kK],
          .batch = p[kBatch],
          .splits = p[kSplitK],
          .tile = tile_of(p),
          .row = is_row(p),
          .along_k = lies_along_k(p),
          .element = size_bytes(p.dtype),
          .result = size_bytes(tensor::result_type(p.dtype)),
          .pitch_bytes = (is_row(p) ? rows.b : rows.a) * element_bytes(p.dtype)};
}

// A thread takes 64, 32 and 16 elements at once as long as so many are left, then fours, one, and
// the last two. Where k is no multiple of its lanes a warp goes through what some have and what
// others have.
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

// So many elements of each thread, loaded at once: one of the matrix and one of the vector each,
// whatever their size.
Step step_of(const VectorProduct& c, double elements) {
  const double threads = as_double(c.tile.threads()), lanes = as_double(kWarpLanes);
  const double accesses = elements * threads / lanes;
  // Of the sums and of their elements those that exist.
  const double used_outputs =
      as_double(c.outputs) / as_double(ceil_div(c.outputs, c.tile.outputs) * c.tile.outputs);
  const double used_k =
      as_double(c.k) / as_double(c.splits * c.tile.lanes * c.elements_of_thread());
  // Runs of the matrix that a warp touches at once. Along k the next load takes the rest of a
  // sector.
  const std::int64_t wide = std::min(kWarpLanes, c.along_k ? c.tile.lanes : c.tile.outputs);
  const auto bytes_of = [&](std::int64_t n) {
    return static_cast<std::int64_t>(as_double(n) * c.element);
  };
  const double runs = lanes / as_double(wide);
  const double sectors =
      c.along_k ? 1 : tensor::sectors_share(bytes_of(c.tile.outputs), c.pitch_bytes);
  const double lines =
      c.along_k ? runs : runs * tensor::lines_of_piece(bytes_of(wide), c.pitch_bytes);
  const double vector = elements * as_double(c.tile.lanes) * used_k * c.element;
  const double matrix = vector * as_double(c.tile.outputs) * used_outputs;
  // Of a warp for an element of each thread: two addresses, two loads, the multiply-add and what
  // loops take; what widens 16 bits.
  constexpr double kInstructions = 6, kWidening = 2, kMostWavefronts = 8;
  Step step;
  step.issued.vector_flops = 2 * matrix / c.element;
  set_traffic(step.issued, {matrix + vector, 0});
  step.issued.l1.read_bytes = step.issued.l2.read_bytes = matrix * sectors + vector;
  step.warp_instructions = accesses * (kInstructions + (c.element < 4 ? kWidening : 0));
  step.wavefronts.l1_lookups = accesses * (lines + 1);
  step.wavefronts.l1 = accesses * (std::min(lines, kMostWavefronts) + 1);
  step.waits.global = 1;
  return step;
}

// The sums of an output's lanes by halves through shared memory, and the store.
Step end_of(const VectorProduct& c, double stored_bytes) {
  constexpr double kInstructions = 60, kOfHalf = 11;
  const double halves = std::log2(as_double(c.tile.lanes));
  Step end;
  end.waits = {.shared = halves, .barriers = halves};
  end.warp_instructions = warps_of(c.tile.threads()) * (kInstructions + kOfHalf * halves);
  set_traffic(end.issued, {0, stored_bytes});
  return end;
}

std::vector<Phase> phases_of(const VectorProduct& c, double stored_bytes) {
  Step first;  // parameters, and what lies where
  first.waits.global = 2;
  std::vector<Phase> phases = {{first}};
  const double full = as_double(c.elements_of_thread() / c.tile.at_once);
  if (full > 0) phases.push_back({step_of(c, as_double(c.tile.at_once)), full});
  if (const double rest = round_trips(c) - full; rest > 0) {
    const double left = as_double(c.elements_of_thread() % c.tile.at_once);
    phases.push_back({step_of(c, left / rest), rest});
  }
  phases.push_back({end_of(c, stored_bytes)});
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
  const std::size_t position = outputs_parameter(p);
  // Kernels for one product of a batch add nothing from others.
  const std::int64_t asked = p[kBatch] > 1 && p[kSplitK] == kToChoose ? 1 : p[kSplitK];
  std::vector<Problem> found;
  for (const VectorTile& tile : tiles_of(p)) {
    if (!is_asked(p[position], tile.outputs)) continue;
    const bool for_short = lies_along_k(p) && tile.lanes == kFewLanes;
    if (p[position] == kToChoose && for_short && p[kK] >= kShort) continue;
    const std::int64_t blocks = ceil_div(outputs_of(p), tile.outputs) * p[kBatch];
    const std::int64_t parts = ceil_div(p[kK], kLeastOfPart * std::max(kFewLanes, tile.lanes));
    for (const std::int64_t splits : splits_of(asked, parts, blocks, gpu.slots(1), kSplits, 1)) {
      Problem& one = found.emplace_back(p);
      one[kTileM] = one[kTileN] = 1;
      one[position] = tile.outputs;
      one[kSplitK] = splits;
    }
  }
  if (found.empty()) (void)tile_of(p);  // which says what there is
  return found;
}

LaunchSequence plan_vector_product(const Problem& p) {
  const VectorProduct c = product_of(p);
  const double a = c.row ? c.vector_bytes() : c.matrix_bytes();
  const double b = c.row ? c.matrix_bytes() : c.vector_bytes();
  const double out = c.sums() * c.result;
  const double parts = as_double(c.splits) * c.sums() * as_double(kPartBytes);
  const double blocks = as_double(c.blocks());
  Plan plan;
  plan.compute = p.dtype == DType::tf32 ? DType::fp32 : p.dtype;
  plan.useful.vector_flops = 2 * c.matrix_bytes() / c.element;
  plan.arrays = {reads_activation(kA, a), reads(kB, b),
                 c.splits > 1 ? scratch(kParts, {0, parts}) : writes(kC, out)};
  set_returns(plan, p[kWeightCopies], {a, b, out});
  plan.start = Start::kept_code;
  plan.launch.grid[0] = c.blocks();
  plan.launch.block[0] = c.tile.threads();
  plan.launch.registers = c.tile.registers;
  const double read = c.vector_bytes() / as_double(c.batch * c.splits);  // by each block
  plan.reuse = {{.scope = Scope::sm,
                 .bytes = read * blocks,
                 .distinct_bytes = c.vector_bytes(),
                 .distance_bytes = read}};
  set_blocks(plan, phases_of(c, (c.splits > 1 ? parts : out) / blocks));
  plan.on_chip_bytes = as_double(c.tile.threads() * kPartBytes);
  plan.notes.estimated_traffic = true;
  plan.notes.caveat =
      "a product with a vector: by blocks and registers of cuBLAS's gemv kernels; which of them it "
      "takes is a guess";
  LaunchSequence program = launch_of(std::move(plan));
  if (c.splits > 1) {
    program.push_back(
        {library_reduction(c.sums(), as_double(c.splits), c.result, p.dtype != DType::fp32)});
  }
  return program;
}

}  // namespace roofcast::gemm
