#include "model/kernels/attention_library.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "model/kernels/attention_tiles.hpp"
#include "model/kernels/plan_parts.hpp"

namespace roofcast::attention {
namespace {

constexpr double kSumElement = 4;  // bytes of an fp32 sum of a part

/// The problem, and the way it is computed.
struct Choice {
  Shape shape;
  Library library;
  Kernel kernel;
  Tile tile;
  std::int64_t packed;  ///< query heads whose queries fill a tile together
  std::int64_t splits;

  double head() const { return as_double(padded_head(shape.head_dim)); }
  std::int64_t rows() const { return shape.seq_q * packed; }
  std::int64_t tiles() const { return ceil_div(rows(), tile.queries); }  ///< of the heads packed
  std::int64_t copies() const { return shape.batch * shape.heads / packed; }
  /// Of a tile, on average: rows beyond the last are neither read nor written.
  double full_rows() const { return as_double(rows()) / as_double(tiles()); }
  double row_bytes() const { return as_double(shape.head_dim) * shape.element; }
  bool wide() const { return kernel.product != Instruction::mma_sync; }
  double part_bytes() const {
    if (splits == 1) return 0;
    return as_double(splits * shape.batch * shape.heads * shape.seq_q) *
           (as_double(shape.head_dim) + 1) * kSumElement;
  }
};

Choice choice_of(const Problem& p, const Gpu& gpu) {
  if (p[kSplits] < 1) {
    throw InputError("splits is " + std::to_string(p[kSplits]) +
                     " in a plan: give a number from 1");
  }
  const Shape shape(p);
  const auto library = static_cast<Library>(p[kLibraryChoice]);
  const Kernel kernel = kernel_of(library, gpu);
  const std::int64_t packed = packed_heads(library, kernel, shape);
  return {shape, library, kernel, tile_of(library, kernel, shape, packed), packed, p[kSplits]};
}

enum Array : ArrayId { kQkv, kQ, kK, kV, kO, kParts };

/// Steps that a block of one tile of queries makes: without a mask, and with one.
struct Steps {
  std::int64_t full;
  std::int64_t masked;
  std::int64_t all() const { return full + masked; }
};

Steps steps_of(const Choice& c, std::int64_t tile) {
  const std::int64_t first = tile * c.tile.queries / c.packed;
  const std::int64_t end = std::min(c.rows(), (tile + 1) * c.tile.queries);
  const std::int64_t last = ceil_div(end, c.packed) - 1;
  const std::int64_t all = ceil_div(c.shape.visible(last), c.tile.keys);
  const std::int64_t full = std::min(all, c.shape.visible(first) / c.tile.keys);
  return {full, all - full};
}

Step step_of(const Choice& c, DType type, bool masked) {
  const double scores = as_double(c.tile.queries * c.tile.keys);
  Step step;
  step.issued.special_flops = scores;
  const double kv_bytes = 2 * as_double(c.tile.keys) * c.row_bytes();
  // Keys beyond the last are not read.
  const double there = as_double(std::min(c.tile.keys, c.shape.seq_kv)) / as_double(c.tile.keys);
  set_traffic(step.issued, {there * kv_bytes, 0});
  double instructions = c.kernel.instructions_a_score +
                        (masked ? c.kernel.instructions_a_mask : 0) +
                        c.kernel.instructions_a_sum * c.head() / as_double(c.tile.keys);
  const double rows = as_double(c.tile.queries);
  if (!c.tile.products) {
    step.issued.vector_flops = 4 * scores * c.head();
    instructions += 3 * c.head();  // a multiply-add for each of Q·K and P·V, conversions for two
    step.waits.global = 1;
  } else if (c.wide() && c.tile.dependent_loads == 0) {
    // Each 64 rows read K, Q and V; P stays in registers.
    step.issued.tensor_flops[type] = 4 * scores * c.head();
    step.issued.shared_bytes = kv_bytes * (rows / 64 + 1) + rows * c.row_bytes();
  } else {
    // m16n8k16 does 4096 FLOP; ldmatrix brings operands of four of them.
    constexpr double kProductFlops = 4096, kProductsALoad = 4;
    step.issued.tensor_flops[type] = 4 * scores * c.head();
    instructions += 4 * c.head() * 32 / kProductFlops * (1 + 1 / kProductsALoad);
    // Warps that hold different queries read all of K and V each.
    const double readers = std::max(1.0, rows / as_double(c.tile.rows_per_warp));
    step.issued.shared_bytes = (readers + 1) * kv_bytes;
    step.wavefronts.shared = step.issued.shared_bytes / 128;
  }
  step.warp_instructions = scores / 32 * instructions;
  step.waits.barriers = 1;
  return step;
}

Step prologue_of(const Choice& c) {
  Step step;
  set_traffic(step.issued, {c.full_rows() * c.row_bytes(), 0});
  step.waits = {.global = c.tile.dependent_loads,
                .tile_loads = c.tile.alternates || !c.tile.products ? 0.0 : 1.0,
                .barriers = 1};
  return step;
}

Step epilogue_of(const Choice& c) {
  Step step;
  const double results = c.full_rows() * as_double(c.shape.head_dim);
  const double element = c.splits > 1 ? kSumElement : c.shape.element;
  set_traffic(step.issued, {0, results * element});
  step.issued.special_flops = as_double(c.tile.queries);
  return step;
}

// Blocks whose numbers of steps are so close count as equal, with their mean.
constexpr std::int64_t kMostClasses = 32;

void set_classes(Plan& plan, const Choice& c, DType type) {
  const Step full = step_of(c, type, false), masked = step_of(c, type, true);
  const Step prologue = prologue_of(c), epilogue = epilogue_of(c);
  const std::int64_t together = c.shape.causal ? ceil_div(c.tiles(), kMostClasses) : c.tiles();
  for (std::int64_t end = c.tiles(); end > 0; end -= together) {  // the longest first
    const std::int64_t from = std::max<std::int64_t>(0, end - together);
    // Steps grow evenly from tile to tile: the first and the last tell the mean.
    const Steps a = steps_of(c, from), b = steps_of(c, end - 1);
    const double parts = as_double(c.splits);
    const double cut = as_double(a.masked + b.masked) / 2 / parts;
    const double whole = as_double(a.full + b.full) / 2 / parts;
    BlockClass blocks;
    blocks.count = (end - from) * c.copies() * c.splits;
    const double stages = as_double(c.tile.stages) + 1;
    blocks.phases.push_back({prologue});
    if (whole > 0) blocks.phases.push_back({full, whole, stages});
    if (cut > 0) blocks.phases.push_back({masked, cut, stages});
    blocks.phases.push_back({epilogue});
    plan.blocks.push_back(std::move(blocks));
  }
}

void set_launch(Plan& plan, const Choice& c, const Gpu& gpu) {
  plan.launch.grid[0] = c.tiles() * c.copies() * c.splits;
  plan.launch.block[0] = c.tile.warps * 32;
  if (!gpu.occupancy) return;
  const OccupancyRules& rules = *gpu.occupancy;
  const std::int64_t registers =
      rules.registers_per_sm / (c.tile.blocks_per_sm * plan.launch.block[0]);
  plan.launch.registers = std::min(rules.registers_per_thread, registers / 8 * 8);
  const auto row = static_cast<std::int64_t>(c.head() * c.shape.element);
  // Where keys are dealt out to warps, K and V have one place in turn.
  const std::int64_t held = (c.tile.dependent_loads > 0 ? 1 : 2) * c.tile.stages * c.tile.keys;
  plan.launch.shared_bytes = (c.tile.queries + held) * row;
}

constexpr std::string_view kGuess =
    "tiles, splits and the order of heads are taken from public sources or guessed: no profile of "
    "the library; registers are a guess";

Plan attention_launch(const Choice& c, const Problem& p, const Gpu& gpu) {
  Plan plan;
  plan.copies_ahead = c.tile.products;
  plan.estimated_traffic = true;
  plan.needs = {c.kernel.product};
  if (!c.wide()) plan.needs.push_back(Instruction::cp_async);
  (c.tile.products ? plan.useful.tensor_flops[p.dtype] : plan.useful.vector_flops) =
      c.shape.flops();
  // Without tensor memory every exponential goes through the special-function unit.
  if (c.kernel.product != Instruction::tcgen05) plan.useful.special_flops = c.shape.scores();
  const double q = c.shape.q_bytes(), kv = c.shape.kv_bytes();
  if (p[kCacheWrites] != kNoWrites) {
    plan.arrays = {p[kCacheWrites] == kWritesQkv ? scratch(kQ, {q, 0}) : reads_activation(kQ, q),
                   scratch(kK, {kv, 0}), scratch(kV, {kv, 0})};
  } else if (c.shape.seq_q == c.shape.seq_kv) {
    plan.arrays = {reads_activation(kQ, q), reads_activation(kK, kv), reads_activation(kV, kv)};
  } else {
    plan.arrays = {reads_activation(kQ, q), reads(kK, kv), reads(kV, kv)};
  }
  plan.arrays.push_back(c.splits > 1 ? scratch(kParts, {0, c.part_bytes()}) : writes(kO, q));
  set_launch(plan, c, gpu);
  set_classes(plan, c, p.dtype);
  plan.on_chip_bytes =
      as_double(c.tile.queries) * c.head() * kSumElement + as_double(plan.launch.shared_bytes);
  plan.caveat = kGuess;
  return plan;
}

// Adds the parts: a warp a row of results, its parts one after the other.
Plan sum_of_parts(const Choice& c) {
  constexpr std::int64_t kThreads = 128;
  const std::int64_t rows = c.shape.batch * c.shape.heads * c.shape.seq_q;
  const double outputs = as_double(rows * c.shape.head_dim);
  Plan plan;
  plan.launch.grid[0] = ceil_div(rows, kThreads / 32);
  plan.launch.block[0] = kThreads;
  plan.launch.registers = 40;
  plan.useful.vector_flops = outputs * as_double(c.splits) * 2;
  plan.useful.special_flops = as_double(rows * c.splits);
  plan.arrays = {scratch(kParts, {c.part_bytes(), 0}), writes(kO, c.shape.q_bytes())};
  const double blocks = as_double(plan.launch.blocks());
  Step step;
  step.issued.vector_flops = plan.useful.vector_flops / blocks;
  step.issued.special_flops = plan.useful.special_flops / blocks;
  step.warp_instructions = outputs / blocks / 32 * (as_double(c.splits) * 1.5 + 4);
  set_traffic(step.issued, {c.part_bytes() / blocks, c.shape.q_bytes() / blocks});
  step.waits.global = 2;
  set_blocks(plan, {{step}});
  plan.estimated_traffic = true;
  plan.caveat = "registers are a guess";
  return plan;
}

// K and V, and Q with them, as one product leaves them, to where attention reads them: a thread a
// vector.
Plan cache_writes(const Shape& shape, bool with_q) {
  constexpr std::int64_t kThreads = 256;
  const double q_bytes = with_q ? shape.q_bytes() : 0;
  const double bytes = q_bytes + 2 * shape.kv_bytes();
  const double per_block = as_double(kThreads) * 16;
  Plan plan;
  plan.launch.grid[0] = std::max(std::int64_t{1}, static_cast<std::int64_t>(bytes / per_block));
  plan.launch.block[0] = kThreads;
  plan.launch.registers = 32;
  plan.arrays = {reads_activation(kQkv, bytes), scratch(kK, {0, shape.kv_bytes()}),
                 scratch(kV, {0, shape.kv_bytes()})};
  if (with_q) plan.arrays.push_back(scratch(kQ, {0, q_bytes}));
  const double blocks = as_double(plan.launch.blocks());
  const double elements = bytes / shape.element / blocks;
  Step step;
  step.issued.vector_flops = elements * 2;
  step.warp_instructions = elements / 32 * 4;
  set_traffic(step.issued, {bytes / blocks, bytes / blocks});
  step.waits.global = 1;
  set_blocks(plan, {{step}});
  plan.estimated_traffic = true;
  plan.caveat = "registers are a guess";
  return plan;
}

bool can_run(const Kernel& kernel, const Gpu& gpu) {
  return gpu.features.has(kernel.product) &&
         (kernel.product != Instruction::mma_sync || gpu.features.has(Instruction::cp_async));
}

}  // namespace

std::vector<Problem> library_candidates(const Problem& p, const Gpu& gpu) {
  const Shape shape(p);
  if (shape.backward) {
    throw InputError("attention.library is forecast forward only: leave out --pass");
  }
  require_tensor_cores(p.dtype, gpu);
  const auto asked = static_cast<Library>(p[kLibraryChoice]);
  std::vector<Problem> found;
  for (const Library library : {kCudnn, kFa2, kFa3, kTrtllm}) {
    if (asked == kBest ? library == kTrtllm : library != asked) continue;
    if (!can_run(kernel_of(library, gpu), gpu)) continue;
    Problem one = p;
    one[kLibraryChoice] = library;
    one[kSplits] = 1;
    const Choice c = choice_of(one, gpu);
    const std::int64_t blocks = c.tiles() * c.copies();
    const std::int64_t slots = gpu.slots(c.tile.blocks_per_sm);
    const std::int64_t steps = steps_of(c, c.tiles() - 1).all();
    if (p[kSplits] != kToChoose) {
      one[kSplits] = p[kSplits];
      found.push_back(one);
      continue;
    }
    for (std::int64_t splits = 1; splits <= std::min(kMostSplits, steps); splits *= 2) {
      if (splits > 1 && blocks * splits >= 2 * slots) break;
      one[kSplits] = splits;
      found.push_back(one);
    }
  }
  if (found.empty()) {
    throw InputError("no such library has a kernel for " + gpu.name +
                     ": leave out --library, or choose a GPU with cp_async (`roofcast gpus`)");
  }
  return found;
}

Program plan_library(const Problem& p, const Gpu& gpu) {
  const Choice c = choice_of(p, gpu);
  Program program;
  if (p[kCacheWrites] != kNoWrites) {
    program.push_back({cache_writes(c.shape, p[kCacheWrites] == kWritesQkv)});
  }
  program.push_back({attention_launch(c, p, gpu)});
  if (c.splits > 1) program.push_back({sum_of_parts(c)});
  return program;
}

}  // namespace roofcast::attention
