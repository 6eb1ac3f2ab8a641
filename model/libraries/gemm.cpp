#include "model/libraries/gemm.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/constants/libraries.hpp"
#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/beside.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"
#include "model/libraries/gemm_blocks.hpp"
#include "model/libraries/gemm_counts.hpp"
#include "model/libraries/gemm_vector.hpp"

namespace roofcast::gemm {
namespace {

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

// cuBLASLt's splitKreduce is one kernel for every epilogue: trips for its parameters and scales
// come before those for the parts, of which a thread loads eight at once.
constexpr double kReductionTrips = 4, kPartsAtOnce = 8;

void check_library(const Problem& p, const Gpu& gpu) {
  if (quantizes(p) && p.dtype != DType::fp8) {
    throw InputError("quantize is for fp8: leave it out, or ask for --dtype fp8");
  }
  constexpr std::int64_t kLeastOfPart = 8;  // elements of k: no kernel sums fewer at once
  if (const std::int64_t most = ceil_div(p[kK], kLeastOfPart); p[kSplitK] > most) {
    throw InputError("split_k is " + std::to_string(p[kSplitK]) + ": choose 1 to " +
                     std::to_string(most) + ", parts of at least 8 of k, or 0 to leave it open");
  }
  if (p.dtype != DType::fp32) require_tensor_cores(p.dtype, gpu);
}

}  // namespace

Plan library_reduction(double outputs, double splits, double result_bytes, bool of_tensor) {
  Plan plan = sum_of_parts(outputs, splits, result_bytes, kParts, kC);
  plan.start = Start::kept_code;
  plan.blocks.front().phases.front().step.waits.global =
      kReductionTrips + splits / (of_tensor ? kPartsAtOnce : 1);
  return plan;
}

void set_returns(Plan& plan, std::int64_t weight_copies, const ProductBytes& bytes) {
  if (weight_copies == 0) return;
  for (ArrayUse& use : plan.arrays) use.returns_after_bytes = bytes.a + bytes.b + bytes.c;
  plan.arrays[kB].returns_after_bytes = as_double(weight_copies) * bytes.b + bytes.a + bytes.c;
}

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
  work += epilogue_work(p[kEpilogue], m, n, size_bytes(tensor::result_type(p.dtype)));
  return as_double(p[kBatch]) * work;
}

std::vector<Problem> library_candidates(const Problem& p, const Gpu& gpu) {
  check_library(p, gpu);
  return blockings(p, gpu);
}

IoComplexity library_io(const Problem& p, double compulsory_bytes, double on_chip_bytes) {
  const double batch = as_double(p[kBatch]);
  // Independent products are one of as many times as many rows.
  return matrix_product_io(batch * as_double(p[kM]), as_double(p[kN]), as_double(p[kK]),
                           size_bytes(p.dtype), compulsory_bytes, on_chip_bytes);
}

LaunchSequence quantization_before(const Problem& p, const Gpu& /*gpu*/) {
  const double elements = as_double(p[kBatch]) * as_double(p[kM]) * as_double(p[kK]);
  return quantization(static_cast<Quantize>(p[kQuantize]), elements,
                      {kWideA, kA, kScale, kWideScale});
}

LaunchSequence plan_library(const Problem& p, const Gpu& gpu) {
  const LibraryProduct c = library_product(p, gpu);
  const double a = c.batch * c.m * c.k * c.element, b = c.batch * c.k * c.n * c.element;
  const double out = c.batch * c.m * c.n * c.result;
  Plan plan;
  plan.notes.estimated_traffic = true;
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
  for (ArrayUse& operand : plan.arrays) operand.pattern.out_of_step = true;
  plan.arrays.push_back(c.splits > 1 ? scratch(kParts, {0, c.partial_bytes()})
                        : c.tensor   ? tensor::writes_tiles(kC, out)
                                     : writes(kC, out));
  plan.arrays.back().pattern.partial_writes = c.merged_sectors();
  set_returns(plan, p[kWeightCopies], {a, b, out});
  if (p[kBatch] == 1) plan.raster = c.raster(gpu);
  // wgmma's kernels fetch their code while the launch before ends (programmatic dependent launch).
  if (!c.takes_wide) plan.start = Start::kept_code;
  set_library_blocks(plan, c, p.dtype, gpu);
  plan.on_chip_bytes = c.area() * as_double(kPartBytes) + as_double(plan.launch.shared_bytes);
  plan.notes.caveat = !c.aligned              ? kUnaligned
                      : !c.tensor             ? kSimtGuess
                      : p.dtype == DType::fp8 ? kFp8Guess
                                              : kGuess;
  LaunchSequence program = quantization_before(p, gpu);
  program.push_back({std::move(plan)});
  if (c.splits > 1) {
    program.push_back(
        {library_reduction(c.batch * c.m * c.n, as_double(c.splits), c.result, c.tensor)});
  }
  add_epilogue(program.back().plan, p[kEpilogue],
               c.batch * epilogue_work(p[kEpilogue], c.m, c.n, c.result), kBeside);
  return program;
}

std::vector<Problem> product_candidates(const Problem& p, const Gpu& gpu) {
  check_library(p, gpu);
  return is_vector_product(p) ? vector_candidates(p, gpu) : blockings(p, gpu);
}

Outline product_outline(const Problem& p, const Gpu& gpu) {
  if (is_vector_product(p)) return {.blocks = 0, .on_tensor_cores = false};
  return library_outline(p, gpu);
}

LaunchSequence plan_product(const Problem& p, const Gpu& gpu) {
  if (is_vector_product(p)) return plan_vector_product(p);
  return plan_library(p, gpu);
}

}  // namespace roofcast::gemm
