#include "model/libraries/gemm.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/constants/libraries.hpp"
#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::gemm {
namespace {

constexpr std::string_view kGuess =
    "tile, split and registers are what the library is taken to choose: no profile of it";
constexpr std::string_view kUnaligned =
    "rows of n or k elements are no multiple of 16 B: slower kernels copy them in pieces, as "
    "estimated from published rates of odd sizes; tile, split and registers are guesses too";

// The family's problem has no batch: it counts as 1.
double batch_of(const Problem& p) {
  return as_double(std::max<std::int64_t>(1, p[kBatch]));
}

bool quantizes(const Problem& p) {
  return p[kQuantize] != kNothing;
}

void check_library(const Problem& p, const Gpu& gpu) {
  require(!quantizes(p) || p.dtype == DType::fp8,
          "quantize is for fp8: leave it out, or ask for --dtype fp8");
  constexpr std::int64_t kLeastOfPart = 8;  // elements of k: no kernel sums fewer at once
  const std::int64_t most = ceil_div(p[kK], kLeastOfPart);
  require(p[kSplitK] <= most, "split_k is ", p[kSplitK], ": choose 1 to ", most,
          ", parts of at least 8 of k, or 0 to leave it open");
  if (p.dtype != DType::fp32) require_tensor_cores(p.dtype, gpu);
}

// --- epilogues ---

/// Cost of an epilogue per element of C.
struct EpilogueCost {
  double matrix_reads = 0;   ///< elements of C's type: the input that gelu_aux kept, or C
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

// Arithmetic and compulsory bytes of the epilogue, over the whole batch.
Work epilogue_work(const Problem& p) {
  const EpilogueCost& cost = kEpilogueCosts[static_cast<std::size_t>(p[kEpilogue])];
  const double columns = batch_of(p) * as_double(p[kN]);
  const double outputs = columns * as_double(p[kM]);
  const double element = size_bytes(tensor::result_type(p.dtype));
  constexpr double kBitsOfByte = 8;
  Work work;
  work.vector_flops = outputs * cost.flops;
  work.special_flops = outputs * cost.special;
  work.compulsory = {(outputs * cost.matrix_reads + (cost.bias ? columns : 0)) * element,
                     outputs * (cost.matrix_writes * element + cost.bits / kBitsOfByte)};
  return work;
}

// Adds the epilogue to the launch that stores C.
void add_epilogue(Plan& plan, const Problem& p) {
  if (p[kEpilogue] == kPlain) return;
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

// The main loop of the outline, with prologue and epilogue.
void set_blocks(Plan& plan, const LibraryProduct& c, const Outline& brief) {
  Step step;
  (c.tensor ? step.issued.tensor_flops[brief.type] : step.issued.vector_flops) = brief.step_flops;
  step.warp_instructions = brief.step_instructions;
  set_traffic(step.issued, {brief.step_bytes, 0});
  step.issued.shared_bytes = as_double(stage_bytes(c.tile));
  // A transposed line is read from one bank after another and written two words at a time.
  constexpr double kTransposedLine = 4;
  step.wavefronts.shared = kTransposedLine * as_double((c.a.transposed ? c.tile.m : 0) +
                                                       (c.b.transposed ? c.tile.n : 0));
  step.wavefronts.operands = brief.step_operands;
  step.wavefronts.copies = brief.step_copies;
  step.waits = brief.step_waits;
  // Threads that copy for themselves first load the parameters and compute addresses, with nothing
  // to multiply yet.
  Step first;
  first.waits = {.global = 2, .tile_loads = 1};
  Step epilogue;
  set_traffic(epilogue.issued, brief.epilogue.bytes);
  epilogue.warp_instructions = brief.epilogue.instructions;
  std::vector<Phase> phases;
  if (step.waits.tile_loads == 0) phases.push_back({first});
  const double groups = c.takes_async_mma ? brief.parts / brief.chains : 0;
  phases.push_back({step, brief.steps, brief.ahead, groups, brief.chains});
  phases.push_back({epilogue});
  roofcast::set_blocks(plan, std::move(phases));
}

Plan plan_of_tiles(const Problem& p, const LibraryProduct& c, const ProductSizes& sizes,
                   const Gpu& gpu) {
  const Outline brief = outline_of(c, p.dtype, gpu);
  Plan plan;
  plan.notes.estimated_traffic = true;
  plan.compute = p.dtype;
  if (c.tensor) {
    const bool wgmma = gpu.features.has(Instruction::wgmma);
    plan.needs = {!c.takes_async_mma ? Instruction::mma_sync
                  : wgmma            ? Instruction::wgmma
                                     : Instruction::tcgen05};
  }
  (c.tensor ? plan.useful.tensor_flops[p.dtype] : plan.useful.vector_flops) = c.flops();
  set_matrices(plan, p, sizes);
  for (ArrayUse* operand : {&plan.arrays[kA], &plan.arrays[kB]}) {
    operand->pattern.out_of_step = true;
  }
  if (c.tensor && c.splits == 1) {
    plan.arrays.back().pattern = tensor::writes_tiles(kC, sizes.c).pattern;
  }
  if (p[kBatch] == 1) plan.raster = c.raster();
  // wgmma's kernels fetch their code while the launch before ends (programmatic dependent launch).
  if (!c.takes_async_mma) plan.start = Start::kept_code;
  plan.scheduler = brief.scheduler;
  plan.launch.grid[0] = brief.blocks;
  plan.launch.block[0] = c.tile.threads;
  if (gpu.occupancy) {
    plan.launch.registers = gpu.occupancy->registers_for(c.tile.blocks_per_sm, c.tile.threads);
    plan.launch.shared_bytes = c.tile.stages * stage_bytes(c.tile);
  }
  plan.joined.bytes =
      brief.step_bytes * brief.steps * as_double(brief.blocks) - brief.l2_read_bytes;
  set_blocks(plan, c, brief);
  plan.on_chip_bytes = c.area() * as_double(kPartBytes) + as_double(plan.launch.shared_bytes);
  plan.notes.caveat = c.aligned ? kGuess : kUnaligned;
  return plan;
}

}  // namespace

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

void add_product(LaunchSequence& sequence, Plan plan, const Problem& p, const ProductSizes& sizes) {
  sequence.push_back({std::move(plan)});
  if (p[kSplitK] <= 1) return;
  // cuBLASLt's splitKreduce is one kernel for every epilogue: trips for its parameters and scales
  // come before those for the parts, of which a thread loads eight at once.
  constexpr double kTrips = 4, kPartsAtOnce = 8;
  const double splits = as_double(p[kSplitK]);
  Plan sum = sum_of_parts(sizes.outputs, splits, sizes.c / sizes.outputs, kParts, kC);
  sum.start = Start::kept_code;
  sum.blocks.front().phases.front().step.waits.global =
      kTrips + splits / (p.dtype == DType::fp32 ? 1 : kPartsAtOnce);
  sequence.push_back({std::move(sum)});
}

Work library_work(const Problem& p) {
  const double batch = batch_of(p), m = as_double(p[kM]), n = as_double(p[kN]),
               k = as_double(p[kK]);
  constexpr double kWideElement = 2;  // bytes of an element of A before quantization
  Work work = epilogue_work(p);
  const double flops = 2 * batch * m * n * k;
  if (p.dtype == DType::fp32) {
    work.vector_flops += flops;
  } else {
    work.tensor_flops[p.dtype] = flops;
  }
  const double element = size_bytes(p.dtype);
  work.compulsory += {batch * (m * k * (quantizes(p) ? kWideElement : element) + n * k * element),
                      batch * m * n * size_bytes(tensor::result_type(p.dtype))};
  return work;
}

IoComplexity library_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  // A batch counts as one product with the rows of all.
  return matrix_product_io(batch_of(p) * as_double(p[kM]), as_double(p[kN]), as_double(p[kK]),
                           size_bytes(p.dtype), compulsory_bytes, on_chip_bytes);
}

std::vector<Problem> library_candidates(const Problem& p, const Gpu& gpu) {
  check_library(p, gpu);
  return blockings(p, gpu);
}

std::vector<Problem> candidates_of(const Problem& problem, const Problem& product, const Gpu& gpu,
                                   std::span<const std::size_t> settings) {
  std::vector<Problem> found;
  for (const Problem& one : library_candidates(product, gpu)) {
    Problem& candidate = found.emplace_back(problem);
    for (std::size_t i = 0; i < settings.size(); ++i) candidate[settings[i]] = one[kOwnChoice[i]];
  }
  return found;
}

Outline library_outline(const Problem& p, const Gpu& gpu, const Packings& packings) {
  return outline_of(library_product(p, gpu, packings), p.dtype, gpu);
}

LaunchSequence plan_library(const Problem& p, const Gpu& gpu, const Packings& packings) {
  const LibraryProduct c = library_product(p, gpu, packings);
  const double of_k = c.batch * c.k * c.element;
  const ProductSizes sizes{of_k * as_double(c.a.extent) * packings.a.stored,
                           of_k * as_double(c.b.extent) * packings.b.stored, c.outputs() * c.result,
                           c.outputs()};
  LaunchSequence sequence =
      quantization(static_cast<Quantize>(p[kQuantize]), of_k / c.element * as_double(c.a.extent),
                   {kWideA, kA, kScale, kWideScale});
  add_product(sequence, plan_of_tiles(p, c, sizes, gpu), p, sizes);
  add_epilogue(sequence.back().plan, p);
  return sequence;
}

std::vector<Problem> product_candidates(const Problem& p, const Gpu& gpu) {
  check_library(p, gpu);
  return is_vector_product(p) ? vector_candidates(p, gpu) : blockings(p, gpu, true);
}

Outline product_outline(const Problem& p, const Gpu& gpu) {
  if (is_vector_product(p)) return {.blocks = 0, .on_tensor_cores = false};
  return library_outline(p, gpu);
}

LaunchSequence plan_product(const Problem& p, const Gpu& gpu) {
  return is_vector_product(p) ? plan_vector_product(p) : plan_library(p, gpu);
}

}  // namespace roofcast::gemm
