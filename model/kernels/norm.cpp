#include "model/kernels/norm.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/kernels/norm_library.hpp"
#include "model/kernels/plan_parts.hpp"

namespace roofcast::norm {
namespace {

enum class Kind : unsigned char { layernorm, rmsnorm };

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 64, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, 262144}};

bool narrow(const Problem& p) {
  return element_bytes(p) == 2;
}

// Registers of the compiled kernels (ptxas -v for sm_90a, CUDA 13.0, 2026-11-21); 0: not compiled.
struct Registers {
  Kind kind;
  DType dtype;
  std::array<std::int64_t, 4> forward;    ///< 1, 2, 4, 8 vectors a thread
  std::array<std::int64_t, 4> in_turn;    ///< the same: a block takes rows in turn
  std::array<std::int64_t, 4> clustered;  ///< the same: a cluster does
  std::array<std::int64_t, 2> streamed;   ///< forward through shared memory: a block, a cluster
  std::array<std::int64_t, 2> backward;   ///< a block, a cluster a row
  std::array<std::int64_t, 2> ring;       ///< the same, through shared memory
  std::array<std::int64_t, 2> ragged;     ///< the same, element by element
};
constexpr std::array kRegisters = {
    Registers{Kind::layernorm,
              DType::fp32,
              {36, 40, 48, 64},
              {0, 0, 60, 0},
              {0, 0, 62, 88},
              {94, 96},
              {95, 96},
              {128, 128},
              {96, 96}},
    Registers{Kind::layernorm,
              DType::fp16,
              {40, 48, 63, 0},
              {0, 58, 0, 0},
              {0, 58, 80, 0},
              {127, 127},
              {80, 80},
              {128, 128},
              {84, 93}},
    Registers{Kind::layernorm,
              DType::bf16,
              {40, 48, 55, 0},
              {0, 63, 0, 0},
              {0, 56, 72, 0},
              {127, 127},
              {72, 92},
              {128, 128},
              {84, 95}},
    Registers{Kind::rmsnorm,
              DType::fp32,
              {30, 38, 44, 56},
              {0, 0, 60, 0},
              {0, 0, 58, 79},
              {72, 79},
              {80, 86},
              {127, 128},
              {80, 90}},
    Registers{Kind::rmsnorm,
              DType::fp16,
              {35, 42, 58, 0},
              {0, 58, 0, 0},
              {0, 52, 72, 0},
              {79, 88},
              {70, 71},
              {112, 120},
              {74, 80}},
    Registers{Kind::rmsnorm,
              DType::bf16,
              {35, 42, 58, 0},
              {0, 56, 0, 0},
              {0, 64, 63, 0},
              {79, 88},
              {64, 72},
              {125, 128},
              {76, 80}},
};
constexpr std::int64_t kFinishRegisters = 32;

const Registers& registers_of(Kind kind, DType dtype) {
  const auto* const found =
      std::find_if(kRegisters.begin(), kRegisters.end(),
                   [&](const Registers& r) { return r.kind == kind && r.dtype == dtype; });
  return found == kRegisters.end() ? kRegisters.front() : *found;
}

std::size_t position_of(std::int64_t vectors) {
  std::size_t position = 0;
  while ((std::int64_t{1} << position) < vectors && position < 3) ++position;
  return position;
}

/// What the two kinds do for each element, counted in the kernels' source, and for each row.
struct Counts {
  double parameters;     ///< γ, and β
  double statistics;     ///< fp32 values a row: μ, r
  double forward_flops;  ///< Σ, centre, square | centre, scale, γ and β
  double forward_instructions;
  double backward_flops;  ///< x̂, dγ, dβ, g, two sums, dx
  double backward_instructions;
};
constexpr Counts kLayernorm = {2, 2, 8, 6, 14, 10};
constexpr Counts kRmsnorm = {1, 1, 4, 3, 11, 7};

// Estimates from the PTX: an access with its bounds test, address and padding; one of γ or β, which
// may be shifted; a thread besides; merging a warp's sums, and those of the warps.
constexpr double kInstructionsPerLoad = 9;
constexpr double kInstructionsPerRingLoad = 3;
constexpr double kInstructionsPerParameter = 11;
constexpr double kInstructionsPerStore = 5;
constexpr double kInstructionsPerThread = 80;
constexpr double kInstructionsPerMerge = 50;
constexpr double kShufflesOfWarp = 10;

const Counts& counts_of(Kind kind) {
  return kind == Kind::layernorm ? kLayernorm : kRmsnorm;
}

void add_sector_reason(Plan& plan) {
  const Work issued = issued_by_launch(plan);
  if (issued.l1.total_bytes() > 1.01 * issued.requested.total_bytes()) {
    plan.traffic_reasons.push_back(
        {Level::l1, "rows that do not begin on a sector, and one value a row for the statistics"});
  }
}

enum : ArrayId { kX, kParameterArrays, kStatistics, kResult, kDy, kPartials, kGradients };

/// How the forward pass runs: rows stream through shared memory, or the registers hold them.
struct ForwardPass {
  bool streams;
  rows::Layout layout;
  std::int64_t registers, shared_bytes;
  std::int64_t kept;  ///< of shared_bytes: γ and β of a block's columns
};

ForwardPass forward_on(Kind kind, const Problem& p, const Gpu& gpu) {
  const Registers& known = registers_of(kind, p.dtype);
  const std::int64_t parameters = kind == Kind::layernorm ? 2 : 1;
  if (forward_streams(p) && rows::has_clusters(gpu)) {
    const rows::Layout layout = forward_ring_layout(p);
    const bool clustered = layout.cluster > 1;
    return {true, layout, known.streamed[clustered ? 1 : 0],
            forward_ring_bytes(p, parameters) + rows::exchange_bytes(kMostThreads, clustered),
            forward_ring_bytes(p, parameters) - rows::ring_bytes(layout, 1, 1)};
  }
  const rows::Layout layout = forward_layout(p);
  const bool clustered = layout.cluster > 1;
  const bool in_turn = clustered || layout.rows_per_cluster > 1;
  const std::int64_t parts =
      kMostThreads / rows::kWarp * (clustered ? rows::kMaxCluster : 1) * (in_turn ? 2 : 1);
  const auto& registers = clustered ? known.clustered : in_turn ? known.in_turn : known.forward;
  const std::int64_t kept = kept_bytes(p, parameters);
  return {false, layout, registers[position_of(layout.vectors)], parts * 16 + kept, kept};
}

Plan plan_forward(Kind kind, const Problem& p, const ForwardPass& how) {
  const rows::Layout& layout = how.layout;
  const Counts& counts = counts_of(kind);
  const bool clustered = layout.cluster > 1;
  const bool in_turn = clustered || layout.rows_per_cluster > 1;
  const std::int64_t kept = how.kept;
  Plan plan = rows::plan_of(layout, p[rows::kRows], how.registers, how.shared_bytes);
  if (how.streams) plan.needs = {Instruction::bulk_copy};

  const double row_count = as_double(p[rows::kRows]);
  const double row_bytes = as_double(p[rows::kCols] * element_bytes(p));
  const double elements = row_count * as_double(p[rows::kCols]);
  const double x_bytes = row_count * row_bytes;
  const double parameter_bytes = counts.parameters * row_bytes;
  const double statistics = counts.statistics * row_count;
  plan.useful.vector_flops = counts.forward_flops * elements;
  plan.useful.special_flops = row_count;  // 1/√
  plan.useful.conversions = narrow(p) ? elements / 2 : 0;
  plan.arrays = {reads(kX, x_bytes), reads(kParameterArrays, parameter_bytes),
                 writes(kStatistics, 4 * statistics), writes(kResult, x_bytes)};

  const double in_group = kept > 0 ? as_double(layout.rows_per_cluster) : 1;
  const double groups = std::ceil(row_count / in_group);
  // γ and β by vectors, those of ragged rows by the two aligned ones around each.
  const bool ragged = p[rows::kCols] * element_bytes(p) % rows::kVectorBytes != 0;
  const double parameters = groups * parameter_bytes;
  const rows::Sectors sectors =
      rows::sectors_of(p[rows::kRows], p[rows::kCols], element_bytes(p), layout);
  const double written = (sectors.accessed + statistics) * kSectorBytes;
  // The blocks of a cluster have different columns: an SM sees all of them. Between two uses of a
  // parameter it reads one group of rows and writes it.
  plan.reuse = {{.scope = Scope::sm,
                 .bytes = parameters,
                 .distinct_bytes = parameter_bytes,
                 .distance_bytes = 2 * row_bytes * in_group + parameter_bytes}};

  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  const double accesses = warps * as_double(layout.vectors);
  const double slots = plan.on_chip_bytes / as_double(element_bytes(p));
  const double unpacks = narrow(p) ? 1 + counts.parameters + 0.5 : 0;
  const bool alone = layout.threads == rows::kWarp && !in_turn;
  const double rows_of_block = as_double(layout.rows_per_cluster);
  const double steps = as_double(plan.launch.blocks()) * rows_of_block;
  plan.on_chip_bytes += as_double(how.streams ? rows::ring_bytes(layout, 1, 1) + kept : kept);
  Step row;
  row.issued.vector_flops = slots * counts.forward_flops;
  row.issued.conversions = narrow(p) ? slots / 2 : 0;
  row.issued.special_flops = as_double(layout.threads * layout.rows_per_block);
  row.issued.requested = shared_by({x_bytes + parameters, x_bytes + 4 * statistics}, steps);
  row.issued.l1 =
      shared_by({sectors.accessed * kSectorBytes + parameters * (ragged ? 2 : 1), written}, steps);
  row.issued.l2 = shared_by({sectors.distinct * kSectorBytes + parameters, written}, steps);
  const double parameter_access = kept > 0 ? 1 : kInstructionsPerParameter;
  row.warp_instructions =
      slots / rows::kWarp * (counts.forward_instructions + unpacks) +
      accesses * ((how.streams ? kInstructionsPerRingLoad : kInstructionsPerLoad) +
                  kInstructionsPerStore + counts.parameters * parameter_access) +
      warps * (kInstructionsPerThread + (alone ? 0 : kInstructionsPerMerge));
  // Bulk copies go past L1's lookup into shared memory, from where they are read once more.
  const double streamed = how.streams ? sectors.accessed * kSectorBytes / steps : 0;
  row.wavefronts.l1 = row.wavefronts.l1_lookups =
      (row.issued.l1.total_bytes() - streamed) / as_double(kLineBytes);
  row.wavefronts.shared = (alone ? 0 : warps * as_double(layout.cluster) + 2 * warps) +
                          as_double(kept / kLineBytes) + 2 * streamed / as_double(kLineBytes);
  row.issued.shared_bytes = row.wavefronts.shared * as_double(kLineBytes);
  row.waits = {.global = kept > 0 ? 1.0 : 2.0,  // x, then γ and β
               .shared = (alone ? 1 : 2) * kShufflesOfWarp,
               .arithmetic = 2 * as_double(layout.vectors * rows::kVectorBytes / element_bytes(p)),
               .barriers = alone                       ? 0.0
                           : clustered && !how.streams ? 2.0
                                                       : 1.0};
  Step start;  // the first row of a stream, which no earlier one hides
  start.waits.global = how.streams ? 1 : 0;
  set_blocks(plan, {{std::move(start)}, {std::move(row), rows_of_block, how.streams ? 2.0 : 1.0}});
  add_sector_reason(plan);
  return plan;
}

/// How the backward pass runs: rows stream through shared memory, or the registers hold them.
struct Backward {
  bool streams;
  rows::Layout layout;
  std::int64_t row_blocks;  ///< blocks, or clusters
  std::int64_t registers, shared_bytes;
};

Backward backward_on(Kind kind, const Problem& p, const Gpu& gpu) {
  const Registers& known = registers_of(kind, p.dtype);
  const std::int64_t sms = gpu.sm_count.value_or(1);
  if (backward_streams(p) && rows::has_clusters(gpu)) {
    const rows::Layout layout = backward_ring_layout(p);
    const bool clustered = layout.cluster > 1;
    return {
        true, layout, backward_ring_blocks(p, sms), known.ring[clustered ? 1 : 0],
        rows::ring_bytes(layout, kRingStages, 2) + rows::exchange_bytes(kMostThreads, clustered)};
  }
  const rows::Layout layout = backward_layout(p);
  const bool clustered = layout.cluster > 1;
  const bool ragged = p[rows::kCols] * element_bytes(p) % rows::kVectorBytes != 0;
  const std::int64_t parts = kMostThreads / rows::kWarp * (clustered ? rows::kMaxCluster : 1);
  return {false, layout, backward_blocks(p, layout, sms),
          (ragged ? known.ragged : known.backward)[clustered ? 1 : 0], 2 * parts * 8};
}

// dx, and the strips' partial dγ and dβ.
Plan plan_backward(Kind kind, const Problem& p, const Backward& backward, double partial_bytes) {
  const rows::Layout& layout = backward.layout;
  const Counts& counts = counts_of(kind);
  const std::int64_t row_blocks = backward.row_blocks;
  const bool clustered = layout.cluster > 1;
  const bool ragged = p[rows::kCols] * element_bytes(p) % rows::kVectorBytes != 0;
  Plan plan = rows::plan_of(layout, row_blocks * layout.rows_per_block, backward.registers,
                            backward.shared_bytes);

  const double row_count = as_double(p[rows::kRows]);
  const double row_bytes = as_double(p[rows::kCols] * element_bytes(p));
  const double x_bytes = row_count * row_bytes;
  const double elements = row_count * as_double(p[rows::kCols]);
  const double statistics = counts.statistics * row_count;
  plan.useful.vector_flops = counts.backward_flops * elements;
  plan.useful.conversions = narrow(p) ? elements / 2 : 0;
  plan.arrays = {reads(kX, x_bytes),
                 reads(kDy, x_bytes),
                 reads(kParameterArrays, row_bytes),
                 reads(kStatistics, 4 * statistics),
                 writes(kResult, x_bytes),
                 scratch(kPartials, {0, partial_bytes})};

  const double gamma = as_double(row_blocks * layout.rows_per_block) * row_bytes;
  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  const double warps_a_row = as_double(layout.threads / rows::kWarp * layout.cluster);
  // As vectors, or single elements of neighbouring threads: both whole sectors but at the ends.
  const rows::Sectors sectors =
      rows::sectors_of(p[rows::kRows], p[rows::kCols], element_bytes(p), layout);
  const double accessed = sectors.accessed * kSectorBytes;
  const double slots = plan.on_chip_bytes / as_double(element_bytes(p));
  const double accesses = warps * as_double(layout.vectors) *
                          (ragged ? as_double(rows::kVectorBytes / element_bytes(p)) : 1);
  const bool alone = layout.threads == rows::kWarp && !clustered;
  const double rows_of_block =
      as_double(rows::ceil_div(p[rows::kRows], row_blocks * layout.rows_per_block));
  const double steps = as_double(plan.launch.blocks()) * rows_of_block;
  Step row;
  row.issued.vector_flops = slots * counts.backward_flops;
  row.issued.conversions = narrow(p) ? slots / 2 : 0;
  row.issued.requested = shared_by(
      {2 * x_bytes + gamma + 4 * statistics * warps_a_row, x_bytes + partial_bytes}, steps);
  row.issued.l1 = shared_by(
      {2 * accessed + gamma + statistics * warps_a_row * kSectorBytes, accessed + partial_bytes},
      steps);
  row.issued.l2 = shared_by({2 * sectors.distinct * kSectorBytes + gamma +
                                 statistics * as_double(layout.cluster) * kSectorBytes,
                             accessed + partial_bytes},
                            steps);
  row.warp_instructions =
      slots / rows::kWarp * (counts.backward_instructions + (narrow(p) ? 3.5 : 0)) +
      accesses * (2 * (backward.streams ? kInstructionsPerRingLoad : kInstructionsPerLoad) +
                  kInstructionsPerStore) +
      warps * (kShufflesOfWarp * 2 + (alone ? 0 : kInstructionsPerMerge));
  // Bulk copies go past L1's lookup into shared memory, from where they are read once more.
  const double streamed = backward.streams ? 2 * accessed / steps : 0;
  row.wavefronts.l1 = row.wavefronts.l1_lookups =
      (row.issued.l1.total_bytes() - streamed) / as_double(kLineBytes);
  row.wavefronts.shared = (alone ? 0 : warps * as_double(layout.cluster) + 2 * warps) +
                          2 * streamed / as_double(kLineBytes);
  row.issued.shared_bytes = row.wavefronts.shared * as_double(kLineBytes);
  row.waits = {.global = 1,  // loaded one row ahead
               .shared = (alone ? 1 : 2) * kShufflesOfWarp,
               .arithmetic = as_double(layout.vectors * rows::kVectorBytes / element_bytes(p)) * 2,
               .barriers = alone                            ? 0.0
                           : clustered && !backward.streams ? 2.0
                                                            : 1.0};
  Step start;
  start.waits.global = 1;
  start.warp_instructions = warps * kInstructionsPerThread + slots / rows::kWarp * 8;
  const double stages = backward.streams ? as_double(kRingStages) + 1 : 1;
  set_blocks(plan, {{std::move(start)}, {std::move(row), rows_of_block, stages}});
  add_sector_reason(plan);
  return plan;
}

// dγ and dβ from the partial sums.
Plan plan_finish(Kind kind, const Problem& p, double strips, double partial_bytes) {
  const Counts& counts = counts_of(kind);
  Plan plan;
  plan.launch.grid[0] = rows::ceil_div(p[rows::kCols], kFinishColumns);
  plan.launch.block = {kFinishColumns, kFinishThreads, 1};
  plan.launch.registers = kFinishRegisters;
  plan.launch.shared_bytes = kFinishThreads * (kFinishColumns + 1) * 4;
  const double out = counts.parameters * as_double(p[rows::kCols] * element_bytes(p));
  plan.useful.vector_flops = partial_bytes / 4;
  plan.arrays = {scratch(kPartials, {partial_bytes, 0}), writes(kGradients, out)};
  constexpr double kUnrolled = 8;
  const double blocks = as_double(plan.launch.blocks());
  const double loads = counts.parameters * strips / as_double(kFinishThreads);  // a thread
  const double warps = as_double(kFinishThreads);
  Step step;
  step.issued.vector_flops = partial_bytes / 4 / blocks;
  set_traffic(step.issued, shared_by({partial_bytes, out}, blocks));
  step.warp_instructions = warps * (loads * 3 + kInstructionsPerThread);
  step.wavefronts.l1 = step.wavefronts.l1_lookups = warps * loads;
  step.waits = {.global = std::max(counts.parameters, loads / kUnrolled),
                .shared = counts.parameters * 6,
                .arithmetic = loads,
                .barriers = counts.parameters * 2};
  set_blocks(plan, {{std::move(step)}});
  return plan;
}

void check_layout(const Problem& p, const rows::Layout& layout, std::int64_t most) {
  if (layout.vectors > most || rows::power_of_two_from(layout.vectors) != layout.vectors) {
    throw InputError("vectors is " + std::to_string(layout.vectors) +
                     ": give a power of two, at most " + std::to_string(most));
  }
  if (rows::power_of_two_from(layout.cluster) != layout.cluster) {
    throw InputError("cluster is " + std::to_string(layout.cluster) +
                     ": give 1, 2, 4, 8 or 16 blocks, or 0 to choose by the row length");
  }
  if (layout.rows_per_cluster > 1 && 2 * layout.vectors < most) {
    throw InputError("vectors is " + std::to_string(layout.vectors) + ": rows in turn take " +
                     std::to_string(most / 2) + " or, in a cluster, " + std::to_string(most));
  }
  if (layout.threads > kMostThreads) {
    throw InputError("a row of " + std::to_string(p[rows::kCols]) +
                     " elements does not fit the registers of " + std::to_string(layout.cluster) +
                     " blocks: use a larger cluster (at most 16) or shorter rows");
  }
}

template <Kind kKind>
Program plan(const Problem& p, const Gpu& gpu) {
  constexpr std::string_view kCaveat = "instructions are estimated from the PTX";
  if (p[kPass] == kForward) {
    const ForwardPass how = forward_on(kKind, p, gpu);
    check_layout(p, how.layout, how.streams ? how.layout.vectors : most_vectors(p));
    Plan forward = plan_forward(kKind, p, how);
    forward.caveat = kCaveat;
    return {{forward}};
  }
  const Backward how = backward_on(kKind, p, gpu);
  check_layout(p, how.layout, how.layout.vectors);
  const double strips = as_double(how.row_blocks * how.layout.rows_per_block);
  const double partial_bytes = counts_of(kKind).parameters * strips * as_double(p[rows::kCols]) * 4;
  Plan backward = plan_backward(kKind, p, how, partial_bytes);
  backward.caveat = kCaveat;
  return {{backward}, {plan_finish(kKind, p, strips, partial_bytes)}};
}

constexpr std::array<std::string_view, 2> kPasses = {"forward", "backward"};
constexpr std::array kParameters = {
    rows::kShape[0],
    rows::kShape[1],
    choice("pass", "forward; or backward, from x, dy and the forward pass's statistics", kPasses,
           kForward),
    setting("vectors", "16-byte accesses a thread holds, forward: 1, 2, 4, 8; 0: by the row length",
            0, 8, 0),
    setting("cluster", "blocks that share a row, forward: 1, 2, 4, 8, 16; 0: by the row length", 0,
            16, 0),
    setting("rows_per_cluster", "rows a block takes one after the other, forward; 0: by the shape",
            0, 1024, 0)};

constexpr std::array<KernelModel, 3> kVariants = {{
    {"norm.layernorm", "by mean and variance, with γ and β: the row in registers, read once",
     kParameters, kTypes, plan<Kind::layernorm>},
    {"norm.rmsnorm", "by the root mean square, with γ: the row in registers, read once",
     kParameters, kTypes, plan<Kind::rmsnorm>},
    kLibrary,
}};

}  // namespace

constinit const KernelFamily kFamily = {"norm",      "y = γ·(x - μ)·r + β, a row at a time",
                                        kParameters, kTypes,
                                        nullptr,     streaming,
                                        kVariants,   kValidated};

}  // namespace roofcast::norm
