#include "model/kernels/gemm/simt_plan.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "model/counting/coalescing.hpp"
#include "model/counting/random_access.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"
#include "model/kernels/gemm/simt.hpp"

namespace roofcast::gemm {
namespace {

constexpr double kElement = 4;  // bytes of fp32
// Warp instructions of a step without shared memory (by the counters); of
// a copy of one access to shared memory, and of a step of the main loop besides (counters, branch,
// addresses). The last two are estimates: rungs 3 to 5 execute 15 to 30% more, which the fitted
// issue efficiency and tile wait take up.
constexpr double kInstructionsPerDirectStep = 5.5;
constexpr double kInstructionsPerCopy = 3;
constexpr double kInstructionsPerStep = 8;

struct Config {
  std::int64_t m, n, k;
  std::int64_t tile_m, tile_n, tile_k;
  std::int64_t thread_m, thread_n;

  std::int64_t tile_rows() const { return ceil_div(m, tile_m); }
  std::int64_t tile_columns() const { return ceil_div(n, tile_n); }
  std::int64_t threads() const { return tile_m / thread_m * (tile_n / thread_n); }
};

Config config(const Problem& p, std::size_t given) {
  const auto value = [&](std::size_t parameter) {
    return parameter < given ? p[parameter] : std::int64_t{1};
  };
  const Config c{p[kM],         p[kN],         p[kK],           value(kTileM),
                 value(kTileN), value(kTileK), value(kThreadM), value(kThreadN)};
  const auto divides = [](std::int64_t part, std::int64_t whole, std::string_view what) {
    if (whole % part != 0) {
      throw InputError(std::string(what) + ": " + std::to_string(part) + " does not divide " +
                       std::to_string(whole) + "; choose one that does");
    }
  };
  divides(c.thread_m, c.tile_m, "thread_m of tile_m");
  divides(c.thread_n, c.tile_n, "thread_n of tile_n");
  return c;
}

// Mean number of sectors that a run of `elements` touches, over rows `row_elements` apart: rows
// repeat their offset from a sector boundary at least every 8.
double mean_sectors(std::int64_t elements, std::int64_t row_elements) {
  constexpr std::int64_t kPeriod = kSectorBytes / 4;
  std::int64_t sectors = 0;
  for (std::int64_t row = 0; row < kPeriod; ++row) {
    const WarpAccess run{.stride_bytes = 0,
                         .access_bytes = elements * 4,
                         .offset_bytes = row * row_elements * 4 % kSectorBytes,
                         .lanes = 1};
    sectors += distinct_units(run, kSectorBytes);
  }
  return static_cast<double>(sectors) / kPeriod;
}

// Bytes that blocks take `depth` columns of A or rows of B at a time: what the runs request, and in
// whole sectors; and what they write of C.
struct TileTraffic {
  Traffic requested;
  Traffic sectors;
};

TileTraffic tile_traffic(const Config& c, std::int64_t depth) {
  const double a = as_double(c.tile_columns()) * as_double(c.m) * as_double(c.k) * kElement;
  const double b = as_double(c.tile_rows()) * as_double(c.k) * as_double(c.n) * kElement;
  const double out = as_double(c.m) * as_double(c.n) * kElement;
  const auto waste = [](std::int64_t run, std::int64_t row_elements) {
    return mean_sectors(run, row_elements) * kSectorBytes / (as_double(run) * kElement);
  };
  const double a_waste = waste(std::min(depth, c.k), c.k);
  const double b_waste = waste(std::min(c.tile_n, c.n), c.n);
  return {{a + b, out}, {a * a_waste + b * b_waste, out * b_waste}};
}

// What every rung has in common: the product, its operands, the walk over its tiles.
Plan product_plan(const Config& c) {
  const double m = as_double(c.m), n = as_double(c.n), k = as_double(c.k);
  Plan plan;
  plan.launch.grid = {c.tile_columns(), c.tile_rows(), 1};
  plan.useful.vector_flops = 2 * m * n * k;
  plan.arrays = {reads_activation(0, m * k * kElement), reads(1, k * n * kElement),
                 writes(2, m * n * kElement)};
  plan.raster = TileRaster{.tile_rows = c.tile_rows(),
                           .tile_columns = c.tile_columns(),
                           .row_panel_bytes = m / as_double(c.tile_rows()) * k * kElement,
                           .column_panel_bytes = n / as_double(c.tile_columns()) * k * kElement};
  return plan;
}

// The main loop, then the stores of C: tiles that its edges cut store less than whole ones.
void set_loop(Plan& plan, const Config& c, Step step, double steps, double ahead,
              const TileTraffic& traffic, const Traffic& below_l1) {
  const double loads = as_double(plan.launch.blocks()) * steps;
  step.issued.requested = {traffic.requested.read_bytes / loads, 0};
  step.issued.l1 = {traffic.sectors.read_bytes / loads, 0};
  step.issued.l2 = {below_l1.read_bytes / loads, 0};
  step.issued.shared_bytes = step.wavefronts.shared * as_double(kLineBytes);
  const auto add = [&](std::int64_t blocks, double share_of_block) {
    if (blocks == 0) return;
    Step store;
    store.issued.requested = {0, traffic.requested.write_bytes * share_of_block};
    store.issued.l1 = {0, traffic.sectors.write_bytes * share_of_block};
    store.issued.l2 = {0, below_l1.write_bytes * share_of_block};
    store.waits.global = 1;
    plan.blocks.push_back({blocks, {{step, steps, ahead}, {store}}});
  };
  const std::int64_t whole = (c.m / c.tile_m) * (c.n / c.tile_n);
  const std::int64_t cut = plan.launch.blocks() - whole;
  const double of_whole = as_double(c.tile_m * c.tile_n) / (as_double(c.m) * as_double(c.n));
  add(whole, of_whole);
  add(cut, (1 - as_double(whole) * of_whole) / as_double(cut));
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

// A thread reads four words of A's tile with one access: four steps of a row or, transposed, four
// rows of a step.
constexpr double kWordsPerAccessOfA = 4;

// Of the compiled tile; 0: there is none. gemm.vectorized has a kernel of its own where rows of k
// or n elements are no multiples of 16 bytes.
std::int64_t compiled_registers(const Config& c, std::size_t parameters, const Staging& staging) {
  if (staging.stages > 1) {
    const bool aligned = c.n % 4 == 0 && c.k % 4 == 0;
    return compiled::registers("gemm::vectorized_kernel", c.tile_m, c.tile_n, c.tile_k, c.thread_m,
                               c.thread_n, aligned);
  }
  if (parameters > kThreadN) {
    return compiled::registers("gemm::coarsened_2d_kernel", c.tile_m, c.tile_n, c.tile_k,
                               c.thread_m, c.thread_n, c.threads());
  }
  if (parameters > kThreadM) {
    return compiled::registers("gemm::coarsened_1d_kernel", c.tile_m, c.tile_n, c.tile_k,
                               c.thread_m, c.threads());
  }
  return compiled::registers("gemm::tiled_kernel", c.tile_m, c.tile_n, c.tile_k, c.threads());
}

void set_registers(Plan& plan, const Config& c, std::int64_t known) {
  plan.launch.registers = known;
  if (known > 0) return;
  // Accumulators, two steps of operands, and addresses.
  constexpr std::int64_t kMost = 255;
  plan.launch.registers =
      std::min(kMost, c.thread_m * c.thread_n + 2 * (c.thread_m + c.thread_n) + 32);
  plan.notes.caveat = "registers are estimated: no kernel is compiled for this tile";
}

}  // namespace

LaunchSequence plan_direct(const Problem& problem, bool rows_first) {
  Config c = config(problem, kTileN + 1);
  Plan plan = product_plan(c);
  TileTraffic traffic = tile_traffic(c, 1);
  traffic.requested.read_bytes = plan.useful.vector_flops * kElement;  // two operands a step
  // L1 keeps a sector of A until the block has marched through it: rows are whole runs along k.
  Traffic below_l1 = tile_traffic(c, c.k).sectors;
  // A warp that walks down rows stores each word of C to a sector of its own.
  if (rows_first) {
    constexpr double kWordsPerSector = 8;
    below_l1.write_bytes = traffic.requested.write_bytes * kWordsPerSector;
  }

  const double warps = warps_of(c.threads());
  Step step;
  step.issued.vector_flops = 2 * as_double(c.threads());
  step.warp_instructions = warps * kInstructionsPerDirectStep;
  // Lanes of a warp lie along threadIdx.x: down rows of A, or along columns of B. The other operand
  // is one word for all lanes that share a row or column.
  const std::int64_t lanes = std::min<std::int64_t>(32, rows_first ? c.tile_m : c.tile_n);
  const WarpAccess along{.stride_bytes = rows_first ? c.k * 4 : 4,
                         .access_bytes = 4,
                         .offset_bytes = 0,
                         .lanes = lanes};
  // Words of the other operand in different lines.
  const double other = rows_first ? 1 : 32.0 / as_double(lanes);
  step.wavefronts.l1 = warps * (as_double(bank_wavefronts(along)) + other);
  step.wavefronts.l1_lookups = warps * (lookups(along) + other);
  // The loop is unrolled by four: a wait for the new rows of B each fourth step, and for the next
  // sectors of A each eighth. Rows first, all warps of a block need the same sectors of A and wait
  // together. Along columns a warp waits for a sector of A of its own, which sets it apart from the
  // others, and one of the warps that share columns of B waits for them: the rest find them in L1.
  const double warps_a_row = std::max(1.0, as_double(c.tile_n) / 32);
  step.waits.global = rows_first ? 0.25 : 0.125 / warps_a_row + 0.25 * warps_a_row / warps;
  plan.launch.block = rows_first ? std::array{c.tile_m, c.tile_n, std::int64_t{1}}
                                 : std::array{c.tile_n, c.tile_m, std::int64_t{1}};
  if (rows_first) {  // blocks too walk down the rows first
    plan.launch.grid = {c.tile_rows(), c.tile_columns(), 1};
    std::swap(plan.raster->tile_rows, plan.raster->tile_columns);
    std::swap(plan.raster->row_panel_bytes, plan.raster->column_panel_bytes);
  }
  set_loop(plan, c, step, as_double(c.k), 0, traffic, below_l1);
  // As many in all that are compiled, and taken for other tiles too.
  plan.launch.registers = compiled::registers(
      rows_first ? "gemm::naive_kernel" : "gemm::coalesced_kernel", 32, 32, 1024);
  plan.on_chip_bytes = as_double(c.tile_m * c.tile_n) * kElement;
  return {{plan}};
}

LaunchSequence plan_staged(const Problem& problem, std::size_t parameters, const Staging& staging) {
  const Config c = config(problem, parameters);
  Plan plan = product_plan(c);
  const double warps = warps_of(c.threads());
  const double tile_k = as_double(c.tile_k);
  const double width = as_double(staging.width);
  const double thread_m = as_double(c.thread_m);
  const double thread_n = as_double(c.thread_n);

  Step step;
  step.issued.vector_flops = 2 * thread_m * thread_n * as_double(c.threads()) * tile_k;
  const double multiply_adds = warps * tile_k * thread_m * thread_n;
  const double shared_loads = warps * tile_k * (thread_m / kWordsPerAccessOfA + thread_n / width);
  const double copies = as_double((c.tile_m + c.tile_n) * c.tile_k) / width / 32;
  step.warp_instructions =
      multiply_adds + shared_loads + copies * kInstructionsPerCopy + warps * kInstructionsPerStep;
  step.wavefronts.shared = shared_loads + copies * width;
  step.waits.tile_loads = 1;
  step.waits.shared = 1;
  step.waits.barriers = staging.stages > 1 ? 1 : 2;

  plan.launch.block = {c.threads(), 1, 1};
  plan.launch.shared_bytes = staging.stages * 4 * c.tile_k * (c.tile_m + staging.pad_a + c.tile_n);
  set_registers(plan, c, compiled_registers(c, parameters, staging));
  if (staging.group_rows > 1) {  // blocks find their tile by themselves
    plan.launch.grid = {plan.launch.blocks(), 1, 1};
    plan.raster->group_rows = staging.group_rows;
  }
  const TileTraffic traffic = tile_traffic(c, c.tile_k);
  set_loop(plan, c, step, as_double(ceil_div(c.k, c.tile_k)), as_double(staging.stages - 1),
           traffic, traffic.sectors);
  plan.on_chip_bytes =
      as_double(c.tile_m * c.tile_n) * kElement + as_double(plan.launch.shared_bytes);
  return {{plan}};
}

}  // namespace roofcast::gemm
