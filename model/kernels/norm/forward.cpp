#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/norm/passes.hpp"

namespace roofcast::norm {
namespace {

// How the pass runs: rows stream through shared memory, or the registers hold them, one or several
// in turn.
struct Forward {
  bool streams;
  rows::Layout layout;
  bool in_turn;
  compiled::Kernel kernel;
  std::int64_t ring, kept;  // shared memory: for rows; for γ and β of a block's columns
};

Forward forward_of(Kind kind, const Problem& p) {
  const auto parameters = static_cast<std::int64_t>(counts_of(kind).parameters);
  if (p[kStaging] == kInShared) {
    check_streams(p);
    require(p[kVectors] == kForwardRingVectors, "vectors is ", p[kVectors],
            ": rows that arrive in shared memory take 8");
    const rows::Layout layout = forward_ring_layout(p);
    const std::int64_t ring = rows::ring_bytes(layout, 1, 1);
    return {true, layout,
            true, compiled::kernel("norm::forward_ring_kernel", p.dtype, kind, layout.cluster > 1),
            ring, forward_ring_bytes(p, parameters) - ring};
  }
  const rows::Layout layout = forward_layout(p);
  const bool in_turn = layout.cluster > 1 || layout.rows_per_cluster > 1;
  return {false,
          layout,
          in_turn,
          in_turn ? compiled::kernel("norm::several_rows_kernel", p.dtype, layout.vectors, kind,
                                     layout.cluster > 1)
                  : compiled::kernel("norm::forward_kernel", p.dtype, layout.vectors, kind),
          0,
          kept_bytes(p, parameters)};
}

rows::Instructions instructions_of(Kind kind, const Problem& p, const Forward& how, bool ragged) {
  // Each of γ and β where it is not as far past 16 bytes as x: from the two vectors around it.
  constexpr double kShift = 17;
  const auto& loops = how.kernel.loops;
  const double parameters = counts_of(kind).parameters;
  const double turns = rows::turns_of_merge(how.layout);
  // Off the mean, squared, scaled, with γ and β; x converts twice.
  const double beyond = rows::access_instructions(p, 2 + parameters, 2 + parameters);
  if (how.streams) {
    return {.row = loops[0] + (loops[1] + loops[2]) * turns,
            .beyond = beyond,
            .start = how.kernel.straight};
  }
  // A row in turn takes what one row takes. The main way of its code shifts γ and β, but in
  // layernorm of 16 bits.
  const compiled::Kernel one =
      compiled::kernel("norm::forward_kernel", p.dtype, how.layout.vectors, kind);
  const bool shifts = kind == Kind::rmsnorm || !rows::has_16_bits(p);
  const double shift = parameters * kShift;
  const double merging = (one.loops[0] + one.loops[1]) * turns + rows::kInstructionsOfMerge;
  return {.row = one.straight + rows::kInstructionsOfEnds +
                 as_double(how.layout.vectors) * shift * ((ragged ? 1 : 0) - (shifts ? 1 : 0)) +
                 (how.layout.is_of_warps() ? 0 : merging),
          .beyond = beyond + (ragged ? shift : 0),
          .start = how.in_turn ? how.kernel.straight : 0};
}

}  // namespace

LaunchSequence plan_forward(Kind kind, const Problem& p) {
  rows::check_chosen({p[kStaging], p[kVectors], p[kCluster], p[kRowsPerCluster]});
  const Forward how = forward_of(kind, p);
  const rows::Layout& layout = how.layout;
  const bool clustered = layout.cluster > 1;
  const std::int64_t most = most_vectors(p);
  check_layout(p, layout, how.streams ? layout.vectors : most);
  require(how.kernel.registers != 0, "vectors is ", layout.vectors, ": rows in turn take ",
          most / 2, " or, in a cluster, ", most);
  const std::int64_t exchanged = how.streams ? rows::exchange_bytes(kMostThreads, clustered)
                                             : parts_bytes(clustered) * (how.in_turn ? 2 : 1);
  Plan plan = rows::plan_of(layout, layout.blocks(p[rows::kRows]), how.kernel.registers,
                            exchanged + how.ring + how.kept);
  plan.on_chip_bytes += as_double(how.ring + how.kept);

  const rows::Matrix x = rows::matrix_of(p, layout);
  const Counts counts = counts_of(kind);
  const double parameter_bytes = counts.parameters * x.row_bytes;
  const double statistics = counts.statistics * x.rows;
  const Work each = rows::with_conversions(p, vector_work(counts.forward_flops));
  plan.useful = x.elements * each + vector_work(0, x.rows);  // 1/√
  plan.arrays = {reads_activation(kX, x.bytes), reads(kParameterArrays, parameter_bytes),
                 writes(kStatistics, 4 * statistics), writes(kResult, x.bytes)};
  // Between two uses of a parameter an SM reads one group of rows and writes it. What a cluster
  // exchanges is acquired beyond the block, which invalidates L1.
  const double in_group = how.kept > 0 ? as_double(layout.rows_per_cluster) : 1;
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
  const double vectors = as_double(layout.vectors), warps = as_double(layout.warps());
  // With room in the registers the next row's x is under way meanwhile; but a barrier of a cluster
  // waits for the loads and stores that are under way.
  const bool held_in_turn = how.in_turn && !how.streams;
  const bool loads_ahead = held_in_turn && 2 * layout.vectors <= most;
  const bool drained = clustered && !how.streams && !loads_ahead;
  // x, then γ and β: where they are not kept, after the stores of the vector before, which may have
  // changed them.
  const double of_parameters = how.kept > 0 ? 0 : std::ceil(x.inside / warps);
  rows::set_rows(plan,
                 {.layout = layout,
                  .matrix = x,
                  .instructions = instructions_of(kind, p, how, x.ragged),
                  .streams = how.streams,
                  .each = each + vector_work(0, 1 / (vectors * x.width)),  // 1/√ in each thread
                  // The compiler stores 16 bytes of a thread as four parts where rows come in turn.
                  .parts = held_in_turn ? 4.0 : 1.0,
                  .beside = beside,
                  .round_trips = (how.streams ? 0 : 1) + of_parameters + (drained ? 1 : 0),
                  .chain = 2 * vectors * x.width +
                           (held_in_turn ? rows::kDependentOfEnds + rows::kDependentOfFactor : 0),
                  .ahead = how.streams || (loads_ahead && !clustered) ? 1.0 : 0.0});
  add_sector_reason(plan);
  return launch_of(std::move(plan));
}

}  // namespace roofcast::norm
