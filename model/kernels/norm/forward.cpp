#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/norm/passes.hpp"

namespace roofcast::norm {
namespace {

/// How the forward pass runs: rows stream through shared memory, or the registers hold them.
struct ForwardPass {
  bool streams;
  rows::Layout layout;
  std::int64_t registers, shared_bytes;
  std::int64_t kept;  ///< of shared_bytes: γ and β of a block's columns
};

ForwardPass forward_of(Kind kind, const Problem& p) {
  const std::int64_t parameters = kind == Kind::layernorm ? 2 : 1;
  if (p[kStaging] == kInShared) {
    check_streams(p);
    if (p[kVectors] != kForwardRingVectors) {
      throw InputError("vectors is " + std::to_string(p[kVectors]) +
                       ": rows that arrive in shared memory take 8");
    }
    const rows::Layout layout = forward_ring_layout(p);
    const bool clustered = layout.cluster > 1;
    return {true, layout,
            compiled::registers("norm::forward_ring_kernel", p.dtype, kind, clustered),
            forward_ring_bytes(p, parameters) + rows::exchange_bytes(kMostThreads, clustered),
            forward_ring_bytes(p, parameters) - rows::ring_bytes(layout, 1, 1)};
  }
  const rows::Layout layout = forward_layout(p);
  const bool clustered = layout.cluster > 1;
  const bool in_turn = clustered || layout.rows_per_cluster > 1;
  const std::int64_t parts =
      kMostThreads / rows::kWarp * (clustered ? rows::kMaxCluster : 1) * (in_turn ? 2 : 1);
  const std::int64_t registers =
      in_turn ? compiled::registers("norm::several_rows_kernel", p.dtype, layout.vectors, kind,
                                    clustered)
              : compiled::registers("norm::forward_kernel", p.dtype, layout.vectors, kind);
  const std::int64_t kept = kept_bytes(p, parameters);
  return {false, layout, registers, parts * 16 + kept, kept};
}

bool takes_turns(const ForwardPass& how) {
  return how.layout.cluster > 1 || how.layout.rows_per_cluster > 1;
}

// With room in the registers the next row's x is under way meanwhile.
bool loads_ahead(const Problem& p, const ForwardPass& how) {
  return takes_turns(how) && !how.streams && 2 * how.layout.vectors <= most_vectors(p);
}

// x, then γ and β: where they are not kept, after the stores of the vector before, which may have
// changed them. A barrier of a cluster waits for the loads and stores that are under way. `in_row`:
// vectors of a thread that lie inside the row.
/// Where a row in turn begins and ends: its address and edges, as in the machine code of the
/// reductions (32), and the factor of the row: merged parts, root, products (28).
constexpr double kDependentOfTurn = 60;

Waits waits_of_row(const Problem& p, const ForwardPass& how, double in_row) {
  const rows::Layout& layout = how.layout;
  const bool clustered = layout.cluster > 1;
  const bool alone = layout.threads == rows::kWarp && !takes_turns(how);
  const bool drained = clustered && !how.streams && !loads_ahead(p, how);
  const double exchanges = how.streams ? 1 : kExchangesOfBarrier;
  return {.global = (how.streams ? 0 : 1) + (how.kept > 0 ? 0 : in_row) + (drained ? 1 : 0),
          .tile_loads = how.streams ? 1.0 : 0.0,
          .shared = (alone ? 1 : 2) * kShufflesOfWarp,
          .arithmetic = 2 * as_double(layout.vectors * rows::kVectorBytes / element_bytes(p)) +
                        (takes_turns(how) && !how.streams ? kDependentOfTurn : 0),
          .barriers = alone || clustered ? 0.0 : 1.0,
          .cluster_exchanges = clustered ? exchanges : 0};
}

Plan plan_rows(Kind kind, const Problem& p, const ForwardPass& how) {
  const rows::Layout& layout = how.layout;
  const Counts& counts = counts_of(kind);
  const bool clustered = layout.cluster > 1;
  const bool in_turn = takes_turns(how);
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
  plan.arrays = {reads_activation(kX, x_bytes), reads(kParameterArrays, parameter_bytes),
                 writes(kStatistics, 4 * statistics), writes(kResult, x_bytes)};

  const double in_group = kept > 0 ? as_double(layout.rows_per_cluster) : 1;
  const double groups = std::ceil(row_count / in_group);
  // γ and β by vectors, those of ragged rows by the two aligned ones around each.
  const bool ragged = p[rows::kCols] * element_bytes(p) % rows::kVectorBytes != 0;
  const double parameters = groups * parameter_bytes;
  const rows::Sectors sectors =
      rows::sectors_of(p[rows::kRows], p[rows::kCols], element_bytes(p), layout);
  const double written = (sectors.accessed + statistics) * kSectorBytes;
  // The compiler stores 16 bytes of a thread as four parts where rows come in turn.
  const double parts = in_turn && !how.streams ? 4 : 1;
  plan.arrays.back().split = {sectors.accessed, parts,
                              as_double(layout.threads * rows::kVectorBytes)};
  // Between two uses of a parameter an SM reads one group of rows and writes it. What a cluster
  // exchanges is acquired beyond the block, which invalidates L1.
  if (!clustered) {
    plan.reuse = {{.scope = Scope::sm,
                   .bytes = parameters,
                   .distinct_bytes = parameter_bytes,
                   .distance_bytes = 2 * row_bytes * in_group + parameter_bytes}};
  }

  const double warps = as_double(layout.threads * layout.rows_per_block / rows::kWarp);
  const double accesses = warps * as_double(layout.vectors);
  const double slots = plan.on_chip_bytes / as_double(element_bytes(p));
  const bool alone = layout.threads == rows::kWarp && !in_turn;
  const double rows_of_block = as_double(layout.rows_per_cluster);
  const double steps = as_double(plan.launch.blocks()) * rows_of_block;
  plan.on_chip_bytes += as_double(how.streams ? rows::ring_bytes(layout, 1, 1) + kept : kept);
  Step row;
  row.issued.vector_flops = slots * counts.forward_flops;
  row.issued.conversions = narrow(p) ? slots / 2 : 0;
  row.issued.special_flops = as_double(layout.threads * layout.rows_per_block);
  row.issued.requested = shared_by({x_bytes + parameters, x_bytes + 4 * statistics}, steps);
  row.issued.l1 = shared_by({sectors.accessed * kSectorBytes + parameters * (ragged ? 2 : 1),
                             written + (parts - 1) * sectors.accessed * kSectorBytes},
                            steps);
  row.issued.l2 = shared_by({sectors.distinct * kSectorBytes + parameters, written}, steps);
  const rows::Instructions& counted = instructions_of(how.streams ? Form::streamed
                                                      : in_turn   ? Form::in_turn
                                                                  : Form::one_row,
                                                      kind, p);
  const double inside = rows::accesses_inside(p[rows::kCols], element_bytes(p), layout);
  row.warp_instructions =
      rows::instructions_of_row(counted, inside, accesses, warps, alone ? 0 : 1) +
      (ragged ? inside * counted.shifted : 0);
  // Bulk copies go past L1's lookup into shared memory, from where they are read once more.
  const double streamed = how.streams ? sectors.accessed * kSectorBytes / steps : 0;
  row.wavefronts.l1 = row.wavefronts.l1_lookups =
      (row.issued.l1.total_bytes() - streamed) / as_double(kLineBytes);
  row.wavefronts.shared = (alone ? 0 : warps * as_double(layout.cluster) + 2 * warps) +
                          as_double(kept / kLineBytes) + 2 * streamed / as_double(kLineBytes);
  row.issued.shared_bytes = row.wavefronts.shared * as_double(kLineBytes);
  const bool ahead = loads_ahead(p, how);
  row.waits = waits_of_row(p, how, std::ceil(inside / warps));
  Step start;  // the first row of a stream, which no earlier one hides
  start.waits.global = ahead ? 1 : 0;
  start.waits.tile_loads = how.streams ? rows::kLoadsOfStart : 0;
  start.waits.cluster_exchanges = clustered ? rows::kExchangesOfStart : 0;
  start.warp_instructions = warps * counted.start;
  plan.arrays.front().pattern.out_of_step = rows_of_block > 1;
  set_blocks(plan,
             {{start}, {row, rows_of_block, how.streams || (ahead && !clustered) ? 1.0 : 0.0}});
  add_sector_reason(plan);
  return plan;
}

}  // namespace

LaunchSequence plan_forward(Kind kind, const Problem& p) {
  rows::check_chosen({p[kStaging], p[kVectors], p[kCluster], p[kRowsPerCluster]});
  const ForwardPass how = forward_of(kind, p);
  const std::int64_t most = most_vectors(p);
  check_layout(p, how.layout, how.streams ? how.layout.vectors : most);
  if (how.registers == 0) {
    throw InputError("vectors is " + std::to_string(how.layout.vectors) + ": rows in turn take " +
                     std::to_string(most / 2) + " or, in a cluster, " + std::to_string(most));
  }
  return launch_of(plan_rows(kind, p, how));
}

}  // namespace roofcast::norm
