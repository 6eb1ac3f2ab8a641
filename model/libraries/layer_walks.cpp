#include "model/libraries/layer_walks.hpp"

#include <algorithm>
#include <cmath>

#include "model/kernels/common/map.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/rows.hpp"

namespace roofcast::layer {
namespace {

constexpr double kThreadInstructions = 60;  // of a thread for its row: index, reduction, ends
constexpr double kShuffles = 5;

// Of an element of 16 bits: widened where it is read, two narrowed at once.
double instructions(const Counted& one) {
  const Movement& movement = one.movement;
  const double converted =
      size_bytes(one.type) < sizeof(float) ? movement.reads.typed + movement.writes.typed / 2 : 0;
  const double beside = movement.walk == Walk::lone ? 0 : movement.instructions;
  return 1 + one.flops() + movement.special + converted + beside + movement.doubles +
         movement.widened;
}

// Of what has no matrix, as many elements as the bytes of its rows.
Plan over_elements(const Counted& one) {
  const Traffic asked = one.asked(), matrix = one.of_elements();
  const double most = std::max(asked.read_bytes, asked.write_bytes);
  const bool rows_alone =
      matrix.read_bytes + matrix.write_bytes <= 0 && one.movement.table == Table::none && most > 0;
  const double element = rows_alone ? most : one.elements() * size_bytes(one.type);
  Problem map{.dtype = one.type, .values = {}};
  map[map::kElements] =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(element / size_bytes(one.type)));
  map[map::kThreads] = 256;
  map[map::kVectorBytes] = 16;
  map[map::kLoads] = 1;
  return map::plan({.reads = asked.read_bytes / element,
                    .writes = asked.write_bytes / element,
                    .flops = one.flops(),
                    .special = one.movement.special,
                    .instructions = instructions(one)},
                   map);
}

// What is issued for so many elements.
Work work_of_elements(const Counted& one, double elements) {
  Work work;
  work.vector_flops = elements * one.flops();
  work.special_flops = elements * one.movement.special;
  return work;
}

// With what takes the vector pipe longer.
Work issued_for(const Counted& one, double elements) {
  constexpr double kFlopsOfOperation = 2;
  Work work = work_of_elements(one, elements);
  work.vector_flops += elements * kFlopsOfOperation * one.movement.doubles * one.doubles.operation;
  work.conversions = elements * one.movement.widened * one.doubles.conversion;
  return work;
}

Plan launched(const Counted& one, std::int64_t blocks, std::int64_t threads) {
  Plan plan;
  plan.launch.grid[0] = blocks;
  plan.launch.block[0] = threads;
  plan.launch.registers = one.movement.registers;
  plan.useful = work_of_elements(one, one.elements());
  return plan;
}

// What is issued and asked for, dealt out to so many blocks.
Step share_of_each(const Counted& one, std::int64_t blocks) {
  Step step;
  step.issued = issued_for(one, one.elements() / as_double(blocks));
  set_traffic(step.issued, 1 / as_double(blocks) * one.asked());
  return step;
}

// A thread for each element of a sum, as wide as a row made a whole number of warps.
Plan over_lone(const Counted& one) {
  const Movement& movement = one.movement;
  const std::int64_t wide =
      ceil_div(static_cast<std::int64_t>(one.cols), rows::kWarp) * rows::kWarp;
  const std::int64_t threads = std::min(wide, rows::kMaxThreads);
  const std::int64_t blocks = ceil_div(static_cast<std::int64_t>(one.most_sums()) * wide, threads);
  Plan plan = launched(one, blocks, threads);
  Step step = share_of_each(one, blocks);
  const double each = one.elements() / (as_double(blocks) * as_double(threads));
  step.warp_instructions =
      warps_of(threads) * (std::max(1.0, each) * instructions(one) + movement.instructions);
  step.waits = {.global = movement.chain + movement.looped * std::max(1.0, each),
                .arithmetic = movement.instructions / 2};
  set_blocks(plan, {{step}});
  return plan;
}

// index_elementwise_kernel: 128 threads; an element's load waits for the store of the one before.
Plan over_indexed(const Counted& one) {
  constexpr std::int64_t kThreads = 128, kEach = 4;
  const std::int64_t blocks = ceil_div(static_cast<std::int64_t>(one.elements()), kThreads * kEach);
  Plan plan = launched(one, blocks, kThreads);
  Step step = share_of_each(one, blocks);
  step.warp_instructions = warps_of(kThreads) * as_double(kEach) * instructions(one);
  step.waits = {.global = as_double(kEach), .arithmetic = as_double(kEach) * instructions(one) / 2};
  set_blocks(plan, {{step}});
  return plan;
}

// agent_radix_sort_onesweep.cuh: 384 threads with 12 pairs each, which find their places bit by bit
// among their warp's, then among those of blocks before; keys, these blocks' counts, and places are
// waited for.
Plan over_sorted(const Counted& one) {
  constexpr std::int64_t kThreads = 384, kPairs = 12;
  constexpr double kBits = 8, kOfBit = 3, kTrips = 4;
  const std::int64_t blocks = ceil_div(static_cast<std::int64_t>(one.rows), kThreads * kPairs);
  Plan plan = launched(one, blocks, kThreads);
  Step step;
  set_traffic(step.issued, 1 / as_double(blocks) * one.bytes());
  const double chain = as_double(kPairs) * kBits * kOfBit;
  step.warp_instructions = warps_of(kThreads) * (chain + kThreadInstructions);
  step.waits = {.global = kTrips,
                .shared = 2 * as_double(kPairs) + kShuffles,
                .arithmetic = chain,
                .barriers = 6};
  set_blocks(plan, {{step}});
  return plan;
}

// Waits for loads. Vectors of 16 B: four are loaded before one is used. Where a thread takes fewer
// elements at once, its last sweep stores what it has read before it reads on.
double round_trips(const Counted& one, std::int64_t accesses) {
  constexpr std::int64_t kAtOnce = 4;
  const double sweep = as_double(ceil_div(accesses, kAtOnce));
  if (one.movement.together == 0) return one.movement.sweeps * sweep;
  return (one.movement.sweeps - 1) * sweep + as_double(accesses);
}

Plan over_rows(const Counted& one) {
  const Movement& movement = one.movement;
  const auto cols = static_cast<std::int64_t>(one.cols);
  const auto width = movement.together > 0
                         ? movement.together
                         : static_cast<std::int64_t>(rows::kVectorBytes / size_bytes(one.type));
  const std::int64_t vectors = ceil_div(cols, width);
  const std::int64_t threads =
      movement.threads > 0 ? movement.threads
                           : std::clamp(power_of_two_from(vectors), rows::kWarp, rows::kMaxThreads);
  // A round reads its elements in L1, counts them by ballots, clears, adds up and reads shared
  // memory: three barriers.
  constexpr double kOfRound = 90, kTripsOfRound = 4, kBarriersOfRound = 3;
  const double rounds =
      movement.rounds + movement.rounds_of_doubling * std::log2(std::max(2.0, one.cols));
  const std::int64_t blocks = ceil_div(static_cast<std::int64_t>(one.rows), movement.rows_of_block);
  const double each = one.rows / as_double(blocks);
  Plan plan = launched(one, blocks, threads);
  Step step = share_of_each(one, blocks);
  step.warp_instructions = each * one.cols / rows::kWarp * movement.sweeps * instructions(one) +
                           warps_of(threads) * (kThreadInstructions + rounds * kOfRound);
  step.waits = {.global = round_trips(one, ceil_div(vectors, threads)),
                .shared = 2 * kShuffles + rounds * kTripsOfRound,
                .arithmetic = rounds * kOfRound / 2,
                .barriers = 2 + rounds * kBarriersOfRound};
  set_blocks(plan, {{step}});
  if (movement.sweeps > 1) {
    const double read = one.cols * movement.reads.bytes_of_element(one.type);
    plan.reuse.push_back(library::reread((movement.sweeps - 1) * one.rows * read, read));
  }
  if (movement.parameters > 0) {
    plan.reuse.push_back(
        library::parameter_reuse(one.rows, movement.parameters * one.row_bytes(), one.row_bytes()));
  }
  return plan;
}

// Warps of a block of GammaBetaBackwardCUDAKernelTemplate, each 32 columns wide, by rows
// (aten/src/ATen/native/cuda/layer_norm_kernel.cu); all that a block may have where they meet.
std::int64_t warps_of_columns(const Counted& one) {
  constexpr std::int64_t kMost = 32;
  if (one.movement.tall == 1) return kMost;
  return one.rows < 64 ? 1 : one.rows < 128 ? 8 : one.rows < 256 ? 16 : kMost;
}

Plan over_columns(const Counted& one) {
  const Movement& movement = one.movement;
  const std::int64_t warps = warps_of_columns(one);
  const std::int64_t blocks = ceil_div(static_cast<std::int64_t>(one.cols), rows::kWarp);
  Plan plan = launched(one, blocks, warps * rows::kWarp);
  const double step_rows = std::min(one.rows, as_double(warps * movement.tall));
  const double steps = one.rows / step_rows;
  Step step;
  step.issued = issued_for(one, one.elements() / as_double(blocks) / steps);
  set_traffic(step.issued, 1 / (as_double(blocks) * steps) * one.asked());
  // Of each array an address and a load; of a row its moments come by shuffles.
  const double accesses = 2 * (movement.reads.typed + movement.reads.single);
  step.warp_instructions = step_rows * (instructions(one) + accesses + 2 + movement.instructions);
  step.waits = {.global = movement.chain,
                .arithmetic = as_double(movement.tall) * one.flops() / 2,
                .barriers = movement.tall == 1 ? 2.0 : 0.0};
  Step end;
  end.warp_instructions = as_double(warps) * kThreadInstructions;
  end.waits = {.shared = 2 * kShuffles, .barriers = 1};
  set_blocks(plan, {{step, steps}, {end}});
  return plan;
}

}  // namespace

double Counted::most_parts() const {
  return std::min(rows, of) + (movement.parts_of > 0 ? std::floor(rows / movement.parts_of) : 0);
}

double Counted::most_sums() const {
  return movement.adds_parts ? std::min(rows, of) : most_parts();
}

double Counted::elements() const {
  if (movement.table == Table::zeroed) return of * cols;
  if (movement.adds_parts) return std::min(rows, most_parts()) * cols;
  const double each =
      movement.reads.bytes_of_element(type) + movement.writes.bytes_of_element(type);
  return each > 0 ? rows * cols : rows;
}

Traffic Counted::of_elements() const {
  const double written = movement.parts_of > 0 ? std::min(rows, most_parts()) * cols : elements();
  return {elements() * movement.reads.bytes_of_element(type),
          written * movement.writes.bytes_of_element(type)};
}

Traffic Counted::bytes() const {
  Traffic sum = rows * of_row();
  sum += of_elements();
  sum.read_bytes += movement.parameters * row_bytes();
  const Table table = movement.table;
  if (table == Table::looked_up || table == Table::added_to) sum.read_bytes += drawn_bytes();
  if (table == Table::written || table == Table::added_to) sum.write_bytes += drawn_bytes();
  if (table == Table::zeroed) sum.write_bytes += of * row_bytes();
  return sum;
}

Traffic Counted::asked() const {
  Traffic sum = bytes();
  sum.read_bytes += (rows - 1) * movement.parameters * row_bytes() +
                    (movement.sweeps - 1) * of_elements().read_bytes;
  if (movement.table == Table::looked_up) sum.read_bytes += rows * row_bytes() - drawn_bytes();
  return sum;
}

Plan plan_of(const Counted& one) {
  switch (one.movement.walk) {
    case Walk::lone:
      return over_lone(one);
    case Walk::rows:
      return over_rows(one);
    case Walk::columns:
      return over_columns(one);
    case Walk::indexed:
      return over_indexed(one);
    case Walk::sorted:
      return over_sorted(one);
    default:
      return over_elements(one);
  }
}

Plan over_chunks(const Counted& one, const Chunks& chunks) {
  constexpr std::int64_t kThreads = 512;
  constexpr double kElementsOfThread = 4;
  constexpr double kInStep = static_cast<double>(kThreads) * kElementsOfThread;
  Plan plan = launched(one, chunks.whole + (chunks.rest > 0 ? 1 : 0), kThreads);
  plan.useful = work_of_elements(one, chunks.elements());
  const auto add_blocks = [&](std::int64_t count, double elements) {
    if (elements <= 0 || count == 0) return;
    const double taken = std::min(elements, kInStep);
    Step step;
    step.issued = issued_for(one, taken);
    set_traffic(step.issued, taken / one.elements() * one.bytes());
    step.warp_instructions = taken / rows::kWarp * (instructions(one) + 4) +
                             warps_of(kThreads) * kThreadInstructions / kElementsOfThread;
    step.waits.global = 1;
    plan.blocks.push_back({count, {{step, elements / taken}}});
  };
  add_blocks(chunks.whole, as_double(kChunk));
  add_blocks(1, chunks.rest);
  return plan;
}

}  // namespace roofcast::layer
