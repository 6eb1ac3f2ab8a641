#include "model/kernels/norm.hpp"

#include <algorithm>
#include <string>

#include "model/counting/coalescing.hpp"
#include "model/counting/io_complexity.hpp"
#include "model/kernels/norm_library.hpp"

namespace roofcast::norm {
namespace {

enum class Kind : unsigned char { layernorm, rmsnorm };

constexpr std::array kTypes = {DType::fp32, DType::fp16, DType::bf16};

// validation/sweeps/rows.json.
constexpr std::array kValidated = {ValidatedRange{rows::kRows, 64, std::int64_t{1} << 20},
                                   ValidatedRange{rows::kCols, 128, 262144}};

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

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

// Where blocks of one SM read γ and β: once an SM as far as L1 keeps them beside the rows.
double parameter_reads(const Launch& launch, double requested, double once, double slice_bytes,
                       const Gpu& gpu) {
  // Between two uses of a parameter an SM reads one slice and writes it.
  const double misses = rows::l1_miss_share(0, 2 * slice_bytes + once, launch, gpu);
  const double sms = as_double(std::min(launch.blocks(), gpu.sm_count.value_or(1)));
  return misses * requested + (1 - misses) * std::min(requested, sms * once);
}

void add_sector_reason(Plan& plan) {
  if (plan.total.l1.total_bytes() > 1.01 * plan.total.requested.total_bytes()) {
    plan.traffic_reasons.push_back(
        {Level::l1, "rows that do not begin on a sector, and one value a row for the statistics"});
  }
}

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

Plan plan_forward(Kind kind, const Problem& p, const Gpu& gpu, const ForwardPass& how) {
  const rows::Layout& layout = how.layout;
  const Counts& counts = counts_of(kind);
  const bool clustered = layout.cluster > 1;
  const bool in_turn = clustered || layout.rows_per_cluster > 1;
  const std::int64_t kept = how.kept;
  Plan plan = rows::plan_of(layout, p[rows::kRows], how.registers, how.shared_bytes);

  const double row_count = as_double(p[rows::kRows]);
  const double row_bytes = as_double(p[rows::kCols] * element_bytes(p));
  const double elements = row_count * as_double(p[rows::kCols]);
  const double parameter_bytes = counts.parameters * row_bytes;
  const double statistics = counts.statistics * row_count;
  const double groups =
      as_double(rows::ceil_div(p[rows::kRows], kept > 0 ? layout.rows_per_cluster : 1));
  const rows::Sectors sectors =
      rows::sectors_of(p[rows::kRows], p[rows::kCols], element_bytes(p), layout);
  Work& work = plan.total;
  work.vector_flops = counts.forward_flops * elements;
  work.special_flops = row_count;  // 1/√
  work.conversions = narrow(p) ? elements / 2 : 0;
  work.compulsory = {row_count * row_bytes + parameter_bytes,
                     row_count * row_bytes + 4 * statistics};
  work.dram_footprint = work.compulsory;
  work.requested = {row_count * row_bytes + groups * parameter_bytes, work.compulsory.write_bytes};
  // γ and β by vectors, those of ragged rows by the two aligned ones around each.
  const bool ragged = p[rows::kCols] * element_bytes(p) % rows::kVectorBytes != 0;
  const double parameter_l1 = groups * parameter_bytes * (ragged ? 2 : 1);
  const double written = (sectors.accessed + statistics) * kSectorBytes;
  work.l1 = {sectors.accessed * kSectorBytes + parameter_l1, written};
  // The blocks of a cluster have different columns: an SM sees all of them.
  work.l2 = {
      sectors.distinct * kSectorBytes +
          parameter_reads(plan.launch, groups * parameter_bytes, parameter_bytes,
                          row_bytes * as_double(kept > 0 ? layout.rows_per_cluster : 1), gpu),
      written};
  add_sector_reason(plan);

  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  const double accesses = warps * as_double(layout.vectors);
  const double slots = plan.on_chip_bytes / as_double(element_bytes(p));
  const double unpacks = narrow(p) ? 1 + counts.parameters + 0.5 : 0;
  const bool alone = layout.threads == rows::kWarp && !in_turn;
  const double blocks = as_double(plan.launch.blocks());
  plan.on_chip_bytes += as_double(how.streams ? rows::ring_bytes(layout, 1, 1) + kept : kept);
  plan.block.steps = as_double(layout.rows_per_cluster);
  Step& step = plan.block.step;  // a row
  step.vector_flops = slots * counts.forward_flops;
  step.conversions = narrow(p) ? slots / 2 : 0;
  step.special_ops = as_double(layout.threads * layout.rows_per_block);
  const double parameter_access = kept > 0 ? 1 : kInstructionsPerParameter;
  step.instructions = slots / rows::kWarp * (counts.forward_instructions + unpacks) +
                      accesses * ((how.streams ? kInstructionsPerRingLoad : kInstructionsPerLoad) +
                                  kInstructionsPerStore + counts.parameters * parameter_access) +
                      warps * (kInstructionsPerThread + (alone ? 0 : kInstructionsPerMerge));
  step.l2_bytes = work.l2.total_bytes() / blocks / plan.block.steps;
  // Bulk copies go past L1's lookup into shared memory, from where they are read once more.
  const double streamed = how.streams ? sectors.accessed * kSectorBytes : 0;
  step.l1_wavefronts = step.l1_lookups =
      (work.l1.total_bytes() - streamed) / blocks / plan.block.steps / as_double(kLineBytes);
  step.global_round_trips = how.streams ? 0 : kept > 0 ? 1 : 2;  // x, then γ and β
  plan.block.once.global_round_trips = how.streams ? 1 : 0;
  step.shared_round_trips = (alone ? 1 : 2) * kShufflesOfWarp;
  step.dependent_fmas = 2 * as_double(layout.vectors * rows::kVectorBytes / element_bytes(p));
  step.barriers = alone ? 0 : clustered && !how.streams ? 2 : 1;
  step.shared_wavefronts = alone ? 0 : warps * as_double(layout.cluster) + 2 * warps;
  if (kept > 0) step.shared_wavefronts += as_double(kept / kLineBytes);
  step.shared_wavefronts += 2 * streamed / blocks / plan.block.steps / as_double(kLineBytes);
  work.shared_bytes = step.shared_wavefronts * as_double(kLineBytes) * blocks * plan.block.steps;
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
  const double elements = row_count * as_double(p[rows::kCols]);
  const double statistics = counts.statistics * row_count;
  const double blocks = as_double(plan.launch.blocks());
  // As vectors, or single elements of neighbouring threads: both whole sectors but at the ends.
  const rows::Sectors sectors =
      rows::sectors_of(p[rows::kRows], p[rows::kCols], element_bytes(p), layout);
  Work& work = plan.total;
  work.vector_flops = counts.backward_flops * elements;
  work.conversions = narrow(p) ? elements / 2 : 0;
  work.compulsory = {2 * row_count * row_bytes + row_bytes + 4 * statistics, row_count * row_bytes};
  work.dram_footprint = work.compulsory;
  work.dram_footprint.write_bytes += partial_bytes;
  const double gamma = as_double(row_blocks * layout.rows_per_block) * row_bytes;
  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  const double warps_a_row = as_double(layout.threads / rows::kWarp * layout.cluster);
  work.requested = {2 * row_count * row_bytes + gamma + 4 * statistics * warps_a_row,
                    row_count * row_bytes + partial_bytes};
  work.l1 = {2 * sectors.accessed * kSectorBytes + gamma + statistics * warps_a_row * kSectorBytes,
             sectors.accessed * kSectorBytes + partial_bytes};
  work.l2 = {2 * sectors.distinct * kSectorBytes + gamma +
                 statistics * as_double(layout.cluster) * kSectorBytes,
             work.l1.write_bytes};
  add_sector_reason(plan);

  const double slots = plan.on_chip_bytes / as_double(element_bytes(p));
  const double accesses = warps * as_double(layout.vectors) *
                          (ragged ? as_double(rows::kVectorBytes / element_bytes(p)) : 1);
  const bool alone = layout.threads == rows::kWarp && !clustered;
  plan.block.steps = as_double(rows::ceil_div(p[rows::kRows], row_blocks * layout.rows_per_block));
  Step& step = plan.block.step;  // a row
  step.vector_flops = slots * counts.backward_flops;
  step.conversions = narrow(p) ? slots / 2 : 0;
  step.instructions =
      slots / rows::kWarp * (counts.backward_instructions + (narrow(p) ? 3.5 : 0)) +
      accesses * (2 * (backward.streams ? kInstructionsPerRingLoad : kInstructionsPerLoad) +
                  kInstructionsPerStore) +
      warps * (kShufflesOfWarp * 2 + (alone ? 0 : kInstructionsPerMerge));
  step.l2_bytes = work.l2.total_bytes() / blocks / plan.block.steps;
  // Bulk copies go past L1's lookup into shared memory, from where they are read once more.
  const double streamed = backward.streams ? 2 * sectors.accessed * kSectorBytes : 0;
  step.l1_wavefronts = step.l1_lookups =
      (work.l1.total_bytes() - streamed) / blocks / plan.block.steps / as_double(kLineBytes);
  step.global_round_trips = backward.streams ? 0 : 1;  // loaded one row ahead
  plan.block.once.global_round_trips = 1;
  step.shared_round_trips = (alone ? 1 : 2) * kShufflesOfWarp;
  step.dependent_fmas = as_double(layout.vectors * rows::kVectorBytes / element_bytes(p)) * 2;
  step.barriers = alone ? 0 : clustered && !backward.streams ? 2 : 1;
  step.shared_wavefronts = (alone ? 0 : warps * as_double(layout.cluster) + 2 * warps) +
                           2 * streamed / blocks / plan.block.steps / as_double(kLineBytes);
  plan.block.once.instructions = warps * kInstructionsPerThread + slots / rows::kWarp * 8;
  work.shared_bytes = step.shared_wavefronts * as_double(kLineBytes) * blocks * plan.block.steps;
  return plan;
}

// dγ and dβ from the partial sums, which L2 still holds.
Plan plan_finish(Kind kind, const Problem& p, double strips, double partial_bytes) {
  const Counts& counts = counts_of(kind);
  Plan plan;
  plan.launch.grid[0] = rows::ceil_div(p[rows::kCols], kFinishColumns);
  plan.launch.block = {kFinishColumns, kFinishThreads, 1};
  plan.launch.registers = kFinishRegisters;
  plan.launch.shared_bytes = kFinishThreads * (kFinishColumns + 1) * 4;
  const double out = counts.parameters * as_double(p[rows::kCols] * element_bytes(p));
  Work& work = plan.total;
  work.vector_flops = partial_bytes / 4;
  work.compulsory = {0, out};
  work.dram_footprint = work.requested = work.l1 = work.l2 = {partial_bytes, out};
  plan.reuse = {.read_bytes = partial_bytes, .write_bytes = 0, .distance_bytes = partial_bytes};
  constexpr double kUnrolled = 8;
  const double loads = counts.parameters * strips / as_double(kFinishThreads);  // a thread
  const double warps = as_double(kFinishThreads);
  plan.block.steps = 0;
  Step& once = plan.block.once;
  once.vector_flops = partial_bytes / 4 / as_double(plan.launch.blocks());
  once.instructions = warps * (loads * 3 + kInstructionsPerThread);
  once.l2_bytes = (partial_bytes + out) / as_double(plan.launch.blocks());
  once.l1_wavefronts = once.l1_lookups = warps * loads;
  once.global_round_trips = std::max(counts.parameters, loads / kUnrolled);
  once.dependent_fmas = loads;
  once.shared_round_trips = counts.parameters * 6;
  once.barriers = counts.parameters * 2;
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
Plans plan(const Problem& p, const Gpu& gpu) {
  constexpr std::string_view kCaveat = "instructions are estimated from the PTX";
  if (p[kPass] == kForward) {
    const ForwardPass how = forward_on(kKind, p, gpu);
    check_layout(p, how.layout, how.streams ? how.layout.vectors : most_vectors(p));
    Plan forward = plan_forward(kKind, p, gpu, how);
    forward.caveat = kCaveat;
    return {forward};
  }
  const Backward how = backward_on(kKind, p, gpu);
  check_layout(p, how.layout, how.layout.vectors);
  const double strips = as_double(how.row_blocks * how.layout.rows_per_block);
  const double partial_bytes = counts_of(kKind).parameters * strips * as_double(p[rows::kCols]) * 4;
  Plan backward = plan_backward(kKind, p, how, partial_bytes);
  backward.caveat = kCaveat;
  return {backward, plan_finish(kKind, p, strips, partial_bytes)};
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

IoComplexity io(const Problem& /*problem*/, double compulsory_bytes, double on_chip_bytes) {
  return streaming_io(compulsory_bytes, on_chip_bytes);
}

}  // namespace

constinit const KernelFamily kFamily = {
    "norm",    "y = γ·(x - μ)·r + β, a row at a time", kParameters, kTypes, nullptr, io, kVariants,
    kValidated};

}  // namespace roofcast::norm
