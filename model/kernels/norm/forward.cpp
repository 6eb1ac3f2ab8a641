#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/norm/passes.hpp"

namespace roofcast::norm {
namespace {

using rows::Instructions;

// Vector, idle, shifted, warp, merge, start.
constexpr InstructionTable kOneRow = {
    {{Instructions{78, 0, 24, 127, 75, 0}, Instructions{151, 76, 35, 127, 75, 0}},
     {Instructions{50, 17, 16, 76, 63, 0}, Instructions{98, 76, 36, 19, 72, 0}}}};
constexpr InstructionTable kInTurn = {
    {{Instructions{130, 60, 25, 240, 0, 100}, Instructions{89, 0, 29, 416, 0, 108}},
     {Instructions{100, 60, 16, 167, 0, 50}, Instructions{69, 29, 20, 227, 0, 45}}}};
constexpr InstructionTable kStreamed = {
    {{Instructions{58, 50, 0, 4, 22, 274}, Instructions{115, 44, 0, 2, 0, 282}},
     {Instructions{43, 49, 0, 4, 0, 170}, Instructions{96, 31, 0, 0, 0, 58}}}};

// How the pass runs: rows stream through shared memory, or the registers hold them.
struct Forward {
  rows::Layout layout;
  bool streams;
  bool in_turn;
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
    return {layout, true, true, ring, forward_ring_bytes(p, parameters) - ring};
  }
  const rows::Layout layout = forward_layout(p);
  return {layout, false, layout.cluster > 1 || layout.rows_per_cluster > 1, 0,
          kept_bytes(p, parameters)};
}

Plan plan_of(Kind kind, const Problem& p, const Forward& how) {
  const rows::Layout& layout = how.layout;
  const bool clustered = layout.cluster > 1;
  const std::int64_t most = most_vectors(p);
  check_layout(p, layout, how.streams ? layout.vectors : most);
  const std::int64_t registers =
      how.streams   ? compiled::registers("norm::forward_ring_kernel", p.dtype, kind, clustered)
      : how.in_turn ? compiled::registers("norm::several_rows_kernel", p.dtype, layout.vectors,
                                          kind, clustered)
                    : compiled::registers("norm::forward_kernel", p.dtype, layout.vectors, kind);
  require(registers != 0, "vectors is ", layout.vectors, ": rows in turn take ", most / 2,
          " or, in a cluster, ", most);
  const std::int64_t exchanged = how.streams ? rows::exchange_bytes(kMostThreads, clustered)
                                             : parts_bytes(clustered) * (how.in_turn ? 2 : 1);
  Plan plan = rows::plan_of(layout, layout.blocks(p[rows::kRows]), registers,
                            exchanged + how.ring + how.kept);
  plan.on_chip_bytes += as_double(how.ring + how.kept);
  return plan;
}

}  // namespace

LaunchSequence plan_forward(Kind kind, const Problem& p) {
  rows::check_chosen({p[kStaging], p[kVectors], p[kCluster], p[kRowsPerCluster]});
  const Forward how = forward_of(kind, p);
  const rows::Layout& layout = how.layout;
  Plan plan = plan_of(kind, p, how);

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
  if (layout.cluster == 1) {
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
  const bool held_in_turn = how.in_turn && !how.streams, clustered = layout.cluster > 1;
  const bool loads_ahead = held_in_turn && 2 * layout.vectors <= most_vectors(p);
  const bool drained = clustered && !how.streams && !loads_ahead;
  // x, then γ and β: where they are not kept, after the stores of the vector before, which may have
  // changed them.
  const double of_parameters = how.kept > 0 ? 0 : std::ceil(x.inside / warps);
  rows::set_rows(plan,
                 {.layout = layout,
                  .matrix = x,
                  .instructions = instructions_of(how.streams   ? kStreamed
                                                  : how.in_turn ? kInTurn
                                                                : kOneRow,
                                                  kind, p),
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
