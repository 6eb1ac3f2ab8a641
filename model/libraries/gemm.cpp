#include "model/libraries/gemm.hpp"

#include <algorithm>
#include <utility>

#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::gemm {
namespace {

// The family's problem has no batch parameter: 1.
double batch_of(const Problem& p) {
  return as_double(std::max<std::int64_t>(1, p[kBatch]));
}

// --- epilogues ---

/// Cost of an epilogue per element of C.
struct EpilogueCost {
  double matrix_reads = 0;   ///< elements of C's type: gelu_aux's kept input, or C
  double matrix_writes = 0;  ///< elements of C's type: values before the activation
  double bits = 0;
  bool bias = false;  ///< a vector of n elements is added
  double flops = 0, special = 0;
};

// GELU by tanh and its gradient as in layer.gelu.
constexpr std::array<EpilogueCost, kEpilogueNames.size()> kEpilogueCosts = {{
    {},
    {.bias = true, .flops = 1},
    {.bias = true, .flops = 2},
    {.bias = true, .flops = 7, .special = 2},
    {.bits = 1, .bias = true, .flops = 2},
    {.matrix_writes = 1, .bias = true, .flops = 7, .special = 2},
    {.matrix_reads = 1, .flops = 16, .special = 2},
    {.matrix_reads = 1, .flops = 1},
}};

// Arithmetic and compulsory bytes of the epilogue of the whole batch.
Work epilogue_work(const Problem& p) {
  const EpilogueCost& cost = kEpilogueCosts[static_cast<std::size_t>(p[kEpilogue])];
  const double columns = batch_of(p) * as_double(p[kN]);
  const double outputs = columns * as_double(p[kM]);
  const double element = size_bytes(tensor::result_type(p.dtype));
  constexpr double kBitsOfByte = 8;
  return {.vector_flops = outputs * cost.flops,
          .special_flops = outputs * cost.special,
          .compulsory = {(outputs * cost.matrix_reads + (cost.bias ? columns : 0)) * element,
                         outputs * (cost.matrix_writes * element + cost.bits / kBitsOfByte)}};
}

// Adds the epilogue to the launch that stores C.
void add_epilogue(Plan& plan, const Problem& p) {
  Work issued = epilogue_work(p);
  const Traffic bytes = std::exchange(issued.compulsory, {});
  if (bytes.read_bytes > 0) plan.arrays.push_back(reads(kBeside, bytes.read_bytes));
  if (bytes.write_bytes > 0) plan.arrays.push_back(writes(kBeside + 1, bytes.write_bytes));
  plan.useful += issued;
  const double instructions = issued.flops() / as_double(kWarpLanes);
  set_traffic(issued, bytes);
  for (BlockClass& blocks : plan.blocks) {
    Phase& last = blocks.phases.back();
    const double share = 1 / (as_double(plan.launch.blocks()) * last.repeats);
    last.step.issued += share * issued;
    last.step.warp_instructions += share * instructions;
  }
}

// --- the plan by tiles ---

TileRaster raster_of(const LibraryProduct& c) {
  constexpr std::int64_t kGroupRows = 8;
  const auto panel = [&](const LibraryOperand& of) {
    return of.mean_tile() * c.k * c.element() * of.packing.stored;
  };
  return {.tile_rows = c.a.tiles(),
          .tile_columns = c.b.tiles(),
          .group_rows = std::min(kGroupRows, c.a.tiles()),
          .row_panel_bytes = panel(c.a),
          .column_panel_bytes = panel(c.b)};
}

// For few rows or columns, and for batches, off 16 B or on the SIMT pipes, cuBLAS also has kernels
// that the catalogue lacks (gemmSN, magma_sgemmEx), and splits by rules that are not known.
bool is_guess(const LibraryProduct& c) {
  constexpr std::int64_t kFew = 16;
  const bool few = std::min(c.a.extent, c.b.extent) <= kFew, off = !library_aligned(c.p);
  return few ? off || !c.mma : off && c.p[kBatch] > 1;
}

Plan plan_of_tiles(const LibraryProduct& c, const Gpu& gpu) {
  const Outline brief = outline_of(c, gpu);
  Plan plan = launch_plan(brief.blocks, {c.tile.threads, 1, 1}, 0);
  plan.compute = c.p.dtype;
  if (c.mma) plan.needs = {*c.mma};
  product_flops(plan.useful, c.p.dtype) = c.flops();
  set_matrices(plan, c.p, c.sizes);
  plan.arrays[kA].pattern = brief.operands[0].pattern;
  plan.arrays[kB].pattern = brief.operands[1].pattern;
  if (c.p[kSplitK] == 1) {
    if (c.mma) plan.arrays[kC].pattern = tensor::writes_tiles(c.sizes.c).pattern;
    plan.arrays[kC].pattern.partial_writes = stores_of(c).merged;
  }
  if (c.p[kBatch] == 1) plan.raster = raster_of(c);
  plan.scheduler = brief.scheduler;
  if (gpu.occupancy) {
    plan.launch.registers = gpu.occupancy->registers_for(c.tile.blocks_per_sm, c.tile.threads);
    plan.launch.shared_bytes = c.tile.stages * stage_bytes(c.tile);
  }
  plan.coalesced.bytes =
      brief.loop.step.issued.l2.read_bytes * brief.loop.repeats * as_double(brief.blocks) -
      brief.l2_read_bytes;
  std::vector<Phase> phases = {{{.waits = brief.first}}, brief.loop, {brief.end}};
  if (brief.first.global <= 0) phases.erase(phases.begin());
  set_blocks(plan, std::move(phases));
  plan.on_chip_bytes = c.area() * as_double(kPartBytes) + as_double(plan.launch.shared_bytes);
  plan.notes.estimated_traffic = true;
  plan.notes.guessed_kernel = is_guess(c);
  plan.notes.caveat =
      library_aligned(c.p)
          ? "tile, split and registers are what the library is taken to choose: no profile of it"
          : "rows of n or k elements are no multiple of 16 B: slower kernels copy them in pieces, "
            "as "
            "estimated from published rates of odd sizes; tile, split and registers are guesses "
            "too";
  return plan;
}

}  // namespace

ProductSizes sizes_of(const Problem& p, const Packings& packings) {
  const double m = as_double(p[kM]), n = as_double(p[kN]), outputs = batch_of(p) * m * n;
  const double of_k = batch_of(p) * as_double(p[kK]) * size_bytes(p.dtype);
  return {of_k * m * packings.a.stored, of_k * n * packings.b.stored,
          outputs * size_bytes(tensor::result_type(p.dtype)), outputs};
}

void set_matrices(Plan& plan, const Problem& p, const ProductSizes& sizes) {
  const double parts = as_double(p[kSplitK]) * sizes.outputs * as_double(kPartBytes);
  plan.arrays = {quantizes(p) ? scratch(kA, {sizes.a, 0}) : reads_activation(kA, sizes.a),
                 reads(kB, sizes.b),
                 p[kSplitK] > 1 ? scratch(kParts, {0, parts}) : writes(kC, sizes.c)};
  if (p[kWeightCopies] == 0) return;
  const double once = sizes.a + sizes.c;
  for (ArrayUse& use : plan.arrays) use.returns_after_bytes = once + sizes.b;
  plan.arrays[kB].returns_after_bytes = once + as_double(p[kWeightCopies]) * sizes.b;
}

void add_product(LaunchSequence& sequence, Plan plan, const Problem& p) {
  sequence.push_back({std::move(plan)});
  if (p[kSplitK] <= 1) return;
  // cuBLASLt's splitKreduce is one kernel for every epilogue: round trips for its parameters and
  // scales precede those for the splits, of which a thread loads eight at once.
  constexpr double kTrips = 4, kPartsAtOnce = 8;
  const double splits = as_double(p[kSplitK]);
  const ProductSizes sizes = sizes_of(p);
  Plan sum = sum_of_parts(sizes.outputs, splits, sizes.c);
  sum.start = Start::kept_code;
  sum.blocks.front().phases.front().step.waits.global =
      kTrips + splits / (p.dtype == DType::fp32 ? 1 : kPartsAtOnce);
  sequence.push_back({std::move(sum)});
}

Work library_work(const Problem& p) {
  const ProductSizes sizes = sizes_of(p);
  const double widened = quantizes(p) ? 2 / size_bytes(p.dtype) : 1;  // A comes in 16 bits
  Work work = epilogue_work(p);
  product_flops(work, p.dtype) += 2 * sizes.outputs * as_double(p[kK]);
  work.compulsory += {widened * sizes.a + sizes.b, sizes.c};
  return work;
}

IoComplexity library_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  // A batch counts as one GEMM with the rows of all.
  return matrix_product_io(batch_of(p) * as_double(p[kM]), as_double(p[kN]), as_double(p[kK]),
                           size_bytes(p.dtype), compulsory_bytes, on_chip_bytes);
}

std::vector<Problem> library_candidates(const Problem& p, const Gpu& gpu, bool alone,
                                        std::optional<LibraryKernels> kernels) {
  require(!quantizes(p) || p.dtype == DType::fp8,
          "quantize is for fp8: leave it out, or ask for --dtype fp8");
  constexpr std::int64_t kLeastOfPart = 8;  // elements of k, the fewest of any kernel's split
  const std::int64_t most = ceil_div(p[kK], kLeastOfPart);
  require(p[kSplitK] <= most, "split_k is ", p[kSplitK], ": choose 1 to ", most,
          ", parts of at least 8 of k, or 0 to leave it open");
  if (p.dtype != DType::fp32) require_tensor_cores(p.dtype, gpu);
  if (alone && is_vector_product(p)) return vector_candidates(p, gpu);
  return blockings(p, gpu, kernels ? *kernels : cublas_kernels(p, gpu), alone && p[kBatch] == 1);
}

std::vector<Problem> candidates_of(const Problem& problem, const Problem& product, const Gpu& gpu,
                                   std::span<const std::size_t> settings,
                                   std::optional<LibraryKernels> kernels) {
  std::vector<Problem> found;
  for (const Problem& one : library_candidates(product, gpu, false, kernels)) {
    Problem& candidate = found.emplace_back(problem);
    for (std::size_t i = 0; i < settings.size(); ++i) candidate[settings[i]] = one[kOwnChoice[i]];
  }
  return found;
}

Outline library_outline(const Problem& p, const Gpu& gpu, const Packings& packings) {
  if (is_vector_product(p)) return {.blocks = 0};
  Outline outline = outline_of(library_product(p, gpu, packings), gpu);
  if (p[kSplitK] == 1) outline.epilogue_read_bytes = epilogue_work(p).compulsory.read_bytes;
  return outline;
}

std::vector<Outline> library_outlines(std::span<const Problem> candidates, const Gpu& gpu,
                                      const Packings& packings) {
  std::vector<Outline> found;
  found.reserve(candidates.size());
  for (const Problem& p : candidates) found.push_back(library_outline(p, gpu, packings));
  return found;
}

LaunchSequence plan_library(const Problem& p, const Gpu& gpu, const Packings& packings) {
  if (is_vector_product(p)) return plan_vector_product(p);
  const LibraryProduct c = library_product(p, gpu, packings);
  LaunchSequence sequence =
      quantization(static_cast<Quantize>(p[kQuantize]), c.sizes.a / c.element());
  add_product(sequence, plan_of_tiles(c, gpu), p);
  add_epilogue(sequence.back().plan, p);
  return sequence;
}

}  // namespace roofcast::gemm
