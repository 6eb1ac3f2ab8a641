#include "model/kernels/norm/norm.hpp"

#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/rows.hpp"

namespace roofcast::norm {

void add_sector_reason(Plan& plan) {
  const Work issued = issued_by_launch(plan);
  if (issued.l1.total_bytes() > 1.01 * issued.requested.total_bytes()) {
    plan.notes.traffic_reasons.push_back(
        {Level::l1, "rows that do not begin on a sector, and one value a row for the statistics"});
  }
}

void check_layout(const Problem& p, const rows::Layout& layout) {
  require(!is_streamed(p) || rows_are_aligned(p), "rows of ", p[rows::kCols],
          " elements are no multiple of 16 bytes, as bulk copies need: use staging registers");
  rows::check_cluster(layout.cluster);
  require(layout.threads <= kMostThreads, "a row of ", p[rows::kCols],
          " elements does not fit the registers of ", layout.cluster,
          " blocks: use a larger cluster (at most 16) or shorter rows");
}

namespace {

// How the forward pass runs.
struct Forward {
  bool in_turn;  // registers hold one row after the other, or a slice of each in a cluster
  rows::Layout layout;
  compiled::Kernel kernel;
  std::int64_t dynamic_bytes;  // shared memory of rings, and of γ and β; 0 where these are not kept
};

Forward forward_of(Kind kind, const Problem& p) {
  const bool streams = is_streamed(p);
  const rows::Layout layout = forward_layout(p);
  const bool clustered = layout.cluster > 1;
  const bool in_turn = !streams && (clustered || layout.rows_per_cluster > 1);
  const compiled::Kernel kernel =
      streams ? compiled::kernel("norm::forward_ring_kernel", p.dtype, kind, clustered)
      : in_turn
          ? compiled::kernel("norm::several_rows_kernel", p.dtype, layout.vectors, kind, clustered)
          : compiled::kernel("norm::forward_kernel", p.dtype, layout.vectors, kind);
  return {in_turn, layout, kernel,
          forward_bytes(p, static_cast<std::int64_t>(counts_of(kind).parameters))};
}

rows::Instructions instructions_of(Kind kind, const Problem& p, const Forward& how) {
  // Instructions that shift a vector of γ or β out of the two aligned ones around it.
  constexpr double kShift = 17;
  const auto& loops = how.kernel.loops;
  const double parameters = counts_of(kind).parameters;
  const double turns = rows::turns_of_merge(how.layout);
  // Instructions saved beyond the row: centring, square, scaling, γ and β, two unpackings of x.
  const double beyond = rows::access_instructions(p, 2 + parameters, 2 + parameters);
  if (is_streamed(p)) {
    return {.row = loops[0] + (loops[1] + loops[2]) * turns,
            .beyond = beyond,
            .start = how.kernel.straight};
  }
  // A row takes the same instructions whether or not its block takes more rows. The straight part
  // of the compiled kernel shifts γ and β, except layernorm's in 16 bits.
  const compiled::Kernel one =
      compiled::kernel("norm::forward_kernel", p.dtype, how.layout.vectors, kind);
  const bool ragged = !rows_are_aligned(p), shifts = kind == Kind::rmsnorm || !rows::has_16_bits(p);
  const double shift = parameters * kShift;
  const double merging = (one.loops[0] + one.loops[1]) * turns + rows::kInstructionsOfMerge;
  return {.row = one.straight + rows::kInstructionsOfEnds +
                 as_double(how.layout.vectors) * shift * ((ragged ? 1 : 0) - (shifts ? 1 : 0)) +
                 (how.layout.is_of_warps() ? 0 : merging),
          .beyond = beyond + (ragged ? shift : 0),
          .start = how.in_turn ? how.kernel.straight : 0};
}

LaunchSequence plan_forward(Kind kind, const Problem& p) {
  rows::check_chosen({p[kStaging], p[kVectors], p[kCluster], p[kRowsPerCluster]});
  const Forward how = forward_of(kind, p);
  const bool streams = is_streamed(p);
  require(!streams || p[kVectors] == kForwardRingVectors, "vectors is ", p[kVectors],
          ": rows that arrive in shared memory take 8");
  const rows::Layout& layout = how.layout;
  const bool clustered = layout.cluster > 1;
  const std::int64_t most = rows::most_vectors(p.dtype);
  if (!streams) rows::check_vectors(layout.vectors, most);
  check_layout(p, layout);
  require(how.kernel.registers != 0, "vectors is ", layout.vectors, ": rows in turn take ",
          most / 2, " or, in a cluster, ", most);
  const std::int64_t exchanged = streams ? rows::exchange_bytes(kMostThreads, clustered)
                                         : parts_bytes(clustered) * (how.in_turn ? 2 : 1);
  Plan plan = rows::plan_of(layout, layout.blocks(p[rows::kRows]), how.kernel.registers,
                            exchanged + how.dynamic_bytes);
  plan.on_chip_bytes += as_double(how.dynamic_bytes);

  const rows::Matrix x = rows::matrix_of(p, layout);
  const Counts counts = counts_of(kind);
  const double parameter_bytes = counts.parameters * x.row_bytes;
  const double statistics = counts.parameters * x.rows;
  const Work each = rows::with_conversions(p, {.vector_flops = counts.forward_flops});
  plan.useful = x.elements * each;
  plan.useful.special_flops += x.rows;  // 1/√
  plan.arrays = {reads_activation(kX, x.bytes), reads(kParameterArrays, parameter_bytes),
                 writes(kStatistics, 4 * statistics), writes(kResult, x.bytes)};
  // Between two uses of γ and β an SM reads and writes one group of rows. In a cluster L1 keeps
  // nothing: acquiring what other blocks sent invalidates it.
  const double in_group = how.dynamic_bytes > 0 ? as_double(layout.rows_per_cluster) : 1;
  const double parameters = std::ceil(x.rows / in_group) * parameter_bytes;
  if (!clustered) {
    plan.reuse = {{.scope = Scope::sm,
                   .bytes = parameters,
                   .distinct_bytes = parameter_bytes,
                   .distance_bytes = 2 * x.row_bytes * in_group + parameter_bytes}};
  }

  Work beside;
  beside.requested = {parameters, 4 * statistics};
  beside.l1 = beside.l2 = {parameters, statistics * kSectorBytes};
  // Registers that hold two rows load the next x ahead. A cluster's barrier waits for all accesses.
  const bool loads_ahead = how.in_turn && 2 * layout.vectors <= most;
  const bool drained = clustered && !streams && !loads_ahead;
  // γ and β outside shared memory take a round trip a vector: loads wait for stores that may alias.
  const double of_parameters =
      how.dynamic_bytes > 0 ? 0 : std::ceil(x.inside / as_double(layout.warps()));
  rows::set_rows(plan,
                 {.matrix = x,
                  .instructions = instructions_of(kind, p, how),
                  .streams = streams,
                  .each = each,
                  // The compiler splits 16-byte stores of forward_several.cu's kernels into four.
                  .parts = how.in_turn ? 4.0 : 1.0,
                  .beside = beside,
                  .round_trips = (streams ? 0 : 1) + of_parameters + (drained ? 1 : 0),
                  .sums = streams ? 4.0 : 1.0,
                  .ahead = streams || (loads_ahead && !clustered) ? 1.0 : 0.0});
  add_sector_reason(plan);
  return launch_of(std::move(plan));
}

template <Kind kKind>
LaunchSequence plan(const Problem& p, const Gpu& gpu) {
  return p[kPass] == kForward ? plan_forward(kKind, p) : plan_backward(kKind, p, gpu);
}

// Vectors per thread to try, forward. Kernels that hold several rows in registers are compiled for
// half of the most vectors, those for clusters also for the most.
rows::Values vectors_of(const Problem& p) {
  if (is_streamed(p)) return {kForwardRingVectors};
  if (p[kCluster] == 1 && p[kRowsPerCluster] == 1) return rows::held_vectors(p, kMostThreads);
  const std::int64_t most = rows::most_vectors(p.dtype), half = most / 2;
  if (p[kCluster] == 1) return {half};
  const bool fits_half = rows::vectors_of(p) <= p[kCluster] * half * kMostThreads;
  return fits_half ? rows::Values{half, most} : rows::Values{most};
}

std::vector<Problem> candidates(const Problem& p, const Gpu& gpu) {
  const bool can_stream = gpu.features.has(Instruction::bulk_copy) && rows_are_aligned(p) &&
                          (p[kVectors] == kToChoose || p[kVectors] == kForwardRingVectors);
  std::vector<Problem> staged = rows::with_each({p}, kStaging, [&](const Problem&) {
    return can_stream ? rows::Values{kInRegisters, kInShared} : rows::Values{kInRegisters};
  });
  if (p[kPass] == kBackward) return staged;
  const auto smallest_cluster = [](const Problem& one) {
    return is_streamed(one) ? rows::cluster_for(rows::row_bytes(one), kForwardRingSliceBytes)
                            : rows::cluster_for(rows::vectors_of(one),
                                                rows::most_vectors(one.dtype) * kMostThreads);
  };
  return rows::with_each(rows::with_clusters(staged, kCluster, smallest_cluster, gpu), kVectors,
                         vectors_of);
}

constexpr std::array<std::string_view, 3> kStagings = {"fastest", "registers", "shared"};
constexpr roofcast::Parameter kStagingSetting = {
    "staging", "where rows arrive: in registers, or with bulk copies in shared memory, a row ahead",
    0,         kInShared,
    kChosen,   true,
    kStagings};
constexpr std::array kParameters = with_own(
    rows::kShape,
    choice("pass", "forward; or backward, from x, dy and the forward pass's statistics", kPassNames,
           kForward),
    open_setting("vectors", "16-byte accesses a thread holds, forward: 1, 2, 4, 8; 0: the fastest",
                 8),
    open_setting("cluster", "blocks that share a row, forward: 1, 2, 4, 8, 16; 0: the fastest", 16),
    open_setting("rows_per_cluster",
                 "rows a block takes one after the other, forward; 0: the fastest", 1024),
    kStagingSetting);

constexpr std::array<KernelModel, 3> kVariants = {{
    {"norm.layernorm", "by mean and variance, with γ and β: the row in registers, read once",
     kParameters, rows::kTypes, plan<Kind::layernorm>, candidates},
    {"norm.rmsnorm", "by the root mean square, with γ: the row in registers, read once",
     kParameters, rows::kTypes, plan<Kind::rmsnorm>, candidates},
    kLibrary,
}};

}  // namespace

constinit const KernelFamily kFamily = {"norm",      "y = γ·(x - μ)·r + β, a row at a time",
                                        kParameters, rows::kTypes,
                                        kVariants,   rows::kValidated};

}  // namespace roofcast::norm
