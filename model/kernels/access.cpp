#include "model/kernels/access.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "model/coalescing.hpp"
#include "model/io_complexity.hpp"
#include "model/random_access.hpp"
#include "model/row_segments.hpp"
#include "model/shared_banks.hpp"

namespace roofcast::access {
namespace {

// Warp instructions of one access by the SASS for sm_90a (2026-11-21): index, bounds, two
// addresses, load, store, exit.
constexpr double kInstructionsPerAccess = 20;
constexpr std::int64_t kMaxRegisters = 32;  // at or under this, 2048 threads of an SM fit

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

std::int64_t element_bytes(DType dtype) {
  return static_cast<std::int64_t>(size_bytes(dtype));
}

/// DRAM moves no less than this for a read; devices that do not say move single sectors.
std::int64_t dram_access_bytes(const Gpu& gpu) {
  return static_cast<std::int64_t>(gpu.memory.dram_access_bytes.value_or(kSectorBytes));
}

/// Sectors and lines of all warps of a launch.
struct Counts {
  double l1_load_sectors = 0;
  double l2_load_sectors = 0;
  double store_sectors = 0;
  double lookups = 0;     ///< lines, over loads and stores
  double wavefronts = 0;  ///< of the data pipe
};

double sectors_in_order(std::int64_t elements, std::int64_t bytes) {
  return as_double((elements * bytes + kSectorBytes - 1) / kSectorBytes);
}

// One access a thread; work.requested, compulsory and touched are the caller's.
Plan one_access_a_thread(std::int64_t threads, const Work& work, const Counts& counts) {
  Plan plan;
  plan.launch.grid[0] = (threads + kThreads - 1) / kThreads;
  plan.launch.block[0] = kThreads;
  plan.total = work;
  plan.total.l1 = {counts.l1_load_sectors * kSectorBytes, counts.store_sectors * kSectorBytes};
  plan.total.l2 = {counts.l2_load_sectors * kSectorBytes, counts.store_sectors * kSectorBytes};
  const double blocks = as_double(plan.launch.grid[0]);
  Step& once = plan.block.once;
  plan.block.steps = 0;
  once.instructions = as_double(kThreads / kWarpLanes) * kInstructionsPerAccess;
  once.l1_lookups = counts.lookups / blocks;
  once.l1_wavefronts = counts.wavefronts / blocks;
  once.l2_bytes = plan.total.l2.total_bytes() / blocks;
  once.global_round_trips = 1;
  return plan;
}

double warps_of(std::int64_t threads) {
  return as_double((threads + kWarpLanes - 1) / kWarpLanes);
}

void require_multiple(std::string_view what, std::int64_t value, std::int64_t of) {
  if (value % of != 0) {
    throw InputError(std::string(what) + " is " + std::to_string(value) +
                     ": give a multiple of width, " + std::to_string(of));
  }
}

// Units touched by `accesses` lanes, warp after warp; every warp begins on the same alignment.
double units_of_warps(WarpAccess access, std::int64_t accesses, std::int64_t unit_bytes) {
  access.lanes = kWarpLanes;
  double sum = as_double(accesses / kWarpLanes) * as_double(distinct_units(access, unit_bytes));
  access.lanes = accesses % kWarpLanes;
  if (access.lanes > 0) sum += as_double(distinct_units(access, unit_bytes));
  return sum;
}

Plans plan_strided(const Problem& p, const Gpu& gpu) {
  using namespace strided;
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t width = p[kWidth];
  require_multiple("n", p[kElements], width);
  require_multiple("stride", p[kStride], width);
  if ((width & (width - 1)) != 0 || width * element > 16) {
    throw InputError("width is " + std::to_string(width) +
                     ": give 1, 2, 4 or 8 elements, of at most 16 bytes");
  }
  const std::int64_t accesses = p[kElements] / width;
  const WarpAccess load{.stride_bytes = p[kStride] * element, .access_bytes = width * element};
  const WarpAccess store{.stride_bytes = width * element, .access_bytes = width * element};
  const double bytes = as_double(p[kElements] * element);
  const double dram =
      units_of_warps(load, accesses, dram_access_bytes(gpu)) * as_double(dram_access_bytes(gpu));

  Counts counts;
  counts.l1_load_sectors = counts.l2_load_sectors = units_of_warps(load, accesses, kSectorBytes);
  counts.store_sectors = units_of_warps(store, accesses, kSectorBytes);
  counts.lookups =
      units_of_warps(load, accesses, kLineBytes) + units_of_warps(store, accesses, kLineBytes);
  counts.wavefronts =
      warps_of(accesses) * as_double(bank_wavefronts(load) + bank_wavefronts(store));
  Work work;
  work.requested = work.compulsory = {bytes, bytes};
  work.touched = {dram, bytes};
  Plan plan = one_access_a_thread(accesses, work, counts);
  plan.launch.registers = width * element == 16 ? 14 : 10;
  if (p[kStride] > width) {
    const std::string pattern = "stride " + std::to_string(p[kStride]);
    const double used = as_double(width * element);
    plan.traffic_reasons = {
        {Level::l1, waste_text(pattern, plan.total.l1.read_bytes / as_double(accesses), used)},
        {Level::dram, waste_text(pattern, dram / as_double(accesses), used)}};
  }
  return {plan};
}

/// What the threads of one block load: sectors warp by warp, and over the block.
struct BlockLoads {
  double l1_sectors = 0;
  double l2_sectors = 0;
  double lines = 0;
};

BlockLoads block_loads(std::span<const std::int64_t> starts, std::int64_t access_bytes) {
  BlockLoads loads;
  for (std::size_t first = 0; first < starts.size(); first += kWarpLanes) {
    const auto warp =
        starts.subspan(first, std::min<std::size_t>(kWarpLanes, starts.size() - first));
    loads.l1_sectors += as_double(distinct_units(warp, access_bytes, kSectorBytes));
    loads.lines += as_double(distinct_units(warp, access_bytes, kLineBytes));
  }
  loads.l2_sectors = as_double(distinct_units(starts, access_bytes, kSectorBytes));
  return loads;
}

// Σ over the threads [first, end) of a launch, block by block, `times` over.
template <class Start>
void add_blocks(BlockLoads& sum, std::int64_t first, std::int64_t end, std::int64_t access_bytes,
                double times, const Start& start) {
  std::vector<std::int64_t> starts;
  for (; first < end; first += kThreads) {
    starts.clear();
    for (std::int64_t i = first; i < std::min(end, first + kThreads); ++i) {
      starts.push_back(start(i));
    }
    const BlockLoads block = block_loads(starts, access_bytes);
    sum.l1_sectors += times * block.l1_sectors;
    sum.l2_sectors += times * block.l2_sectors;
    sum.lines += times * block.lines;
  }
}

// The loads of n threads whose pattern repeats every `period` threads, a multiple of the block.
template <class Start>
BlockLoads periodic_loads(std::int64_t n, std::int64_t period, std::int64_t access_bytes,
                          const Start& start) {
  BlockLoads sum;
  add_blocks(sum, 0, std::min(n, period), access_bytes, std::max(1.0, as_double(n / period)),
             start);
  if (n > period) add_blocks(sum, 0, n % period, access_bytes, 1, start);
  return sum;
}

Plans plan_offset(const Problem& p, const Gpu& gpu) {
  using namespace offset;
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t n = p[kElements];
  const BlockLoads loads = periodic_loads(
      n, kThreads, element, [&](std::int64_t i) { return (i + p[kOffset]) * element; });
  const WarpAccess store{.stride_bytes = element, .access_bytes = element};
  const double bytes = as_double(n * element);
  const std::int64_t unit = dram_access_bytes(gpu);
  const std::int64_t first = p[kOffset] * element / unit;
  const std::int64_t last = ((p[kOffset] + n) * element - 1) / unit;

  Counts counts;
  counts.l1_load_sectors = loads.l1_sectors;
  counts.l2_load_sectors = loads.l2_sectors;
  counts.store_sectors = sectors_in_order(n, element);
  counts.lookups = loads.lines + units_of_warps(store, n, kLineBytes);
  counts.wavefronts = 2 * warps_of(n) * as_double(bank_wavefronts(store));
  Work work;
  work.requested = work.compulsory = {bytes, bytes};
  work.touched = {as_double((last - first + 1) * unit), bytes};
  Plan plan = one_access_a_thread(n, work, counts);
  plan.launch.registers = 10;
  if (p[kOffset] * element % kSectorBytes != 0) {
    plan.traffic_reasons = {
        {Level::l1, "offset " + std::to_string(p[kOffset]) +
                        ": no warp begins on a sector boundary, so each takes one sector more"},
        {Level::l2, "a warp's last sector is the next warp's first: L1 has it within a block"}};
  }
  return {plan};
}

// Beyond this many elements a window is counted by its first ones.
constexpr std::int64_t kMostCounted = 65536;

struct Gathered {
  BlockLoads loads;
  double dram_pieces = 0;
};

Gathered gather_shuffled(const Problem& p, std::int64_t element, std::int64_t unit) {
  using namespace gather;
  const std::int64_t window = p[kWindow];
  const std::int64_t period = std::clamp(window, kThreads, kMostCounted);
  const auto mask = static_cast<std::uint64_t>(window - 1);
  const auto start = [&](std::int64_t i) {
    const std::int64_t within = i & (window - 1);
    const auto place = static_cast<std::uint64_t>(within) * kMultiplier;
    return (i - within + static_cast<std::int64_t>(place & mask)) * element;
  };
  return {periodic_loads(p[kElements], period, element, start),
          as_double((p[kElements] * element + unit - 1) / unit)};
}

// Every index anywhere in the table. Each SM's L1 holds what it can, and L2 the same for all.
Gathered gather_uniform(const Problem& p, std::int64_t element, std::int64_t unit, const Gpu& gpu) {
  using namespace gather;
  const double table = as_double(p[kWindow] * element);
  const double warps = warps_of(p[kElements]);
  const auto in_table = [&](std::int64_t bytes) { return std::max(1.0, table / as_double(bytes)); };
  Gathered found;
  found.loads.l1_sectors = warps * expected_distinct(in_table(kSectorBytes), kWarpLanes);
  found.loads.lines = warps * expected_distinct(in_table(kLineBytes), kWarpLanes);
  const double sms = as_double(gpu.sm_count.value_or(1));
  const double l1_bytes = gpu.memory.l1_shared_bytes.value_or(0);
  found.loads.l2_sectors = sms * random_misses(found.loads.l1_sectors / sms, in_table(kSectorBytes),
                                               l1_bytes / kSectorBytes);
  const double l2_bytes = gpu.sustained.l2_resident_bytes.value_or(gpu.memory.l2_bytes.value_or(0));
  found.dram_pieces =
      random_misses(found.loads.l2_sectors, in_table(unit), l2_bytes / as_double(unit));
  return found;
}

Plans plan_gather(const Problem& p, const Gpu& gpu) {
  using namespace gather;
  constexpr std::int64_t kIndexBytes = 4;
  const std::int64_t element = element_bytes(p.dtype);
  const std::int64_t n = p[kElements];
  const std::int64_t window = p[kWindow];
  if ((window & (window - 1)) != 0) {
    throw InputError("window is " + std::to_string(window) + ": give a power of two");
  }
  const bool uniform = p[kDistribution] == kUniform;
  if (!uniform && n % window != 0) {
    throw InputError("n is " + std::to_string(n) + ": give a multiple of window, " +
                     std::to_string(window));
  }
  const std::int64_t unit = dram_access_bytes(gpu);
  const Gathered found =
      uniform ? gather_uniform(p, element, unit, gpu) : gather_shuffled(p, element, unit);
  const double elements = as_double(n * element);
  const double indices = as_double(n * kIndexBytes);
  const double table = as_double((uniform ? std::min(window, n) : n) * element);

  const WarpAccess index{.stride_bytes = kIndexBytes, .access_bytes = kIndexBytes};
  const WarpAccess store{.stride_bytes = element, .access_bytes = element};
  Counts counts;
  counts.l1_load_sectors = found.loads.l1_sectors + sectors_in_order(n, kIndexBytes);
  counts.l2_load_sectors = found.loads.l2_sectors + sectors_in_order(n, kIndexBytes);
  counts.store_sectors = sectors_in_order(n, element);
  counts.lookups = found.loads.lines + units_of_warps(index, n, kLineBytes) +
                   units_of_warps(store, n, kLineBytes);
  counts.wavefronts = warps_of(n) * 2 + found.loads.lines;
  Work work;
  work.requested = {elements + indices, elements};
  work.compulsory = {table + indices, elements};
  work.touched = {found.dram_pieces * as_double(unit) + indices, elements};
  Plan plan = one_access_a_thread(n, work, counts);
  plan.launch.registers = element == 4 ? 10 : 12;
  plan.block.once.global_round_trips = 2;  // the index first
  const std::string pattern =
      std::string(kDistributions[static_cast<std::size_t>(p[kDistribution])]) + " gather";
  const auto used = as_double(element);
  plan.traffic_reasons = {
      {Level::l1, waste_text(pattern, found.loads.l1_sectors * kSectorBytes / as_double(n), used)},
      {Level::l2, waste_text(pattern, found.loads.l2_sectors * kSectorBytes / as_double(n), used)},
      {Level::dram, waste_text(pattern, found.dram_pieces * as_double(unit) / as_double(n), used)}};
  return {plan};
}

Plan matrix_plan(const Problem& p, const Counts& counts) {
  const std::int64_t n = p[matrix::kRows] * p[matrix::kColumns];
  const double bytes = as_double(n * element_bytes(p.dtype));
  Work work;
  work.requested = work.compulsory = work.touched = {bytes, bytes};
  Plan plan = one_access_a_thread(n, work, counts);
  plan.launch.block = {matrix::kLanes, matrix::kDepth, 1};
  plan.launch.registers = 10;
  return plan;
}

DenseMatrix matrix_of(const Problem& p) {
  return {p[matrix::kRows], p[matrix::kColumns], element_bytes(p.dtype)};
}

std::int64_t blocks_along(std::int64_t extent, std::int64_t part) {
  return (extent + part - 1) / part;
}

Plans plan_row_wise(const Problem& p, const Gpu& /*gpu*/) {
  Counts counts;
  counts.l1_load_sectors = counts.l2_load_sectors = counts.store_sectors =
      sectors_along_rows(matrix_of(p));
  const double warps = as_double(p[matrix::kRows] * blocks_along(p[matrix::kColumns], kWarpLanes));
  counts.lookups = counts.wavefronts =
      2 * warps * std::max(1.0, as_double(kWarpLanes * element_bytes(p.dtype)) / kLineBytes);
  Plan plan = matrix_plan(p, counts);
  plan.launch.grid = {blocks_along(p[matrix::kColumns], matrix::kLanes),
                      blocks_along(p[matrix::kRows], matrix::kDepth), 1};
  return {plan};
}

Plans plan_column_wise(const Problem& p, const Gpu& /*gpu*/) {
  const DenseMatrix matrix = matrix_of(p);
  Counts counts;
  counts.l1_load_sectors = counts.store_sectors = sectors_down_columns(matrix);
  counts.l2_load_sectors = sectors_of_column_blocks(matrix, matrix::kDepth);
  counts.lookups = counts.wavefronts = 2 * as_double(matrix.rows * matrix.columns);
  Plan plan = matrix_plan(p, counts);
  plan.launch.grid = {blocks_along(matrix.columns, matrix::kDepth),
                      blocks_along(matrix.rows, matrix::kLanes), 1};
  const double n = as_double(matrix.rows * matrix.columns);
  const auto used = as_double(matrix.element_bytes);
  plan.traffic_reasons = {
      {Level::l1, waste_text("lanes a row apart", counts.l1_load_sectors * kSectorBytes / n, used)},
      {Level::l2,
       "L1 keeps a sector for the block's neighbouring columns; stores go on as they are"},
      {Level::dram, "L2 puts the pieces of a written sector together"}};
  return {plan};
}

// The SASS for sm_90a of the loop over eight accesses, and of the rest (2026-11-21).
constexpr double kInstructionsPerTurn = 4;
constexpr double kInstructionsOnce = 40;

Plans plan_shared(const Problem& p, const Gpu& /*gpu*/) {
  using namespace shared;
  const std::int64_t width = p[kWidth];
  require_multiple("stride", p[kStride], width);
  if ((width & (width - 1)) != 0 || width > 4) {
    throw InputError("width is " + std::to_string(width) + ": give 1, 2 or 4 words");
  }
  if (p[kRepeats] % kShifts != 0) {
    throw InputError("repeats is " + std::to_string(p[kRepeats]) + ": give a multiple of 8");
  }
  const std::int64_t count = words(p[kStride], width);
  const double warps = as_double(kThreads / kWarpLanes);
  const double loads = warps * as_double(p[kRepeats]);
  const double stores = warps_of(count);

  Plan plan;
  plan.launch.grid[0] = (p[kElements] + kThreads - 1) / kThreads;
  plan.launch.block[0] = kThreads;
  plan.launch.shared_bytes = 4 * count;
  plan.launch.registers = width == 4 ? 42 : kMaxRegisters;
  const double blocks = as_double(plan.launch.grid[0]);
  Step& once = plan.block.once;
  plan.block.steps = 0;
  once.shared_wavefronts = loads * as_double(shared_wavefronts(4 * p[kStride], 4 * width)) + stores;
  once.vector_flops = loads * kWarpLanes * as_double(width);
  once.instructions = loads * as_double(1 + width) +
                      loads / as_double(kShifts) * kInstructionsPerTurn +
                      warps * kInstructionsOnce + 3 * stores;
  once.l2_bytes = as_double(4 * count + 4 * kThreads);
  once.global_round_trips = 1;
  once.shared_round_trips = as_double(p[kRepeats] / kShifts);
  once.barriers = 1;
  Work& work = plan.total;
  work.vector_flops = as_double(p[kElements] * p[kRepeats] * width);
  work.requested = {blocks * as_double(4 * count), as_double(4 * p[kElements])};
  work.l1 = work.l2 = {blocks * sectors_in_order(count, 4) * kSectorBytes,
                       sectors_in_order(p[kElements], 4) * kSectorBytes};
  work.compulsory = work.touched = {as_double(4 * count), as_double(4 * p[kElements])};
  work.shared_bytes = blocks * once.shared_wavefronts * kLineBytes;
  plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
  return {plan};
}

constexpr roofcast::Parameter kN = {"n", "elements of y", 1, kMaxElements, std::nullopt};

constexpr std::array kStridedParameters = {
    kN,
    roofcast::Parameter{"stride", "elements from one access to the next", 1, 65536, std::nullopt},
    roofcast::Parameter{"width", "elements of an access: 1, 2, 4 or 8", 1, 8, 1}};
constexpr std::array kOffsetParameters = {
    kN, roofcast::Parameter{"offset", "elements before the first that is read", 0, 1 << 20,
                            std::nullopt}};
constexpr std::array kGatherParameters = {
    kN,
    roofcast::Parameter{"window", "elements among which an index is drawn: a power of two", 1,
                        std::int64_t{1} << 32, std::nullopt},
    choice("distribution",
           "shuffled: a permutation inside each window; uniform: independent draws from a table of "
           "one window",
           gather::kDistributions, 0)};
constexpr std::array kMatrixParameters = {
    roofcast::Parameter{"rows", "rows of x and y", 1, std::int64_t{1} << 24, std::nullopt},
    roofcast::Parameter{"cols", "elements of a row", 1, std::int64_t{1} << 24, std::nullopt}};
constexpr std::array kSharedParameters = {
    kN,
    roofcast::Parameter{"stride", "words from one lane to the next", 0, shared::kMaxStride,
                        std::nullopt},
    roofcast::Parameter{"width", "words of an access: 1, 2 or 4", 1, 4, 1},
    roofcast::Parameter{"repeats", "accesses of a thread: a multiple of 8", 8, 65536, 64}};

constexpr std::array kTypes = {DType::fp32, DType::fp64, DType::fp16, DType::bf16};
constexpr std::array kFp32 = {DType::fp32};

constexpr std::array<KernelModel, 6> kVariants = {{
    {"access.strided", "y[i] = x[i·stride]", kStridedParameters, kTypes, plan_strided},
    {"access.offset", "y[i] = x[i + offset]", kOffsetParameters, kTypes, plan_offset},
    {"access.gather", "y[i] = x[index[i]]", kGatherParameters, kTypes, plan_gather},
    {"access.row_wise", "y = x, lanes along the rows", kMatrixParameters, kTypes, plan_row_wise},
    {"access.column_wise", "y = x, lanes down the columns", kMatrixParameters, kTypes,
     plan_column_wise},
    {"access.shared", "strided loads from shared memory: bank conflicts", kSharedParameters, kFp32,
     plan_shared},
}};

IoComplexity io(const Problem& /*problem*/, double compulsory_bytes, double on_chip_bytes) {
  return streaming_io(compulsory_bytes, on_chip_bytes);
}

}  // namespace

constinit const KernelFamily kFamily = {
    "access", "one element in, one out, in various orders", {}, kTypes, nullptr, io, kVariants, {}};

}  // namespace roofcast::access
