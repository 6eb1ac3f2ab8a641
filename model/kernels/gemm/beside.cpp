// Launches around a product: quantization, copies of operands, the split-K reduction.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm {
namespace {

constexpr double kWide = 2, kNarrow = 1;  // bytes of an element of A before and after quantization
constexpr double kLanes = as_double(kWarpLanes);

constexpr std::int64_t kElementThreads = 256;
Launch launch_over(double elements, std::int64_t per_thread) {
  return linear_launch(std::ceil(elements / as_double(kElementThreads * per_thread)),
                       kElementThreads);
}

// Converts A from 16 to 8 bits by a known scale, one vector of 8 elements a thread.
Plan conversion_of_vectors(double elements, const ArrayUse& wide) {
  constexpr std::int64_t kPerThread = 8;
  constexpr double kInBlock = as_double(kElementThreads * kPerThread);
  Step step;
  step.issued.vector_flops = step.issued.conversions = kInBlock;
  step.warp_instructions = kInBlock / kLanes * 3;
  step.waits.global = 1;
  Plan plan = even_launch(launch_over(elements, kPerThread),
                          {wide, scratch(kA, {0, elements * kNarrow})}, step);
  plan.useful.vector_flops = plan.useful.conversions = elements;
  return plan;
}

// A pass over A of TensorRT-LLM (cpp/tensorrt_llm/common/cudaFp8Utils.cu, computeFP8QuantizeScale
// and scaleMatrix; scaleMatrixPerTensorVec converts in vectors): 1024 blocks in a grid-stride loop,
// one element of a thread at a time. Instructions are counted from the source. `one` holds the work
// of an element, the instructions and wavefronts of a warp's 32 elements, and the waits for
// `at_once` loads of a thread. Blocks beyond the last element run `end` alone.
Plan strided_pass(double elements, std::int64_t threads, double at_once, const Step& one,
                  const Step& end, std::vector<ArrayUse> arrays) {
  constexpr std::int64_t kBlocks = 1024;
  const double in_block = as_double(threads);
  const double working = std::min(as_double(kBlocks), std::ceil(elements / in_block));
  const double taken = in_block * std::min(at_once, elements / (working * in_block));
  const double accesses = std::ceil(taken / kLanes);
  Step step = one;
  step.issued = taken * one.issued;
  step.warp_instructions *= accesses;
  step.wavefronts.l1 = step.wavefronts.l1_lookups = accesses * one.wavefronts.l1;
  Plan plan = even_launch(linear_launch(as_double(kBlocks), threads), std::move(arrays), end);
  plan.useful.vector_flops = elements;
  plan.useful.conversions = elements * one.issued.conversions;
  const auto count = static_cast<std::int64_t>(working);
  plan.blocks = {{count, {{step, elements / (working * taken)}, {end}}}};
  if (count < kBlocks) plan.blocks.push_back({kBlocks - count, {{end}}});
  return plan;
}

// The largest |a|. Four loads are unrolled; the block then reduces by shuffles and shared memory,
// and one thread reads the scale so far. Few blocks find a larger one and replace it.
Plan largest(double elements) {
  constexpr std::int64_t kThreads = 1024, kAtOnce = 4;
  constexpr double kWarps = as_double(kThreads) / kLanes;
  Step one, end;
  one.issued.vector_flops = one.wavefronts.l1 = 1;
  set_traffic(one.issued, {kWide, 0});
  one.warp_instructions = 7;
  one.waits = {.global = 1, .arithmetic = 8};
  end.warp_instructions = kWarps * 45;
  end.wavefronts.shared = 2 * kWarps;
  end.waits = {.global = 1, .shared = 12, .arithmetic = 20, .barriers = 1};
  return strided_pass(elements, kThreads, kAtOnce, one, end,
                      {reads_activation(kWideA, elements * kWide), scratch(kScale, {4, 4})});
}

// A divided by the scale. A thread's store may alias its next load, so each load waits for it.
Plan conversion(double elements) {
  constexpr std::int64_t kThreads = 256;
  Step one, end;
  one.issued.vector_flops = 6;
  one.issued.special_flops = one.issued.conversions = 1;
  set_traffic(one.issued, {kWide, kNarrow});
  one.warp_instructions = 24;
  one.wavefronts.l1 = 2;
  one.waits = {.global = 1, .arithmetic = 15};
  end.warp_instructions = as_double(kThreads) / kLanes * 20;
  return strided_pass(elements, kThreads, 1, one, end,
                      {scratch(kWideA, {elements * kWide, 0}), scratch(kScale, {4, 0}),
                       scratch(kA, {0, elements * kNarrow})});
}

// One block that reads a number from each array but the last and writes one to the last.
Plan of_a_number(std::vector<ArrayUse> arrays) {
  Step step;
  step.warp_instructions = 128 / kLanes * 20;
  step.waits.global = as_double(std::ssize(arrays) - 1);
  return even_launch({.block = {128, 1, 1}, .registers = 16}, std::move(arrays), step);
}

// The split-K reduction: adds the fp32 parts and writes C of `bytes` bytes. `instructions`: per
// thread and output. `trips`: dependent round trips of a thread to memory.
Plan sums(const Launch& launch, double outputs, double parts, double bytes, double instructions,
          double trips) {
  const double blocks = as_double(launch.blocks());
  Step step;
  step.issued.vector_flops = outputs * (parts - 1) / blocks;
  step.warp_instructions = outputs / blocks / kLanes * instructions;
  step.waits.global = trips;
  Plan plan = even_launch(
      launch, {scratch(kParts, {parts * outputs * kPartBytes, 0}), writes(kC, bytes)}, step);
  plan.useful.vector_flops = outputs * (parts - 1);
  return plan;
}

}  // namespace

LaunchSequence quantization(Quantize how, double elements) {
  const double bytes = elements * kWide;
  if (how == kNothing) return {};
  if (how == kActivations) {
    return launch_of(conversion_of_vectors(elements, reads_activation(kWideA, bytes)));
  }
  LaunchSequence sequence = {{of_a_number({scratch(kScale, {0, 4})})}, {largest(elements)}};
  if (how == kDynamicVectors) {
    sequence.push_back({conversion_of_vectors(elements, scratch(kWideA, {bytes, 0}))});
  } else {
    // The scale has 16 bits and is widened for the product.
    sequence.push_back({conversion(elements)});
    sequence.push_back({of_a_number({scratch(kScale, {4, 0}), scratch(kWideScale, {0, 4})})});
  }
  // Later releases launch each while the one before runs (programmatic dependent launch).
  for (Launched& node : sequence) {
    node.plan.start = how == kDynamic ? Start::code : Start::kept_code;
  }
  return sequence;
}

Plan sum_of_parts(double outputs, double splits, double bytes) {
  constexpr std::int64_t kPerThread = 4;
  return sums(launch_over(outputs, kPerThread), outputs, splits, bytes,
              splits * (1 + 1.0 / kPerThread) + 4, 1);
}

namespace tensor {

Plan copy_of_rows(const Matrix& matrix, const ArrayUse& from, ArrayId to) {
  // Warp instructions for four rows, from the counters of twelve copies: per 16 bytes a lane loads
  // five aligned words, shifts them and stores once.
  constexpr double kInstructionsOfRows = 178;
  constexpr std::int64_t kWordBytes = 4;
  const std::int64_t width = kVectorBytes / matrix.size;
  const std::int64_t groups = ceil_div(matrix.count * matrix.rows, passes::kRowsEach);
  const compiled::Kernel kernel = compiled::kernel("gemm::copy_kernel", matrix.size);
  const Launch launch{.grid = {ceil_div(matrix.columns, passes::kThreads * width),
                               std::min(groups, kMostBlocksYZ), 1},
                      .block = {passes::kThreads, 1, 1},
                      .registers = kernel.registers};
  const double blocks = as_double(launch.blocks()), blocks_of_row = as_double(launch.grid[0]);
  const double warps = as_double(ceil_div(matrix.columns, width * kWarpLanes));
  Step step;
  step.warp_instructions =
      warps * (as_double(groups) / blocks * kInstructionsOfRows + kernel.straight / blocks_of_row);
  // The ends of rows go element by element, each stored before the next is loaded. The first in a
  // sector that no vector load touched waits for L2.
  const std::int64_t rest = matrix.columns % width, whole_words = ceil_div(kWordBytes, matrix.size);
  const bool one_more = rest < whole_words && matrix.columns >= width;
  const double stores = as_double(passes::kRowsEach * (one_more ? width + rest : rest));
  step.waits = {.global = 1 + stores * as_double(matrix.size) / kSectorBytes, .shared = stores};
  return even_launch(launch, {from, scratch(to, {0, matrix.bytes()})}, step);
}

namespace {

Plan transposed_copy(const Matrix& matrix, const ArrayUse& from, ArrayId to) {
  const std::int64_t squares_down = ceil_div(matrix.rows, passes::kSquare);
  const compiled::Kernel kernel = compiled::kernel("gemm::transpose_kernel", matrix.size);
  const Launch launch{.grid = {ceil_div(matrix.columns, passes::kSquare),
                               std::min(squares_down, kMostBlocksYZ), matrix.count},
                      .block = {passes::kSquare, 8, 1},
                      .registers = kernel.registers,
                      .shared_bytes = passes::kSquare * (passes::kSquare + 1) * matrix.size};
  const double squares = as_double(squares_down) / as_double(launch.grid[1]);  // a block
  Step step;
  step.warp_instructions =
      as_double(launch.block[1]) * (kernel.straight + squares * kernel.loops.front());
  // Each row of a square is written to shared memory and read back as a column.
  const double rows_moved = 2 * squares * as_double(passes::kSquare);
  step.wavefronts.l1_lookups = step.wavefronts.l1 = step.wavefronts.shared = rows_moved;
  step.waits = {.global = 1, .shared = 1, .barriers = 1};
  return even_launch(launch, {from, scratch(to, {0, matrix.bytes()})}, step);
}

}  // namespace

Operands operands_of(const Problem& p, bool b_along_k, std::int64_t piece_bytes,
                     bool copies_off_rows) {
  const std::int64_t size = element_bytes(p.dtype);
  std::vector<Operands::Copy> copies;
  const auto side = [&](const auto& read, ArrayId array, const Stored& from, bool transposed,
                        ArrayId copy) -> Operands::Side {
    const Matrix matrix{from.rows, from.columns, size, p[kBatch]};
    const ArrayUse use = read(array, matrix.bytes());
    const std::int64_t pitch = from.row * size;
    const bool is_copied = transposed || (copies_off_rows && pitch % kVectorBytes != 0);
    if (!is_copied) return {use, pitch, piece_bytes};
    copies.push_back({matrix, use, copy, transposed});
    return {scratch(copy, {matrix.bytes(), 0}), 0, piece_bytes};
  };
  const Operands::Side a = side(reads_activation, kA, stored_a(p), p[kTransposedA] != 0, kCopyOfA);
  const Operands::Side b =
      side(reads, kB, stored_b(p), b_along_k && p[kTransposedB] == 0, kCopyOfB);
  return {a, b, std::move(copies)};
}

LaunchSequence with_copies(const Operands& operands, Plan product) {
  LaunchSequence sequence;
  for (const auto& [matrix, from, to, transposes] : operands.copies) {
    sequence.push_back(
        {transposes ? transposed_copy(matrix, from, to) : copy_of_rows(matrix, from, to)});
  }
  sequence.push_back({std::move(product)});
  if (sequence.size() == 1) return sequence;
  for (Launched& launch : sequence) launch.plan.start = Start::code;
  return sequence;
}

// A thread adds an element's partial sums in order, loaded four at once, the remaining one by one.
Plan sum_of_parts(const Problem& p) {
  constexpr std::int64_t kTogether = 4;
  // Thread instructions per output, for each part and in addition: 64-bit addresses, and a loop
  // over an unknown number of parts. From warp_instructions of products in 2 to 12 parts.
  constexpr double kOfPart = 4, kRest = 95;
  const Sizes s(p);
  const std::int64_t parts = p[kSplitK];
  const Launch launch{
      .grid = {ceil_div(p[kN], passes::kThreads), std::min(p[kBatch] * p[kM], kMostBlocksYZ), 1},
      .block = {passes::kThreads, 1, 1},
      .registers = compiled::registers("gemm::sum_kernel", result_type(p.dtype))};
  Plan plan =
      sums(launch, s.batch * s.outputs(), as_double(parts), s.c(),
           kOfPart * as_double(parts) + kRest, as_double(parts / kTogether + parts % kTogether));
  plan.start = Start::code;
  return plan;
}

}  // namespace tensor
}  // namespace roofcast::gemm
