#include "model/kernels/access/access.hpp"

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/compiled.hpp"

namespace roofcast::access {
namespace {

constexpr roofcast::Parameter kN = {"n", "elements of y", 1, kMaxElements};

constexpr std::array kStridedParameters = {
    kN, roofcast::Parameter{"stride", "elements from one access to the next", 1, 65536},
    roofcast::Parameter{"width", "elements of an access: 1, 2, 4 or 8", 1, 8, 1}};
constexpr std::array kOffsetParameters = {
    kN, roofcast::Parameter{"offset", "elements before the first that is read", 0, 1 << 20}};
constexpr std::array kGatherParameters = {
    kN,
    roofcast::Parameter{"window", "elements among which an index is drawn: a power of two", 1,
                        std::int64_t{1} << 32, std::int64_t{1} << 20},
    choice("distribution",
           "shuffled: a permutation inside each window; uniform: independent draws from a table of "
           "one window",
           gather::kDistributions, gather::kUniform)};
constexpr std::array kMatrixParameters = {
    roofcast::Parameter{"rows", "rows of x and y", 1, std::int64_t{1} << 24},
    roofcast::Parameter{"cols", "elements of a row", 1, std::int64_t{1} << 24}};
constexpr std::array kSharedParameters = {
    kN, roofcast::Parameter{"stride", "words from one lane to the next", 0, shared::kMaxStride},
    roofcast::Parameter{"width", "words of an access: 1, 2 or 4", 1, 4, 1},
    roofcast::Parameter{"repeats", "accesses of a thread: a multiple of 8", 8, 65536, 64}};

constexpr std::array kTypes = {DType::fp32, DType::fp64, DType::fp16, DType::bf16};
constexpr std::array kFp32 = {DType::fp32};

LaunchSequence plan_shared(const Problem& p, const Gpu& /*gpu*/) {
  using shared::kShifts;
  const std::int64_t n = p[shared::kElements], stride = p[shared::kStride];
  const std::int64_t width = p[shared::kWidth], repeats = p[shared::kRepeats];
  require(stride % width == 0, "stride is ", stride, ": give a multiple of width, ", width);
  require(power_of_two_from(width) == width && width <= 4, "width is ", width,
          ": give 1, 2 or 4 words");
  require(repeats % kShifts == 0, "repeats is ", repeats, ": give a multiple of 8");
  const std::int64_t count = shared::words(stride, width);
  const auto bytes_in_sectors = [](std::int64_t bytes) {
    return as_double(ceil_div(bytes, kSectorBytes) * kSectorBytes);
  };
  const double warps = warps_of(kThreads);
  const double loads = warps * as_double(repeats);
  const double stores = warps_of(count);

  const compiled::Kernel kernel = compiled::kernel("access::shared_kernel", width);
  Plan plan = launch_plan(ceil_div(n, kThreads), {kThreads, 1, 1}, kernel.registers, 4 * count);
  const double blocks = as_double(plan.launch.grid[0]);
  const double read = bytes_in_sectors(4 * count);
  Step step;
  step.wavefronts.shared = loads * as_double(shared_wavefronts({4 * stride, 4 * width})) + stores;
  step.issued.vector_flops = loads * kWarpLanes * as_double(width);
  step.issued.shared_bytes = step.wavefronts.shared * kLineBytes;
  step.issued.requested = {as_double(4 * count), as_double(4 * n) / blocks};
  step.issued.l1 = step.issued.l2 = {read, bytes_in_sectors(4 * n) / blocks};
  // loops[0] fills a word of shared memory; loops[1] makes kShifts accesses, unrolled 4 or 2 times.
  const double unrolled = width == 4 ? 2 : 4;
  step.warp_instructions = warps * kernel.straight + stores * kernel.loops[0] +
                           loads / as_double(kShifts) * kernel.loops[1] / unrolled;
  // The loop that fills shared memory waits for each word before it loads the next one.
  step.waits = {.global = as_double(ceil_div(count, kThreads)),
                .shared = as_double(repeats / kShifts),
                .barriers = 1};
  set_blocks(plan, {{step}});
  plan.useful.vector_flops = as_double(n * repeats * width);
  plan.arrays = {reads(0, as_double(4 * count)), writes(1, as_double(4 * n))};
  plan.reuse = {{.scope = Scope::sm, .bytes = blocks * read, .distinct_bytes = read}};
  plan.on_chip_bytes = as_double(plan.launch.shared_bytes);
  return launch_of(std::move(plan));
}

constexpr std::array<KernelModel, 6> kVariants = {{
    {"access.strided", "y[i] = x[i·stride]", kStridedParameters, kTypes, plan_strided},
    {"access.offset", "y[i] = x[i + offset]", kOffsetParameters, kTypes, plan_offset},
    {"access.gather", "y[i] = x[index[i]]", kGatherParameters, kTypes, plan_gather},
    {"access.row_wise", "y = x, lanes along the rows", kMatrixParameters, kTypes,
     plan_matrix<false>},
    {"access.column_wise", "y = x, lanes down the columns", kMatrixParameters, kTypes,
     plan_matrix<true>},
    {"access.shared", "strided loads from shared memory: bank conflicts", kSharedParameters, kFp32,
     plan_shared},
}};

}  // namespace

constinit const KernelFamily kFamily = {"access",  "one element in, one out, in various orders",
                                        {},        kTypes,
                                        nullptr,   streaming,
                                        kVariants, {}};

}  // namespace roofcast::access
