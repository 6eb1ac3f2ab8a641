// The matrix product on the SIMT pipes in fp32, from naive to vectorized.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm {
namespace {

using tensor::TiledProduct;

constexpr std::int64_t kElementBytes = 4;  // fp32

// The problem in the form of the tensor-core variants. Tile extents that a variant lacks are 1.
Problem tiled(const Problem& problem) {
  Problem p{.dtype = problem.dtype, .values = {problem[kM], problem[kN], problem[kK]}};
  for (std::size_t i = kTileM; i <= kTileK; ++i) p[i] = std::max<std::int64_t>(1, problem[i]);
  p[tensor::kBatch] = 1;
  return p;
}

// 1 where the variant lacks this extent.
std::int64_t thread_tile(const Problem& problem, std::size_t thread, std::size_t tile,
                         std::string_view names) {
  if (problem[thread] == 0) return 1;
  require(problem[tile] % problem[thread] == 0, names, ": ", problem[thread], " does not divide ",
          problem[tile], "; choose one that does");
  return problem[thread];
}

// Bytes in whole sectors that all blocks move, where a block reads `depth` columns of A at a time.
Traffic in_sectors(const TiledProduct& c, std::int64_t depth) {
  const auto share = [](std::int64_t run, std::int64_t row) {
    return tensor::sectors_share(std::min(run, row) * kElementBytes, row * kElementBytes);
  };
  const double a = share(depth, c.p[kK]), b = share(c.tile.n, c.p[kN]);
  return {as_double(c.across) * c.s.a() * a + as_double(c.down()) * c.s.b() * b, c.s.c() * b};
}

Plan product_plan(const TiledProduct& c, Launch launch) {
  launch.grid = {c.across, c.down(), 1};
  Plan plan = c.plan({}, launch);
  plan.arrays = {reads_activation(kA, c.s.a()), reads(kB, c.s.b()), writes(kC, c.s.c())};
  plan.raster = c.raster();
  return plan;
}

// Adds the main loop, completed by its repeats and traffic, and the stores of C, with the `outside`
// warp instructions of a block outside the loop. Edge tiles store their mean share.
void set_loop(Plan& plan, const TiledProduct& c, Phase loop, const Work& traffic, double outside) {
  constexpr std::array kLevels = {&Work::requested, &Work::l1, &Work::l2};
  loop.repeats = as_double(c.steps);
  const double loads = as_double(c.blocks()) * loop.repeats;
  Step& step = loop.step;
  for (const auto level : kLevels) {
    step.issued.*level = {(traffic.*level).read_bytes / loads, 0};
  }
  step.issued.shared_bytes = step.wavefronts.shared * kLineBytes;
  const auto add = [&](std::int64_t blocks, double share_of_block) {
    if (blocks == 0) return;
    Step store;
    for (const auto level : kLevels) {
      store.issued.*level = {0, share_of_block * (traffic.*level).write_bytes};
    }
    store.warp_instructions = outside;
    store.waits.global = 1;
    plan.blocks.push_back({blocks, {loop, {store}}});
  };
  const std::int64_t whole = (c.p[kM] / c.tile.m) * (c.p[kN] / c.tile.n);
  const std::int64_t cut = c.blocks() - whole;
  const double of_whole = c.area() / c.s.outputs();
  add(whole, of_whole);
  add(cut, (1 - as_double(whole) * of_whole) / as_double(cut));
}

// L1 lookups, weighted by the time of its four tag banks. Consecutive lines fall evenly into the
// banks; of n scattered lines the fullest bank holds about n/4 + 0.53·√n: exact for 32, within 2%
// from 8 (gemm.naive of k = 867 and 1027).
double lookups(const WarpAccess& access) {
  constexpr double kCrowding = 4 * 0.53;
  const double lines = as_double(distinct_units(access, kLineBytes));
  return access.stride_bytes <= kLineBytes ? lines : lines + kCrowding * std::sqrt(lines);
}

}  // namespace

LaunchSequence plan_direct(const Problem& problem, bool rows_first) {
  constexpr double kInstructionsPerStep = 5.5;  // a warp, by the counters
  constexpr double kWordsPerSector = 8;
  const Problem p = tiled(problem);
  const TiledProduct c(p);
  // All compiled tiles take the same number of registers; it is assumed for other tiles too.
  const compiled::Kernel kernel =
      compiled::find(rows_first ? "gemm::naive_kernel" : "gemm::coalesced_kernel", {32, 32, 1024});
  Plan plan = product_plan(c, {.block = {c.tile.n, c.tile.m, 1}, .registers = kernel.registers});
  if (rows_first) {  // blocks too walk down the rows first
    std::swap(plan.launch.block[0], plan.launch.block[1]);
    std::swap(plan.launch.grid[0], plan.launch.grid[1]);
    std::swap(plan.raster->tile_rows, plan.raster->tile_columns);
    std::swap(plan.raster->row_panel_bytes, plan.raster->column_panel_bytes);
  }
  Work traffic;
  traffic.requested = {plan.useful.vector_flops * kElementBytes, c.s.c()};  // two operands a step
  traffic.l1 = in_sectors(c, 1);
  // L1 keeps a sector of A until the block has used all of it: a row of A counts as one run of k.
  traffic.l2 = in_sectors(c, p[kK]);
  // A warp that walks down rows stores each word of C to a sector of its own.
  if (rows_first) traffic.l2.write_bytes = c.s.c() * kWordsPerSector;

  const double warps = plan.launch.warps();
  Step step = c.step(0);
  step.warp_instructions = warps * kInstructionsPerStep;
  // Lanes of a warp lie along threadIdx.x: down rows of A (rows_first), or along columns of B.
  // Lanes that share a column or row read the same word of the other operand.
  const std::int64_t lanes = std::min(kWarpLanes, plan.launch.block[0]);
  const WarpAccess along{.stride_bytes = rows_first ? p[kK] * kElementBytes : kElementBytes,
                         .lanes = lanes};
  // The other operand: a word of each row of A, or one word of B, the same for all lanes.
  const WarpAccess other{.stride_bytes = p[kK] * kElementBytes,
                         .lanes = rows_first ? 1 : kWarpLanes / lanes};
  step.wavefronts.l1 = warps * as_double(bank_wavefronts(along) + bank_wavefronts(other));
  step.wavefronts.l1_lookups = warps * (lookups(along) + as_double(other.lanes));
  // Eight steps, unrolled by four, have two batches of loads: one of rows of B and the next sectors
  // of A, one of rows of B alone. A line that another warp has requested costs half a trip. With
  // rows_first no two warps share lines of A.
  constexpr double kOnItsWay = 0.5;
  const double wait_for_a = rows_first || c.tile.n <= kWarpLanes ? 1 : kOnItsWay;
  step.waits.global = 0.125 * wait_for_a + 0.125 * (rows_first ? 1 : kOnItsWay);
  set_loop(plan, c, {step}, traffic, warps * kernel.straight);
  return launch_of(std::move(plan));
}

LaunchSequence plan_staged(const Problem& problem, std::string_view name, bool vectorized) {
  // Words of A's tile per load of a thread: steps of a row or, if transposed, rows of a step.
  constexpr double kWordsPerAccessOfA = 4;
  const std::int64_t stages = vectorized ? 3 : 1;
  const std::int64_t pad_a = vectorized ? 4 : 0;  // after each column of A's transposed tile
  const double width = vectorized ? 4 : 1;        // elements of one access
  const Problem p = tiled(problem);
  const TiledProduct c(p);
  const auto& [tile_m, tile_n, tile_k, cluster] = c.tile;
  const std::int64_t thread_m = thread_tile(problem, kThreadM, kTileM, "thread_m of tile_m");
  const std::int64_t thread_n = thread_tile(problem, kThreadN, kTileN, "thread_n of tile_n");
  const std::int64_t threads = tile_m / thread_m * (tile_n / thread_n);

  compiled::Arguments arguments = {tile_m, tile_n, tile_k};
  std::size_t next = 3;
  if (problem[kThreadM] != 0) arguments[next++] = thread_m;
  if (problem[kThreadN] != 0) arguments[next++] = thread_n;
  // With several stages, rows that are no multiples of 16 bytes have a kernel of their own.
  const bool aligned = p[kN] % 4 == 0 && p[kK] % 4 == 0;
  arguments[next] = vectorized ? std::int64_t{aligned} : threads;
  const compiled::Kernel kernel = compiled::find(name, arguments);
  Launch launch{.block = {threads, 1, 1},
                .registers = kernel.registers,
                .shared_bytes = stages * kElementBytes * tile_k * (tile_m + pad_a + tile_n)};
  const bool is_compiled = launch.registers > 0;
  if (!is_compiled) {  // accumulators, two steps of operands, and addresses
    constexpr std::int64_t kMost = 255;
    launch.registers = std::min(kMost, thread_m * thread_n + 2 * (thread_m + thread_n) + 32);
  }
  Plan plan = product_plan(c, launch);
  if (!is_compiled) {
    plan.notes.caveat =
        "registers and instructions are estimated: no kernel is compiled for this tile";
  }
  if (vectorized) {  // a 1-D grid: each block computes the place of its tile
    plan.launch.grid = {plan.launch.blocks(), 1, 1};
    plan.raster->group_rows = 8;
  }

  const double warps = warps_of(threads), warp_steps = warps * as_double(tile_k);
  const double shared_loads =
      warp_steps * (as_double(thread_m) / kWordsPerAccessOfA + as_double(thread_n) / width);
  const double copies = as_double((tile_m + tile_n) * tile_k) / width / 32;
  Step step = c.step(0);
  // With one stage, instructions and wavefronts of the loop are estimates, 15 to 40% below the
  // counters. The counted ones would forecast blocks that share an SM up to 18% too slow.
  if (is_compiled && vectorized) {
    step.warp_instructions = warps * kernel.loops[0];
  } else {
    // Per copied access, and per step for counters, branch and addresses.
    constexpr double kInstructionsPerCopy = 3, kInstructionsPerStep = 8;
    step.warp_instructions = warp_steps * as_double(thread_m * thread_n) + shared_loads +
                             copies * kInstructionsPerCopy + warps * kInstructionsPerStep;
  }
  // A load of 16 bytes that lanes share takes two wavefronts.
  step.wavefronts.shared = (vectorized ? 2 : 1) * shared_loads + copies * width;
  step.waits = {.tile_loads = 1, .shared = 1, .barriers = vectorized ? 1.0 : 2.0};
  // Where rows of C begin off 16 bytes, four elements are stored one by one. L1 merges hardly any.
  if (vectorized && p[kN] % 4 != 0) {
    constexpr double kNeverMerged = std::numeric_limits<double>::infinity();
    plan.arrays.back().split = {c.s.c() / kSectorBytes, 4, kNeverMerged};
  }
  Work traffic;
  traffic.requested = {as_double(c.across) * c.s.a() + as_double(c.down()) * c.s.b(), c.s.c()};
  traffic.l1 = traffic.l2 = in_sectors(c, tile_k);
  // Copied ahead, a warp holds the operands of two steps in registers.
  set_loop(plan, c,
           {.step = step, .ahead = as_double(stages - 1), .chains = vectorized ? 2.0 : 1.0},
           traffic, warps * kernel.straight);
  return launch_of(std::move(plan));
}

}  // namespace roofcast::gemm
