#include "model/libraries/gemm_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm {
namespace {

// Threads, registers and shared memory that leave room for as many blocks as the catalogue says:
// the library's own numbers are not known.
std::int64_t threads_of(const LibraryProduct& c) {
  if (c.tile.threads > 0) return c.tile.threads;
  constexpr std::array<std::int64_t, 4> kThreads = {384, 256, 128, 128};
  return kThreads[static_cast<std::size_t>(c.tile.blocks_per_sm - 1)];
}

std::int64_t stages_of(const LibraryProduct& c, const Gpu& gpu) {
  if (c.tile.stages > 0) return c.tile.stages;
  if (!gpu.occupancy) return 0;
  const OccupancyRules& rules = *gpu.occupancy;
  const std::int64_t room = std::min(
      rules.shared_bytes_per_sm / c.tile.blocks_per_sm - rules.shared_reserved_bytes_per_block,
      rules.shared_bytes_per_block);
  return room / stage_bytes(c.tile);
}

double ahead_of(const LibraryProduct& c, const Gpu& gpu) {
  return std::max(0.0, as_double(stages_of(c, gpu) - 1));
}

// Warpgroups that multiply a tile, beside one that copies; none for mma.sync and the SIMT pipes.
double groups_of(const LibraryProduct& c) {
  if (c.tile.ping_pong) return 1;
  constexpr std::int64_t kWarpgroup = 128;
  return c.takes_wide ? std::max(1.0, as_double(threads_of(c) / kWarpgroup - 1)) : 0;
}

TileScheduler scheduler_of(const LibraryProduct& c) {
  if (c.tile.ping_pong) return TileScheduler::ping_pong;
  return c.takes_wide ? TileScheduler::persistent : TileScheduler::hardware;
}

// A product is issued before the one before it has ended.
constexpr double kWideChains = 2;

void set_launch(Plan& plan, const LibraryProduct& c, const Gpu& gpu) {
  plan.launch.grid[0] = c.blocks();
  plan.launch.block[0] = threads_of(c);
  if (!gpu.occupancy) return;
  plan.launch.registers = gpu.occupancy->registers_for(c.tile.blocks_per_sm, threads_of(c));
  plan.launch.shared_bytes = stages_of(c, gpu) * stage_bytes(c.tile);
}

// What the SMs receive of the operands: every tile column A and every tile row B, as far as they
// exist; of pairs each block half of what both need.
ReceivedBytes received_of(const LibraryProduct& c) {
  const double shared = c.tile.paired ? 0.5 : 1;
  const double of_a = c.along_m() ? 1 : shared, of_b = c.along_m() ? shared : 1;
  const double line = c.batch * c.k * c.element;
  return {line * of_a * as_double(c.columns()) * c.m * c.sectors_a,
          line * of_b * as_double(c.rows()) * c.n * c.sectors_b};
}

double received_bytes(const LibraryProduct& c) {
  const ReceivedBytes both = received_of(c);
  return both.a + both.b;
}

double step_flops(const LibraryProduct& c) {
  return 2 * c.area() * c.depth() / c.tile.rate;
}

// Of the warps of a block on the SIMT pipes, in a step: multiply-adds; loads of their operands, a
// row and a column of the elements of C that a thread sums, four at once; and copies of 32 elements
// with their addresses and predicates.
double simt_instructions(const LibraryProduct& c) {
  constexpr double kOfCopy = 12, kElementsOfLoad = 4;
  const double threads = as_double(threads_of(c)), lanes = as_double(kWarpLanes);
  const double side = std::sqrt(c.area() / threads);
  const double of_k =
      (c.area() + 2 * side / kElementsOfLoad * threads + c.copied_lines() * kOfCopy) / lanes;
  return of_k * c.depth();
}

// On the SIMT pipes each thread waits for its own copies, and nobody hands a tile over.
Waits waits_of(const LibraryProduct& c) {
  if (!c.tensor) return {.global = 1, .shared = 1, .barriers = 1};
  if (!c.takes_wide) {
    Waits waits = tensor::mma_waits(as_double(threads_of(c) / kWarpLanes));
    if (c.through_registers()) std::swap(waits.tile_loads, waits.global);
    return waits;
  }
  return {.tile_loads = 1, .barriers = 1};
}

void set_phases(Plan& plan, const LibraryProduct& c, DType type, const Gpu& gpu) {
  const double blocks = as_double(c.blocks()), steps = blocks * c.steps();
  Step step;
  const double flops = step_flops(c);
  if (c.tensor) {
    step.issued.tensor_flops[type] = flops;
  } else {
    step.issued.vector_flops = flops;
    step.warp_instructions = simt_instructions(c);
  }
  const double received = received_bytes(c);
  set_traffic(step.issued, {received / steps, 0});
  plan.joined.bytes = received - c.step_lookup_bytes(gpu) * steps;
  step.issued.shared_bytes = c.stage_bytes();
  step.wavefronts.shared = c.turned_wavefronts();
  step.wavefronts.operands = c.operand_wavefronts();
  step.waits = waits_of(c);
  const double chains = c.takes_wide ? kWideChains : c.tensor ? tensor::kUnrolledProducts : 1;
  Step epilogue;
  set_traffic(epilogue.issued, {0, c.stored_bytes() / blocks});
  if (c.splits == 1) epilogue.issued.requested.write_bytes /= c.sectors_c;
  if (c.tensor) epilogue.warp_instructions = tensor::end_instructions(c.area());
  // Of threads that copy for themselves: parameters, and what lies where; then they have nothing to
  // multiply yet.
  Step first;
  first.waits = {.global = 2, .tile_loads = 1};
  const bool begins_empty = step.waits.tile_loads == 0;
  const double ahead = ahead_of(c, gpu);
  // Threads copy what exists: tiles that C's edges cut take less.
  const LibraryProduct::CopiedLines lines = c.lines();
  const auto add = [&](std::int64_t count, double copied) {
    if (count == 0) return;
    step.wavefronts.copies = c.copy_requests(copied);
    std::vector<Phase> phases;
    if (begins_empty) phases.push_back({first});
    phases.push_back({step, c.steps(), ahead, groups_of(c), chains});
    phases.push_back({epilogue});
    plan.blocks.push_back({count, std::move(phases)});
  };
  if (c.copy_requests(lines.of_inside) == 0) return add(c.blocks(), 0);
  add(lines.inside, lines.of_inside);
  add(c.blocks() - lines.inside, lines.of_cut);
}

}  // namespace

void set_library_blocks(Plan& plan, const LibraryProduct& c, DType type, const Gpu& gpu) {
  plan.scheduler = scheduler_of(c);
  set_launch(plan, c, gpu);
  set_phases(plan, c, type, gpu);
}

ReceivedBytes library_received(const Problem& p, const Gpu& gpu) {
  return received_of(library_product(p, gpu));
}

Outline library_outline(const Problem& p, const Gpu& gpu) {
  const LibraryProduct c = library_product(p, gpu);
  return {.blocks = c.blocks(),
          .blocks_per_sm = c.tile.blocks_per_sm,
          .scheduler = scheduler_of(c),
          .type = p.dtype,
          .on_tensor_cores = c.tensor,
          .of_tcgen05 = c.takes_wide && gpu.features.has(Instruction::tcgen05),
          .warps = as_double(threads_of(c) / kWarpLanes),
          .steps = c.steps(),
          .ahead = ahead_of(c, gpu),
          .parts = std::max(1.0, groups_of(c)) * (c.takes_wide ? kWideChains : 1),
          .chains = c.takes_wide ? kWideChains : 1,
          .step_waits = waits_of(c),
          .step_flops = step_flops(c),
          .step_instructions = c.tensor ? 0 : simt_instructions(c),
          .step_operands = c.operand_wavefronts(),
          .step_bytes = received_bytes(c) / (as_double(c.blocks()) * c.steps()),
          .step_copies = c.copy_requests(c.lines().of_cut),
          .stored_bytes = c.stored_bytes() / as_double(c.blocks()),
          .looked_up_bytes = c.step_lookup_bytes(gpu) * as_double(c.blocks()) * c.steps(),
          .launches = c.splits > 1 ? 2.0 : 1.0,
          .useful_flops = c.tensor ? 2 * c.batch * c.m * c.n * c.k : 0};
}

}  // namespace roofcast::gemm
