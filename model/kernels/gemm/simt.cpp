#include "model/kernels/gemm/simt.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "model/counting/random_access.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/tensor_plan.hpp"

namespace roofcast::gemm {
namespace {

constexpr std::int64_t kElementBytes = 4;  // of fp32
constexpr double kElement = kElementBytes;

/// The product and its tiles.
struct Config {
  std::int64_t m, n, k;
  std::int64_t tile_m, tile_n, tile_k;
  std::int64_t thread_m, thread_n;

  std::int64_t tile_rows() const { return ceil_div(m, tile_m); }
  std::int64_t tile_columns() const { return ceil_div(n, tile_n); }
  std::int64_t threads() const { return tile_m / thread_m * (tile_n / thread_n); }
  double warps() const { return warps_of(threads()); }
  double area() const { return as_double(tile_m * tile_n); }
  double outputs() const { return as_double(m) * as_double(n); }
};

Config config(const Problem& p, std::size_t given) {
  const auto value = [&](std::size_t parameter) {
    return parameter < given ? p[parameter] : std::int64_t{1};
  };
  const auto divides = [](std::int64_t part, std::int64_t whole, std::string_view what) {
    if (whole % part == 0) return;
    throw InputError(std::string(what) + ": " + std::to_string(part) + " does not divide " +
                     std::to_string(whole) + "; choose one that does");
  };
  const Config c{p[kM],         p[kN],         p[kK],           value(kTileM),
                 value(kTileN), value(kTileK), value(kThreadM), value(kThreadN)};
  divides(c.thread_m, c.tile_m, "thread_m of tile_m");
  divides(c.thread_n, c.tile_n, "thread_n of tile_n");
  return c;
}

/// Bytes of blocks that take so many columns of A or rows of B at a time: as the threads request
/// them, and in whole sectors; and what they write of C.
struct TileTraffic {
  Traffic requested, sectors;
};

TileTraffic tile_traffic(const Config& c, std::int64_t depth) {
  const double a = as_double(c.tile_columns()) * as_double(c.m) * as_double(c.k) * kElement;
  const double b = as_double(c.tile_rows()) * as_double(c.k) * as_double(c.n) * kElement;
  const double out = c.outputs() * kElement;
  const auto waste = [](std::int64_t run, std::int64_t row) {
    return tensor::sectors_share(run * kElementBytes, row * kElementBytes);
  };
  const double a_waste = waste(std::min(depth, c.k), c.k);
  const double b_waste = waste(std::min(c.tile_n, c.n), c.n);
  return {{a + b, out}, {a * a_waste + b * b_waste, out * b_waste}};
}

// What every rung has in common: the product, its operands, the walk over its tiles.
Plan product_plan(const Config& c) {
  const double k_bytes = as_double(c.k) * kElement;
  Plan plan;
  plan.launch.grid = {c.tile_columns(), c.tile_rows(), 1};
  plan.useful.vector_flops = 2 * c.outputs() * as_double(c.k);
  plan.arrays = {reads_activation(0, as_double(c.m) * k_bytes), reads(1, as_double(c.n) * k_bytes),
                 writes(2, c.outputs() * kElement)};
  plan.raster =
      TileRaster{.tile_rows = c.tile_rows(),
                 .tile_columns = c.tile_columns(),
                 .row_panel_bytes = as_double(c.m) / as_double(c.tile_rows()) * k_bytes,
                 .column_panel_bytes = as_double(c.n) / as_double(c.tile_columns()) * k_bytes};
  return plan;
}

// The main loop, then the stores of C.
void set_loop(Plan& plan, Step step, double steps, double ahead, const TileTraffic& traffic,
              const Traffic& below_l1) {
  const double blocks = as_double(plan.launch.blocks()), loads = blocks * steps;
  step.issued.requested = {traffic.requested.read_bytes / loads, 0};
  step.issued.l1 = {traffic.sectors.read_bytes / loads, 0};
  step.issued.l2 = {below_l1.read_bytes / loads, 0};
  step.issued.shared_bytes = step.wavefronts.shared * as_double(kLineBytes);
  Step store;
  store.issued.requested = {0, traffic.requested.write_bytes / blocks};
  store.issued.l1 = {0, traffic.sectors.write_bytes / blocks};
  store.issued.l2 = {0, below_l1.write_bytes / blocks};
  store.waits.global = 1;
  set_blocks(plan, {{step, steps, ahead}, {store}});
}

// Lines that L1 looks up, as its four tag banks take time for them: lines that follow one another
// lie in all banks in turn, others anywhere, and the fullest bank sets the pace. (Strides of 32.1
// lines and of 27.1 take the same time: gemm.naive of k = 1027 and 867.)
double lookups(const WarpAccess& access) {
  const std::int64_t lines = distinct_units(access, kLineBytes);
  if (access.stride_bytes <= kLineBytes) return as_double(lines);
  static const auto scattered = [] {  // lookups of that many lines, each in any bank
    constexpr int kTagBanks = 4;
    std::array<double, kWarpLanes + 1> all{};
    for (int n = 0; n <= kWarpLanes; ++n) {
      all[static_cast<std::size_t>(n)] = kTagBanks * expected_fullest(n, kTagBanks);
    }
    return all;
  }();
  return scattered[static_cast<std::size_t>(lines)];
}

// Of the compiled tile; an estimate where there is none. With copies ahead there is a kernel of its
// own where rows of k or n elements are no multiples of 16 bytes.
void set_registers(Plan& plan, const Config& c, const Staging& staging) {
  compiled::Arguments arguments = {c.tile_m, c.tile_n, c.tile_k};
  std::size_t next = 3;
  if (staging.parameters > kThreadM) arguments[next++] = c.thread_m;
  if (staging.parameters > kThreadN) arguments[next++] = c.thread_n;
  const bool aligned = c.n % 4 == 0 && c.k % 4 == 0;
  arguments[next] = staging.stages > 1 ? std::int64_t{aligned} : c.threads();
  plan.launch.registers = compiled::find(staging.kernel, arguments).registers;
  if (plan.launch.registers > 0) return;
  // Accumulators, two steps of operands, and addresses.
  constexpr std::int64_t kMost = 255;
  plan.launch.registers =
      std::min(kMost, c.thread_m * c.thread_n + 2 * (c.thread_m + c.thread_n) + 32);
  plan.notes.caveat = "registers are estimated: no kernel is compiled for this tile";
}

}  // namespace

LaunchSequence plan_direct(const Problem& problem, bool rows_first) {
  constexpr double kInstructionsPerStep = 5.5;  // of a warp, by the counters
  constexpr double kWordsPerSector = 8;
  const Config c = config(problem, kTileN + 1);
  Plan plan = product_plan(c);
  TileTraffic traffic = tile_traffic(c, 1);
  traffic.requested.read_bytes = plan.useful.vector_flops * kElement;  // two operands a step
  // L1 keeps a sector of A until the block has marched through it: rows are whole runs along k.
  Traffic below_l1 = tile_traffic(c, c.k).sectors;
  // A warp that walks down rows stores each word of C to a sector of its own.
  if (rows_first) below_l1.write_bytes = traffic.requested.write_bytes * kWordsPerSector;

  Step step;
  step.issued.vector_flops = 2 * as_double(c.threads());
  step.warp_instructions = c.warps() * kInstructionsPerStep;
  // Lanes of a warp lie along threadIdx.x: down rows of A, or along columns of B. The other operand
  // is one word for all lanes that share a row or column.
  const std::int64_t lanes = std::min(kWarpLanes, rows_first ? c.tile_m : c.tile_n);
  const WarpAccess along{.stride_bytes = rows_first ? c.k * kElementBytes : kElementBytes,
                         .lanes = lanes};
  // Words of the other operand in different lines.
  const double other = rows_first ? 1 : as_double(kWarpLanes) / as_double(lanes);
  step.wavefronts.l1 = c.warps() * (as_double(bank_wavefronts(along)) + other);
  step.wavefronts.l1_lookups = c.warps() * (lookups(along) + other);
  // The loop is unrolled by four: a wait for the new rows of B each fourth step, and for the next
  // sectors of A each eighth. Rows first, all warps of a block need the same sectors of A and wait
  // together. Along columns a warp waits for a sector of A of its own, which sets it apart from the
  // others, and one of the warps that share columns of B waits for them: the rest find them in L1.
  const double warps_a_row = std::max(1.0, as_double(c.tile_n) / 32);
  step.waits.global = rows_first ? 0.25 : 0.125 / warps_a_row + 0.25 * warps_a_row / c.warps();
  plan.launch.block = {c.tile_n, c.tile_m, 1};
  if (rows_first) {  // blocks too walk down the rows first
    std::swap(plan.launch.block[0], plan.launch.block[1]);
    std::swap(plan.launch.grid[0], plan.launch.grid[1]);
    std::swap(plan.raster->tile_rows, plan.raster->tile_columns);
    std::swap(plan.raster->row_panel_bytes, plan.raster->column_panel_bytes);
  }
  set_loop(plan, step, as_double(c.k), 0, traffic, below_l1);
  // As many in all that are compiled, and taken for other tiles too.
  plan.launch.registers = compiled::registers(
      rows_first ? "gemm::naive_kernel" : "gemm::coalesced_kernel", 32, 32, 1024);
  plan.on_chip_bytes = c.area() * kElement;
  return launch_of(std::move(plan));
}

LaunchSequence plan_staged(const Problem& problem, const Staging& staging) {
  // Warp instructions of a copy of one access to shared memory, and of a step besides (counters,
  // branch, addresses): estimates. Kernels with one stage execute 15 to 30% more, which the fitted
  // issue efficiency and tile wait take up.
  constexpr double kInstructionsPerCopy = 3, kInstructionsPerStep = 8;
  // A thread reads four words of A's tile with one access: four steps of a row or, transposed, four
  // rows of a step.
  constexpr double kWordsPerAccessOfA = 4;
  const Config c = config(problem, staging.parameters);
  Plan plan = product_plan(c);
  const double width = as_double(staging.width);
  const double thread_m = as_double(c.thread_m), thread_n = as_double(c.thread_n);
  const double warp_steps = c.warps() * as_double(c.tile_k);

  Step step;
  step.issued.vector_flops = 2 * c.area() * as_double(c.tile_k);
  const double multiply_adds = warp_steps * thread_m * thread_n;
  const double shared_loads = warp_steps * (thread_m / kWordsPerAccessOfA + thread_n / width);
  const double copies = as_double((c.tile_m + c.tile_n) * c.tile_k) / width / 32;
  step.warp_instructions = multiply_adds + shared_loads + copies * kInstructionsPerCopy +
                           c.warps() * kInstructionsPerStep;
  step.wavefronts.shared = shared_loads + copies * width;
  step.waits = {.tile_loads = 1, .shared = 1, .barriers = staging.stages > 1 ? 1.0 : 2.0};

  plan.launch.block = {c.threads(), 1, 1};
  plan.launch.shared_bytes =
      staging.stages * kElementBytes * c.tile_k * (c.tile_m + staging.pad_a + c.tile_n);
  set_registers(plan, c, staging);
  if (staging.group_rows > 1) {  // blocks find their tile by themselves
    plan.launch.grid = {plan.launch.blocks(), 1, 1};
    plan.raster->group_rows = staging.group_rows;
  }
  const TileTraffic traffic = tile_traffic(c, c.tile_k);
  set_loop(plan, step, as_double(ceil_div(c.k, c.tile_k)), as_double(staging.stages - 1), traffic,
           traffic.sectors);
  plan.on_chip_bytes = c.area() * kElement + as_double(plan.launch.shared_bytes);
  return launch_of(std::move(plan));
}

}  // namespace roofcast::gemm
