#include "model/kernels/common/rows.hpp"

#include <cmath>

#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"

namespace roofcast::rows {

void check_chosen(std::initializer_list<std::int64_t> settings) {
  require(std::find(settings.begin(), settings.end(), kToChoose) == settings.end(),
          "a setting is left to choose: give each of them, or ask for the forecast");
}

void check_vectors(std::int64_t vectors, std::int64_t most) {
  require(vectors <= most && is_power_of_two(vectors), "vectors is ", vectors,
          ": give a power of two, at most ", most);
}

void check_cluster(std::int64_t blocks) {
  require(is_power_of_two(blocks), "cluster is ", blocks,
          ": give 1, 2, 4, 8 or 16 blocks, or 0 for the fastest");
}

std::vector<Problem> with_each(const std::vector<Problem>& problems, std::size_t setting,
                               const std::function<Values(const Problem&)>& values) {
  std::vector<Problem> found;
  for (const Problem& p : problems) {
    for (const std::int64_t value : p[setting] == kToChoose ? values(p) : Values{p[setting]}) {
      found.emplace_back(p)[setting] = value;
    }
  }
  return found;
}

Values powers_of_two(std::int64_t least, std::int64_t most) {
  Values values = {least};
  while (2 * values.back() <= most) values.push_back(2 * values.back());
  return values;
}

Values held_vectors(const Problem& p, std::int64_t most_threads) {
  const auto power_for = [&](std::int64_t threads) {
    return std::min(most_vectors(p.dtype), power_of_two_from(ceil_div(vectors_of(p), threads)));
  };
  return powers_of_two(power_for(most_threads), power_for(kWarp));
}

std::vector<Problem> with_clusters(const std::vector<Problem>& problems, std::size_t cluster,
                                   const std::function<std::int64_t(const Problem&)>& smallest,
                                   const Gpu& gpu) {
  const auto sizes = [&](const Problem& p) {
    const std::int64_t most = std::min(kMaxCluster, gpu.features.cluster_blocks_max.value_or(1));
    return powers_of_two(smallest(p), most);
  };
  const auto in_turn = [](const Problem& p) {
    constexpr std::int64_t kMostInTurn = 16;
    return powers_of_two(1, std::min(kMostInTurn, power_of_two_from(p[kRows])));
  };
  return with_each(with_each(problems, cluster, sizes), cluster + 1, in_turn);
}

Matrix matrix_of(const Problem& p, const Layout& layout) {
  const DenseMatrix matrix{p[kRows], p[kCols], element_bytes(p.dtype)};
  const std::int64_t width = kVectorBytes / matrix.element_bytes;
  const double accessed = sectors_along_rows(matrix, kWarp * width) * kSectorBytes;
  const double rows = as_double(p[kRows]), row_bytes = as_double(matrix.pitch_bytes());
  return {.layout = layout,
          .rows = rows,
          .elements = rows * as_double(p[kCols]),
          .row_bytes = row_bytes,
          .bytes = rows * row_bytes,
          .accessed = accessed,
          .distinct = sectors_along_rows(matrix, p[kCols]) * kSectorBytes,
          .width = as_double(width),
          .ragged = matrix.pitch_bytes() % kVectorBytes != 0,
          .inside = as_double(std::min(layout.rows_per_block, p[kRows]) *
                              ceil_div(ceil_div(vectors_of(p), layout.cluster), kWarp))};
}

Work traffic_of(const Matrix& matrix, double reads, double parts) {
  Work work;
  work.requested = {reads * matrix.bytes, matrix.bytes};
  work.l1 = {reads * matrix.accessed, parts * matrix.accessed};
  work.l2 = {reads * matrix.distinct, matrix.accessed};
  return work;
}

SplitWrites split_stores(const Matrix& matrix, double parts) {
  return {matrix.accessed / kSectorBytes, parts,
          as_double(matrix.layout.warps() * kWarp * kVectorBytes)};
}

Plan plan_of(const Layout& layout, std::int64_t blocks, std::int64_t registers,
             std::int64_t shared_bytes) {
  Plan plan =
      launch_plan(blocks, {layout.threads, layout.rows_per_block, 1}, registers, shared_bytes);
  plan.launch.cluster[0] = layout.cluster;
  plan.on_chip_bytes =
      as_double(layout.vectors * layout.threads * layout.rows_per_block * kVectorBytes);
  return plan;
}

void set_rows(Plan& plan, const HeldRows& how) {
  // The blocks of a cluster synchronize before the first row and release their SMs together.
  constexpr double kExchangesOfStart = 2;
  // A cluster barrier waits for preceding stores to arrive, then for its own release. An mbarrier
  // that counts the stores needs the first alone.
  constexpr double kExchangesOfBarrier = 2;
  constexpr double kDependentOfFactor = 28;  // exponential or root, reciprocal, products
  const Layout& layout = how.matrix.layout;
  const Instructions& counted = how.instructions;
  const bool clustered = layout.cluster > 1, alone = layout.is_of_warps();
  const double warps =  // warps of a block that have a row
      as_double(layout.threads / kWarp) *
      std::min(as_double(layout.rows_per_block), how.matrix.rows);
  const double blocks = as_double(plan.launch.blocks());
  const double in_turn = std::ceil(
      how.matrix.rows / (blocks / as_double(layout.cluster) * as_double(layout.rows_per_block)));
  const double steps = blocks * in_turn;
  const double elements = as_double(kWarp) * how.matrix.width;  // of a warp access
  const double accesses = warps * as_double(layout.vectors);

  // Dependent chain of a thread: two reductions over its elements, the ends and the row's factor.
  const double chain = 2 * as_double(layout.vectors) * how.matrix.width / how.sums +
                       kDependentOfEnds + kDependentOfFactor;
  Step row;
  row.issued = accesses * elements * how.each +
               1 / steps * (traffic_of(how.matrix, how.reads, how.parts) + how.beside);
  row.warp_instructions = warps * counted.row - (accesses - how.matrix.inside) * counted.beyond;
  // Bulk copies bypass L1's lookup. They are written to shared memory and read from it once.
  const double streamed = how.streams ? how.reads * how.matrix.accessed / steps : 0;
  row.wavefronts.l1 = row.wavefronts.l1_lookups =
      (row.issued.l1.total_bytes() - streamed) / kLineBytes;
  row.wavefronts.shared = 2 * streamed / kLineBytes;
  row.issued.shared_bytes = row.wavefronts.shared * kLineBytes;
  row.waits = {.global = how.round_trips,
               .tile_loads = how.streams ? 1.0 : 0.0,
               .shared = (alone ? 1 : 2) * kShufflesOfWarp,
               .arithmetic = chain,
               .barriers = alone || clustered ? 0.0 : 1.0,
               .cluster_exchanges = !clustered    ? 0.0
                                    : how.streams ? 1.0
                                                  : kExchangesOfBarrier};
  Step start;  // latency of the first row, which no earlier row hides
  start.waits = {.global = !how.streams && in_turn > 1 ? 1.0 : 0.0,
                 .cluster_exchanges = clustered ? kExchangesOfStart : 0};
  start.warp_instructions = warps * counted.start;
  // Blocks that take several rows get out of step with each other.
  plan.arrays.front().pattern.out_of_step = layout.rows_per_cluster > 1;
  if (how.parts > 1) plan.arrays.back().split = split_stores(how.matrix, how.parts);
  if (how.streams) plan.needs = {Instruction::bulk_copy};
  std::vector<Phase> phases;
  if (clustered || in_turn > 1 || counted.start > 0) phases.push_back({start});
  phases.push_back({row, in_turn, how.ahead});
  set_blocks(plan, std::move(phases));
}

void set_partial_sums(Plan& plan, const compiled::Kernel& kernel, const PartialSums& sums,
                      DType out) {
  const double eights = as_double(sums.loads / PartialSums::kTogether);
  const double ones = as_double(sums.loads % PartialSums::kTogether);
  const double blocks = as_double(plan.launch.blocks());
  const double bytes = plan.arrays[0].footprint.read_bytes;
  const double out_bytes = plan.arrays[1].footprint.write_bytes;
  const double warps = plan.launch.warps(), additions = bytes / 4;
  plan.start = Start::cold_code;
  plan.useful.vector_flops = additions;
  Step step;
  step.issued.vector_flops = additions / blocks;
  step.issued.requested = Traffic{bytes, out_bytes} / blocks;
  step.issued.l1 = step.issued.l2 =
      Traffic{bytes, out_bytes / size_bytes(out) * kSectorBytes} / blocks;
  const auto& loops = kernel.loops;
  step.warp_instructions =
      warps * (kernel.straight + ones * (loops[0] + loops[2]) + eights * (loops[1] + loops[3]));
  step.wavefronts.l1 = step.wavefronts.l1_lookups = step.issued.l1.read_bytes / kLineBytes;
  step.waits = {.global = sums.arrays * sums.trips,
                .shared = sums.arrays * kShufflesOfWarp,
                .arithmetic = sums.arrays * (kDependentOfEnds + 2 * as_double(sums.loads)),
                .barriers = sums.arrays};
  set_blocks(plan, {{step}});
}

}  // namespace roofcast::rows
