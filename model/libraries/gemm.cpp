#include "model/libraries/gemm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/alignment.hpp"
#include "model/kernels/gemm/beside.hpp"
#include "model/kernels/gemm/tensor.hpp"
#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::gemm {
namespace {

/// The product, and the way it is computed.
struct Choice {
  double m, n, k;
  LibraryTile tile;
  std::int64_t splits;
  double element;   ///< bytes of A and B
  double result;    ///< bytes of C
  double vector;    ///< elements that one copy of A or B takes, by the alignment of their rows
  bool aligned;     ///< whole vectors: the kernels for the newest instructions take it
  bool wide;        ///< the GPU has wgmma or tcgen05 for the type
  bool takes_wide;  ///< and the library takes it here
  bool tensor;      ///< on the tensor cores
  double batch;
  double instruction_rows;  ///< of those

  std::int64_t rows() const { return ceil_div(static_cast<std::int64_t>(m), tile.m); }
  std::int64_t columns() const { return ceil_div(static_cast<std::int64_t>(n), tile.n); }
  double area() const { return as_double(tile.m * tile.n); }
  double sides() const { return as_double(tile.m + tile.n); }
  double depth() const { return kStepBytes / element; }
  /// Of 128 B; on the SIMT pipes sums end after any 8 elements.
  double steps() const {
    const double least = tensor ? depth() : kSimtDepth;
    return std::ceil(k / as_double(splits) / least) * least / depth();
  }
};

Choice choice_of(const Problem& p, const Gpu& gpu) {
  return {.m = as_double(p[kM]),
          .n = as_double(p[kN]),
          .k = as_double(p[kK]),
          .tile = library_tile(p, gpu),
          .splits = p[kSplitK],
          .element = size_bytes(p.dtype),
          .result = size_bytes(tensor::result_type(p.dtype)),
          .vector = as_double(library_vector(p)),
          .aligned = is_aligned(p),
          .wide = has_wide_products(gpu) && p.dtype != DType::fp32,
          .takes_wide = takes_wide(p, gpu),
          .tensor = p.dtype != DType::fp32,
          .batch = as_double(p[kBatch]),
          .instruction_rows = gpu.features.has(Instruction::tcgen05) ? 128.0 : 64.0};
}

// Clocks of an SM for the products of one step. wgmma and tcgen05 read both operands from shared
// memory, 64 or 128 rows of one side and all of the other for every 32 B of k: narrow tiles wait for
// that.
double math_cycles(const Choice& c, double flop_per_clk, double shared_bytes_per_clk) {
  const double arithmetic = 2 * c.area() * c.depth() / flop_per_clk;
  if (!c.wide) return arithmetic / c.tile.rate;
  if (!c.takes_wide) {
    // mma.sync reaches 63% of wgmma (arXiv 2402.13499). Four warps, two by two, read the operands of
    // their own sums from shared memory, into which they were copied.
    constexpr double kMmaShare = 0.63, kWarpsAcross = 2;
    return std::max(arithmetic / kMmaShare,
                    (kWarpsAcross + 1) * c.sides() * kStepBytes / shared_bytes_per_clk);
  }
  constexpr double kOperandBytes = 32;
  const double rows = as_double(c.tile.m % 64 == 0 ? c.tile.m : c.tile.n);
  const double columns = c.area() / rows;
  const double bytes = rows / c.instruction_rows * (c.instruction_rows + columns) * kOperandBytes *
                       (kStepBytes / kOperandBytes);
  return std::max(arithmetic / c.tile.rate, bytes / shared_bytes_per_clk);
}

// Where rows break the alignment to 16 B, threads copy the operands in pieces. Clocks of an SM for
// one warp's copy of 32 pieces: of 2 bytes between the least errors over products2,
// tensor and squares (8.6) and over products3 and tensor (9.2), of 4 by squares (10.5); 2026-11-22. A published
// product of 1791³, 60 TFLOP/s in 98 tiles of 256x128 on 108 SMs, would take 12 (H. He, "What shapes do
// matrix multiplications like?").
constexpr double kCyclesPerPieceOfWarp = 8.9, kCyclesPerWidePieceOfWarp = 10.5;

double copy_cycles(const Choice& c) {
  if (c.vector * c.element >= as_double(kVectorBytes)) return 0;
  const double rows = std::min(c.m, as_double(c.tile.m)) + std::min(c.n, as_double(c.tile.n));
  return rows * c.depth() / c.vector / as_double(kWarpLanes) *
         (c.vector * c.element > 2 ? kCyclesPerWidePieceOfWarp : kCyclesPerPieceOfWarp);
}

// A step copies 128 B of a row. Where rows of so many elements are no multiple of that, most of these
// pieces begin inside a line and end in the next one, which L2 looks up too for a share `kSecondLine` of them.
// Least error of cuBLAS's times in products2 to products14 (5.9%, 7.0% without; 2026-11-22 and 23), and
// less of the durations of 499 random products in the profile of 2026-11-23 (12.5%, 15.1% without).
constexpr double kSecondLine = 0.7;

double lookups_of_row(const Choice& c, double elements) {
  if (!c.takes_wide || c.tile.stages == 0) return 1;
  constexpr auto kLine = static_cast<std::int64_t>(kStepBytes);
  const auto in_step = std::gcd(static_cast<std::int64_t>(elements * c.element), kLine);
  return 1 + kSecondLine * (1 - as_double(in_step) / kStepBytes);
}

// What of a step's operands each block looks up in L2: two neighbours in a cluster share one side of
// their tiles, and what two neighbours of those ask for at about the same time L2 looks up once: half
// of what the SMs receive, where there are neighbours (tensor of 2026-11-22: 0.51 to 0.57 from
// 2048x6144x4096 to 8192x8192x8192).
double step_lookup_bytes(const Choice& c, const Gpu& gpu) {
  const bool shares = gpu.features.has_clusters() && c.takes_wide;
  const double of_m = (shares && c.columns() > 1 ? 0.5 : 1) * lookups_of_row(c, c.k);
  const double of_n = (shares && c.rows() > 1 ? 0.5 : 1) * lookups_of_row(c, c.n);
  return (of_m * as_double(c.tile.m) + of_n * as_double(c.tile.n)) * kStepBytes;
}

// By whose results tile_outputs_per_clk is stated.
constexpr double kOutputBytes = 2;

TileLoop tile_loop(const Choice& c, DType type, const Gpu& gpu) {
  const double rate =
      (c.tensor ? gpu.sm.tensor_flop_per_clk[type] : gpu.sm.vector_flop_per_clk[type]).value_or(1);
  TileLoop loop;
  loop.tiles = c.rows() * c.columns() * static_cast<std::int64_t>(c.batch);
  loop.on_tensor_cores = c.tensor;
  loop.splits = c.splits;
  loop.blocks_per_sm = c.tile.blocks_per_sm;
  loop.steps = c.steps();
  loop.math_cycles = math_cycles(c, rate, gpu.sm.shared_bytes_per_clk.value_or(128));
  loop.copy_cycles = copy_cycles(c);
  loop.l2_read_bytes = step_lookup_bytes(c, gpu);
  // Of the ring that two groups share: two tiles of an SM count it twice, where one reaches DRAM's rate.
  loop.in_flight_bytes = as_double(c.tile.stages) * c.sides() * kStepBytes;
  // Rows of even position (gemm_tensor.csv, bf16; 2026-11-23) take 4.9% error so on both GPUs with
  // wgmma, 5.5 and 5.6% in the 4-norm, which suits the fitted tiles of the others.
  loop.overlaps_less = c.tile.stages > 0;
  // Sums of parts leave as they are, at the rate of results.
  loop.outputs = c.tensor && c.splits > 1 ? c.area() : c.area() * c.result / kOutputBytes;
  loop.blocks_in_turn = !c.tensor;
  loop.sums_apart = c.takes_wide && gpu.features.has(Instruction::tcgen05);
  loop.useful_cycles = 2 * c.batch * c.m * c.n * c.k / rate;
  return loop;
}

// Blocks that run at once cover a patch of C that is about as high as it is wide.
TileRaster raster(const Choice& c, const Gpu& gpu) {
  const double slots = as_double(gpu.slots(c.tile.blocks_per_sm));
  const double tiles =
      std::min(slots, as_double(c.rows() * c.columns() * c.splits)) / as_double(c.splits);
  const double high = std::sqrt(tiles * as_double(c.tile.n) / as_double(c.tile.m));
  return {.tile_rows = c.rows(),
          .tile_columns = c.columns(),
          .group_rows =
              std::clamp(static_cast<std::int64_t>(std::llround(high)), std::int64_t{1}, c.rows()),
          .row_panel_bytes = c.m / as_double(c.rows()) * c.k * c.element,
          .column_panel_bytes = c.n / as_double(c.columns()) * c.k * c.element};
}

double partial_bytes(const Choice& c) {
  return c.splits > 1 ? as_double(c.splits) * c.batch * c.m * c.n * as_double(kPartBytes) : 0;
}

enum Array : ArrayId { kA, kB, kC, kParts, kWideA, kScale, kWideScale };

constexpr std::string_view kGuess =
    "tile, split and registers are what the library is taken to choose: no profile of it";
constexpr std::string_view kSimtGuess =
    "fp32 on the SIMT pipes: the tiles are those of published kernels, which of them and their "
    "registers are guesses";
constexpr std::string_view kFp8Guess =
    "fp8 takes what bf16 keeps up: tile, split and registers are what the library is taken to "
    "choose";
constexpr std::string_view kUnaligned =
    "rows of n or k elements are no multiple of 16 B: slower kernels copy them in pieces, as "
    "estimated from published rates of odd sizes; tile, split and registers are guesses too";

constexpr double kWideElement = 2;  // of A before it is quantized

bool quantizes(const Problem& p) {
  return p[kQuantize] != kNothing;
}

// Threads, registers and shared memory that leave room for as many blocks as the catalogue says: the
// library's own numbers are not known.
void set_launch(Plan& plan, const Choice& c, const TileLoop& loop, const Gpu& gpu) {
  constexpr std::array<std::int64_t, 4> kThreads = {384, 256, 128, 128};
  const std::int64_t per_sm = c.tile.blocks_per_sm;
  plan.launch.grid[0] = loop.blocks();
  plan.launch.block[0] = kThreads[static_cast<std::size_t>(per_sm - 1)];
  if (!gpu.occupancy) return;
  const OccupancyRules& rules = *gpu.occupancy;
  const std::int64_t registers = rules.registers_per_sm / (per_sm * plan.launch.block[0]);
  plan.launch.registers = std::min(rules.registers_per_thread, registers / 8 * 8);
  const std::int64_t stage = (c.tile.m + c.tile.n) * static_cast<std::int64_t>(kStepBytes);
  const std::int64_t room =
      std::min(rules.shared_bytes_per_sm / per_sm - rules.shared_reserved_bytes_per_block,
               rules.shared_bytes_per_block);
  plan.launch.shared_bytes = room / stage * stage;
}

// What the SMs receive of the operands: every tile column A and every tile row B, as far as they exist.
double received_bytes(const Choice& c) {
  return c.batch * c.k * c.element * (as_double(c.columns()) * c.m + as_double(c.rows()) * c.n);
}

void set_phases(Plan& plan, const Choice& c, const TileLoop& loop, DType type) {
  Step step;
  const double flops = 2 * c.area() * c.depth();
  if (c.tensor) {
    step.issued.tensor_flops[type] = flops;
  } else {
    step.issued.vector_flops = flops;
  }
  set_traffic(step.issued, {received_bytes(c) / (as_double(loop.blocks()) * loop.steps), 0});
  step.issued.shared_bytes = c.sides() * kStepBytes;
  step.waits = {.tile_loads = 1, .barriers = 1};
  Step epilogue;
  const double written = c.splits > 1 ? partial_bytes(c) : c.batch * c.m * c.n * c.result;
  set_traffic(epilogue.issued, {0, written / as_double(loop.blocks())});
  const double stages =
      std::max(1.0, as_double(plan.launch.shared_bytes) / (c.sides() * kStepBytes));
  set_blocks(plan, {{step, loop.steps, stages}, {epilogue}});
}

}  // namespace

Work library_work(const Problem& p) {
  const double m = as_double(p[kM]), n = as_double(p[kN]), k = as_double(p[kK]);
  Work work;
  const double flops = 2 * m * n * k;
  if (p.dtype == DType::fp32) {
    work.vector_flops = flops;
  } else {
    work.tensor_flops[p.dtype] = flops;
  }
  const double a = m * k * (quantizes(p) ? kWideElement : size_bytes(p.dtype));
  work.compulsory = {a + n * k * size_bytes(p.dtype),
                     m * n * size_bytes(tensor::result_type(p.dtype))};
  return as_double(p[kBatch]) * work;
}

std::vector<Problem> library_candidates(const Problem& p, const Gpu& gpu) {
  if (quantizes(p) && p.dtype != DType::fp8) {
    throw InputError("quantize is for fp8: leave it out, or ask for --dtype fp8");
  }
  if (p.dtype != DType::fp32) require_tensor_cores(p.dtype, gpu);
  return blockings(p, gpu);
}

Outline library_outline(const Problem& p, const Gpu& gpu) {
  const Choice c = choice_of(p, gpu);
  Outline outline{tile_loop(c, p.dtype, gpu), std::nullopt, partial_bytes(c),
                  c.batch * c.m * c.n * c.result};
  if (p[kBatch] == 1) outline.raster = raster(c, gpu);
  return outline;
}

IoComplexity library_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  const double batch = as_double(p[kBatch]);
  // Independent products are one of as many times as many rows.
  return matrix_product_io(batch * as_double(p[kM]), as_double(p[kN]), as_double(p[kK]),
                           size_bytes(p.dtype), compulsory_bytes, on_chip_bytes);
}

LaunchSequence plan_library(const Problem& p, const Gpu& gpu) {
  const Choice c = choice_of(p, gpu);
  const double a = c.batch * c.m * c.k * c.element, b = c.batch * c.k * c.n * c.element;
  const double out = c.batch * c.m * c.n * c.result;
  Plan plan;
  plan.tile_loop = tile_loop(c, p.dtype, gpu);
  plan.estimated_traffic = true;
  plan.compute = p.dtype;
  if (c.tensor) {
    const Instruction wide =
        gpu.features.has(Instruction::wgmma) ? Instruction::wgmma : Instruction::tcgen05;
    plan.needs = {c.takes_wide ? wide : Instruction::mma_sync};
    plan.useful.tensor_flops[p.dtype] = 2 * c.batch * c.m * c.n * c.k;
  } else {
    plan.useful.vector_flops = 2 * c.batch * c.m * c.n * c.k;
  }
  plan.arrays = {quantizes(p) ? scratch(kA, {a, 0}) : reads_activation(kA, a), reads(kB, b)};
  if (p[kWeightCopies] > 0) {
    plan.arrays.back().returns_after_bytes = as_double(p[kWeightCopies]) * b + a + out;
  }
  plan.arrays.push_back(c.splits > 1 ? scratch(kParts, {0, partial_bytes(c)}) : writes(kC, out));
  if (p[kBatch] == 1) plan.raster = raster(c, gpu);
  set_launch(plan, c, *plan.tile_loop, gpu);
  set_phases(plan, c, *plan.tile_loop, p.dtype);
  plan.on_chip_bytes = c.area() * as_double(kPartBytes) + as_double(plan.launch.shared_bytes);
  plan.caveat = !c.aligned              ? kUnaligned
                : !c.tensor             ? kSimtGuess
                : p.dtype == DType::fp8 ? kFp8Guess
                                        : kGuess;
  LaunchSequence program = quantization(static_cast<Quantize>(p[kQuantize]), c.batch * c.m * c.k,
                                        {kWideA, kA, kScale, kWideScale});
  program.push_back({std::move(plan)});
  if (c.splits > 1) {
    program.push_back(
        {sum_of_parts(c.batch * c.m * c.n, as_double(c.splits), c.result, kParts, kC)});
  }
  return program;
}

}  // namespace roofcast::gemm
