#include <algorithm>
#include <cmath>
#include <utility>

#include "model/kernels/common/map.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/common/rows.hpp"
#include "model/libraries/layer.hpp"
#include "model/libraries/rows.hpp"

namespace roofcast::layer {
namespace {

constexpr std::string_view kCaveat =
    "bytes and launches are counted from the framework's source and never held against a "
    "measurement alone; registers are an estimate";

/// A launch on its matrix.
struct Counted {
  const Movement& movement;
  DType type;
  double rows, cols, of;

  /// Of what has no matrix, rows.
  double elements() const {
    if (movement.table == Table::zeroed) return of * cols;
    const double each =
        movement.reads.bytes_of_element(type) + movement.writes.bytes_of_element(type);
    return each > 0 ? rows * cols : rows;
  }
  double row_bytes() const { return cols * size_bytes(type); }
  double flops() const { return movement.flops + movement.flops_of * of; }
  Traffic of_row() const { return movement.row + of * movement.row_of; }
  double drawn_bytes() const { return distinct_rows(of, rows) * row_bytes(); }

  /// What the launch moves, each byte once.
  Traffic bytes() const {
    Traffic sum = rows * of_row();
    sum += elements() *
           Traffic{movement.reads.bytes_of_element(type), movement.writes.bytes_of_element(type)};
    sum.read_bytes += movement.parameters * row_bytes();
    if (movement.table == Table::looked_up) sum.read_bytes += drawn_bytes();
    if (movement.table == Table::zeroed) sum.write_bytes += of * row_bytes();
    if (movement.table == Table::added_to) sum.write_bytes += drawn_bytes();
    return sum;
  }
  /// What its threads ask for: drawn rows, and those of parameters, each time.
  Traffic asked() const {
    Traffic sum = bytes();
    sum.read_bytes += (rows - 1) * movement.parameters * row_bytes() +
                      (movement.sweeps - 1) * elements() * movement.reads.bytes_of_element(type);
    if (movement.table == Table::looked_up) sum.read_bytes += rows * row_bytes() - drawn_bytes();
    return sum;
  }
};

// Of an element of 16 bits: widened where it is read, two narrowed at once.
double instructions(const Counted& one) {
  const Movement& movement = one.movement;
  const double converted =
      size_bytes(one.type) < sizeof(float) ? movement.reads.typed + movement.writes.typed / 2 : 0;
  return 1 + one.flops() + movement.special + converted;
}

Plan over_elements(const Counted& one) {
  const double element = one.elements() * size_bytes(one.type);
  const Traffic asked = one.asked();
  Problem map{.dtype = one.type, .values = {}};
  map[map::kElements] = static_cast<std::int64_t>(one.elements());
  map[map::kThreads] = 256;
  map[map::kVectorBytes] = 16;
  map[map::kLoads] = 1;
  return map::plan({.reads = asked.read_bytes / element,
                    .writes = asked.write_bytes / element,
                    .flops = one.flops(),
                    .special = one.movement.special,
                    .instructions = instructions(one),
                    .body = map::Body::generated},
                   map);
}

constexpr double kThreadInstructions = 60;  // of a thread for its row: index, reduction, ends
constexpr double kRegisters = 32;

Plan over_rows(const Counted& one) {
  const double row_bytes = one.row_bytes();
  const auto vectors = static_cast<std::int64_t>(std::ceil(row_bytes / rows::kVectorBytes));
  const std::int64_t threads =
      std::clamp(power_of_two_from(vectors), rows::kWarp, rows::kMaxThreads);
  Plan plan;
  plan.launch.grid[0] = static_cast<std::int64_t>(one.rows);
  plan.launch.block[0] = threads;
  plan.launch.registers = static_cast<std::int64_t>(kRegisters);
  plan.useful.vector_flops = one.elements() * one.flops();
  plan.useful.special_flops = one.elements() * one.movement.special;
  constexpr std::int64_t kAtOnce = 4;  // loads of a thread
  constexpr double kShuffles = 5;
  const Traffic asked = one.asked();
  Step step;
  step.issued.vector_flops = one.cols * one.flops();
  step.issued.special_flops = one.cols * one.movement.special;
  set_traffic(step.issued, {asked.read_bytes / one.rows, asked.write_bytes / one.rows});
  step.warp_instructions = one.cols / rows::kWarp * one.movement.sweeps * instructions(one) +
                           warps_of(threads) * kThreadInstructions;
  step.waits = {.global = one.movement.sweeps * as_double(ceil_div(vectors, threads * kAtOnce)),
                .shared = 2 * kShuffles,
                .barriers = 2};
  set_blocks(plan, {{step}});
  if (one.movement.sweeps > 1) {
    const double read = one.cols * one.movement.reads.bytes_of_element(one.type);
    plan.reuse.push_back({.bytes = (one.movement.sweeps - 1) * one.rows * read,
                          .distance_bytes = library::kFirstReread * read,
                          .l2_distance_bytes = library::kFirstReread * read});
  }
  if (one.movement.parameters > 0) {
    const double parameters = one.movement.parameters * row_bytes;
    plan.reuse.push_back({.scope = Scope::sm,
                          .bytes = one.rows * parameters,
                          .distinct_bytes = parameters,
                          .distance_bytes = 2 * row_bytes + parameters});
  }
  return plan;
}

// aten/src/ATen/native/cuda/MultiTensorApply.cuh.
constexpr std::int64_t kChunk = 65536, kChunksOfLaunch = 320, kChunkThreads = 512;
constexpr double kElementsOfThread = 4;

/// Chunks of one launch, the last of which may be short.
struct Chunks {
  std::int64_t whole = 0;
  double rest = 0;  ///< elements
  double elements() const { return as_double(whole * kChunk) + rest; }
};

Plan over_chunks(const Counted& one, const Chunks& chunks) {
  const double in_step = as_double(kChunkThreads) * kElementsOfThread;
  Plan plan;
  plan.launch.grid[0] = chunks.whole + (chunks.rest > 0 ? 1 : 0);
  plan.launch.block[0] = kChunkThreads;
  plan.launch.registers = static_cast<std::int64_t>(kRegisters);
  plan.useful.vector_flops = chunks.elements() * one.flops();
  plan.useful.special_flops = chunks.elements() * one.movement.special;
  const auto add_blocks = [&](std::int64_t count, double elements) {
    if (elements <= 0 || count == 0) return;
    const double taken = std::min(elements, in_step);
    Step step;
    step.issued.vector_flops = taken * one.flops();
    step.issued.special_flops = taken * one.movement.special;
    set_traffic(step.issued, taken / one.elements() * one.bytes());
    step.warp_instructions = taken / rows::kWarp * (instructions(one) + 4) +
                             warps_of(kChunkThreads) * kThreadInstructions / 4;
    step.waits.global = 1;
    plan.blocks.push_back({count, {{step, elements / taken}}});
  };
  add_blocks(chunks.whole, as_double(kChunk));
  add_blocks(1, chunks.rest);
  return plan;
}

/// A launch, so often, with its share of what all of them move.
struct Part {
  Plan plan;
  double repeats, share;
};

std::vector<Part> parts_of(const Counted& one) {
  std::vector<Part> parts;
  if (one.movement.walk != Walk::chunks) {
    parts.push_back({one.movement.walk == Walk::rows ? over_rows(one) : over_elements(one),
                     one.movement.launches, 1});
    return parts;
  }
  const auto elements = static_cast<std::int64_t>(one.elements());
  const std::int64_t launches = elements / (kChunk * kChunksOfLaunch);
  const std::int64_t left = elements - launches * kChunk * kChunksOfLaunch;
  const Chunks full{kChunksOfLaunch, 0}, rest{left / kChunk, as_double(left % kChunk)};
  for (const auto& [chunks, times] : {std::pair{full, launches}, {rest, std::int64_t{1}}}) {
    if (times == 0 || chunks.elements() <= 0) continue;
    parts.push_back({over_chunks(one, chunks), as_double(times) * one.movement.launches,
                     chunks.elements() / one.elements()});
  }
  return parts;
}

Counted counted(const Movement& movement, const Problem& p) {
  return {movement, p.dtype, as_double(p[kRows]), as_double(p[kCols]), as_double(p[kOf])};
}

}  // namespace

double distinct_rows(double table_rows, double draws) {
  if (table_rows <= 1) return table_rows;
  return -table_rows * std::expm1(draws * std::log1p(-1 / table_rows));
}

LaunchSequence plan_of(const Operation& operation, const Problem& p) {
  const auto movements = operation.launches(p[kPass], p[kForm]);
  LaunchSequence program;
  ArrayId next = 0, last = 0;
  double handed = 0;
  for (std::size_t i = 0; i < movements.size(); ++i) {
    const Movement& movement = movements[i];
    const Counted one = counted(movement, p);
    const Traffic all = one.bytes();
    if (!movement.follows) handed = 0;
    const double taken = std::min(handed, all.read_bytes), given = all.read_bytes - taken;
    const ArrayId input = next++, output = next++;
    for (Part& part : parts_of(one)) {
      auto& arrays = part.plan.arrays;
      arrays.clear();
      if (taken > 0) arrays.push_back(scratch(last, {part.share * taken, 0}));
      if (given > 0) {
        arrays.push_back(i == 0 ? reads_activation(input, part.share * given)
                                : reads(input, part.share * given));
      }
      const double written = part.share * all.write_bytes;
      if (written > 0) {
        arrays.push_back(i + 1 == movements.size() ? writes(output, written)
                                                   : scratch(output, {0, written}));
      }
      part.plan.notes.estimated_traffic = true;
      part.plan.notes.caveat = kCaveat;
      program.push_back({std::move(part.plan), part.repeats});
    }
    last = output;
    handed = all.write_bytes;
  }
  return program;
}

Work work_of(const Operation& operation, const Problem& p) {
  Work work;
  for (const Movement& movement : operation.launches(p[kPass], kFused)) {
    const Counted one = counted(movement, p);
    work.vector_flops += one.elements() * one.flops();
    work.special_flops += one.elements() * movement.special;
    work.compulsory += movement.launches * one.bytes();
  }
  return work;
}

}  // namespace roofcast::layer
