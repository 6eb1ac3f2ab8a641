// The elements, bytes and arithmetic of a launch of layer.*, and how its threads map to them.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "model/kernels/common/map.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/common/rows.hpp"
#include "model/libraries/layer.hpp"

namespace roofcast::layer {

double Counted::parts() const {
  constexpr double kRowsOfPart = 10;
  return std::min(rows, std::min(rows, of) + std::floor(rows / kRowsOfPart));
}

double Counted::row_splits() const {
  constexpr double kMostBlocks = 32768, kRowsOfPart = 32;
  return std::min(std::floor(kMostBlocks / std::ceil(cols / as_double(rows::kWarp))),
                  std::ceil(rows / kRowsOfPart));
}

double Counted::elements() const {
  if (movement.walk == Walk::table_zeros) return of * cols;
  if (movement.walk == Walk::table_sums) return parts() * cols;
  const double each =
      movement.reads.bytes_of_element(type) + movement.writes.bytes_of_element(type);
  return each > 0 ? rows * cols : rows;
}

Traffic Counted::of_elements() const {
  const double written = movement.walk == Walk::part_sums ? parts() * cols : elements();
  return {elements() * movement.reads.bytes_of_element(type),
          written * movement.writes.bytes_of_element(type)};
}

Traffic Counted::bytes() const {
  Traffic sum = rows * of_row();
  sum += of_elements();
  sum.read_bytes += movement.parameters * row_bytes();
  const Walk walk = movement.walk;
  const bool adds = walk == Walk::table_columns;
  if (adds || walk == Walk::table_rows) sum.read_bytes += drawn_bytes();
  if (adds || walk == Walk::table_sums) sum.write_bytes += drawn_bytes();
  if (walk == Walk::table_zeros) sum.write_bytes += of * row_bytes();
  return sum;
}

Traffic Counted::asked() const {
  Traffic sum = bytes();
  sum.read_bytes += (rows - 1) * movement.parameters * row_bytes() +
                    (movement.sweeps - 1) * of_elements().read_bytes;
  if (movement.walk == Walk::table_rows) sum.read_bytes += rows * row_bytes() - drawn_bytes();
  return sum;
}

Work Counted::work() const {
  return {.vector_flops = elements() * flops(), .special_flops = elements() * movement.special};
}

namespace {

// One instruction widens a 16-bit element when read; one narrows two when written.
double instructions(const Counted& one) {
  const Movement& movement = one.movement;
  const double converted =
      size_bytes(one.type) < sizeof(float) ? movement.reads.typed + movement.writes.typed / 2 : 0;
  return 1 + one.flops() + movement.special + converted + movement.instructions;
}

// Work issued for a share of the elements.
Work issued_for(const Counted& one, double share) {
  Work work = share * one.work() + share * one.elements() * one.movement.further;
  set_traffic(work, share * one.asked());
  return work;
}

Plan over_elements(const Counted& one) {
  constexpr std::int64_t kThreads = 256, kVectorBytes = 16, kLoads = 1;
  const Traffic asked = one.asked();
  const double bytes = one.elements() * size_bytes(one.type);
  const auto elements = static_cast<std::int64_t>(one.elements());
  return map::plan({.reads = asked.read_bytes / bytes,
                    .writes = asked.write_bytes / bytes,
                    .cost = {.flops = one.flops(),
                             .special = one.movement.special,
                             .instructions = instructions(one)}},
                   {.dtype = one.type, .values = {elements, kThreads, kVectorBytes, kLoads}});
}

// Equal blocks, each with `steps` equal steps.
Plan even_blocks(const Counted& one, std::int64_t count, std::int64_t threads,
                 double warp_instructions, const Waits& waits, double steps = 1) {
  const Work issued = issued_for(one, 1 / (as_double(count) * steps));
  Plan plan = launch_plan(count, {threads, 1, 1}, one.movement.registers);
  const Step step{.issued = issued, .warp_instructions = warp_instructions, .waits = waits};
  set_blocks(plan, {{step, steps}});
  return plan;
}

// A thread sums one column of a segment of rows; columns are padded to whole warps. Dependent
// loads: the number of segments and its segment's end (2); in table_sums also the segment and its
// row of the table (4). Then one per row; in part_sums two, its index first.
Plan by_sums(const Counted& one) {
  constexpr double kDivided = 80;  // instructions: thread number ÷ columns, in 64 bits
  const bool of_table = one.movement.walk == Walk::table_sums;
  const auto sums = static_cast<std::int64_t>(of_table ? std::min(one.rows, one.of) : one.parts());
  const std::int64_t wide = round_up(static_cast<std::int64_t>(one.cols), rows::kWarp);
  const std::int64_t threads = std::min(wide, rows::kMaxThreads);
  const std::int64_t blocks = ceil_div(sums * wide, threads);
  const double each = std::max(1.0, one.elements() / as_double(blocks * threads));
  return even_blocks(one, blocks, threads,
                     warps_of(threads) * (each * instructions(one) + kDivided),
                     {.global = of_table ? 4 + each : 2 + 2 * each, .arithmetic = kDivided / 2});
}

// aten/src/ATen/native/cuda/IndexKernelUtils.cu, vectorized_gather_kernel: blocks of up to 256
// vectors of a row. ScatterGatherKernel.cu, where rows are off 16 B: a thread finds each of its
// elements by divisions. Both load the index first. Warp instructions by hardware counters.
Plan by_table_rows(const Counted& one) {
  constexpr std::int64_t kMostVectors = 256, kThreads = 128, kElements = 8;
  constexpr double kOfVector = 59, kOfElements = 550;
  const std::int64_t vectors = static_cast<std::int64_t>(one.row_bytes()) / rows::kVectorBytes;
  if (as_double(vectors * rows::kVectorBytes) != one.row_bytes()) {
    const auto elements = static_cast<std::int64_t>(one.elements());
    return even_blocks(one, ceil_div(elements, kThreads * kElements), kThreads,
                       warps_of(kThreads) * kOfElements, {.global = as_double(kElements)});
  }
  const std::int64_t threads = std::min(kMostVectors, round_up(vectors, rows::kWarp));
  const auto blocks = static_cast<std::int64_t>(one.rows) * ceil_div(vectors, kMostVectors);
  return even_blocks(one, blocks, threads, warps_of(threads) * kOfVector, {.global = 2});
}

// A block takes rows, or a chunk of the elements. Sweeps that read, a reduction, then a sweep that
// writes. A single sweep contains the reduction.
Plan by_rows(const Counted& one) {
  const Movement& movement = one.movement;
  const bool chunks = movement.walk == Walk::chunks;
  const double cols = chunks ? std::min(kChunk, one.elements()) : one.cols;
  const double units = chunks ? one.elements() / cols : one.rows;
  const auto held = static_cast<std::int64_t>(rows::kVectorBytes / size_bytes(one.type));
  const std::int64_t width = movement.together > 0 ? movement.together : held;
  const std::int64_t vectors =
      movement.rows_of_block * ceil_div(static_cast<std::int64_t>(cols), width);
  const std::int64_t threads =
      movement.threads > 0 ? movement.threads
                           : std::clamp(power_of_two_from(vectors), rows::kWarp, rows::kMaxThreads);
  const std::int64_t accesses = ceil_div(vectors, threads);  // of a thread per sweep
  const std::int64_t count =
      ceil_div(static_cast<std::int64_t>(std::ceil(units)), movement.rows_of_block);
  const double in_block = cols * as_double(movement.rows_of_block);
  const double blocks = chunks ? units : as_double(count);  // the last chunk may be a part
  const double sweep_steps = as_double(ceil_div(accesses, movement.at_once));

  // `sweeps` sweeps of a block in `steps` steps, which move `bytes` in all.
  const auto swept = [&](double sweeps, double steps, const Traffic& bytes) -> Phase {
    const double share = sweeps / (movement.sweeps * steps);
    const double of_thread = one.elements() / blocks / as_double(threads);
    Step step{.issued = issued_for(one, share / blocks),
              .warp_instructions = in_block * sweeps / steps / rows::kWarp * instructions(one),
              .waits = {.global = 1, .arithmetic = share * of_thread * movement.chain}};
    set_traffic(step.issued, 1 / steps * bytes);
    return {step, steps};
  };
  std::vector<Phase> phases;
  const double before = movement.sweeps - 1;
  const Traffic read{before / blocks * one.of_elements().read_bytes, 0};
  Traffic last = 1 / blocks * one.asked();
  last.read_bytes -= read.read_bytes;
  if (before > 0) phases = {swept(before, before * sweep_steps, read), {}};
  // Given `together`, the last sweep stores each access before it reads the next. A row that does
  // not divide into accesses is written element by element.
  const bool divides = chunks || std::fmod(one.cols, as_double(width)) == 0;
  const double last_steps = movement.together == 0 ? sweep_steps
                            : divides              ? as_double(accesses)
                                                   : std::ceil(one.cols / as_double(threads));
  phases.push_back(swept(1, last_steps, last));

  Phase& reducing = phases[before > 0 ? 1 : 0];
  const double times = reducing.repeats;
  Step& step = reducing.step;
  step.warp_instructions += warps_of(threads) * movement.of_thread / times;
  step.wavefronts.shared = movement.exchanged / times;
  step.waits.shared = movement.reduction.shared / times;
  step.waits.arithmetic += movement.reduction.arithmetic / times;
  step.waits.barriers = movement.reduction.barriers / times;
  Plan plan = launch_plan(count, {threads, 1, 1}, movement.registers);
  set_blocks(plan, std::move(phases));
  const double last_chunk = blocks - as_double(count - 1);
  if (last_chunk < 1) {
    plan.blocks.push_back({1, plan.blocks.front().phases});
    --plan.blocks.front().count;
    for (Phase& phase : plan.blocks.back().phases) phase.repeats *= last_chunk;
  }
  return plan;
}

// aten/src/ATen/native/cuda/layer_norm_kernel.cu, GammaBetaBackwardCUDAKernelTemplate.
std::int64_t column_warps(const Counted& one) {
  if (one.movement.threads > 0) return one.movement.threads / rows::kWarp;
  return one.rows >= 256 ? 32 : one.rows >= 128 ? 16 : one.rows >= 64 ? 8 : 1;
}

// A warp loads `tall` rows of its 32 columns, with their moments, before it adds them up.
Plan by_columns(const Counted& one) {
  // Warp instructions as compiled for compute capability 9.0 (CUDA 13.0): address and load per
  // array and row, two shuffles per row, index and moments per step.
  constexpr double kOfArray = 2.75, kShuffles = 2, kOfStep = 34;
  // At the end sums pass through shared memory and a warp reduces one column after the other.
  constexpr double kOfEnd = 60, kOfColumn = 60;
  const Movement& movement = one.movement;
  const bool meets = movement.walk == Walk::table_columns;  // at each step
  const std::int64_t warps = column_warps(one);
  const bool splits = movement.walk == Walk::part_columns;
  const auto groups = static_cast<std::int64_t>(splits ? one.row_splits() : 1);
  const double all = as_double(warps), in_block = one.rows / as_double(groups);
  const double steps = std::ceil(in_block / (all * as_double(movement.tall)));
  const double of_row =
      instructions(one) + kOfArray * (movement.reads.typed + movement.reads.single) + kShuffles;
  Plan plan = even_blocks(one, groups * ceil_div(static_cast<std::int64_t>(one.cols), rows::kWarp),
                          warps * rows::kWarp, in_block / steps * of_row + all * kOfStep,
                          {.global = meets ? 2.0 : 1.0, .barriers = meets ? 2.0 : 0.0}, steps);
  if (!meets && warps > 1) {
    const double columns = as_double(rows::kWarp) / all;  // of a warp
    plan.blocks.front().phases.push_back(
        {{.warp_instructions = all * (kOfEnd + columns * kOfColumn),
          .waits = {.shared = 1 + columns * (1 + std::log2(all)), .barriers = 1}}});
  }
  return plan;
}

Plan blocks_of(const Counted& one) {
  const Walk walk = one.movement.walk;
  if (walk == Walk::elements || walk == Walk::table_zeros) return over_elements(one);
  if (walk == Walk::table_rows) return by_table_rows(one);
  if (walk == Walk::part_sums || walk == Walk::table_sums) return by_sums(one);
  if (walk == Walk::rows || walk == Walk::chunks) return by_rows(one);
  return by_columns(one);
}

}  // namespace

Plan plan_of(const Counted& one) {
  const Movement& movement = one.movement;
  Plan plan = blocks_of(one);
  plan.useful = one.work();
  if (movement.sweeps > 1) {
    const double read = one.cols * movement.reads.bytes_of_element(one.type);
    const double written = one.cols * movement.writes.bytes_of_element(one.type);
    plan.notes.traffic_reasons.push_back(
        {Level::requested,
         std::to_string(static_cast<int>(movement.sweeps)) + " sweeps over a row"});
    // The first sweep waits for DRAM and takes most of a block's time: until the second sweep every
    // other resident block reads a row and writes one. Later sweeps that miss take equal times: a
    // third of the blocks write.
    const double both = read + written;
    plan.reuse.push_back(
        {.bytes = one.rows * read, .distance_bytes = both, .l2_distance_bytes = both});
    plan.reuse.push_back({.bytes = (movement.sweeps - 2) * one.rows * read,
                          .distance_bytes = both,
                          .l2_distance_bytes = read + 1.0 / 3 * written});
  }
  if (movement.parameters > 0) {  // an SM reads and writes a row between two uses
    const double vectors = movement.parameters * one.row_bytes();
    plan.reuse.push_back({.scope = Scope::sm,
                          .bytes = one.rows * vectors,
                          .distinct_bytes = vectors,
                          .distance_bytes = 2 * one.row_bytes() + vectors});
  }
  return plan;
}

}  // namespace roofcast::layer
