#include "model/libraries/experts.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "model/constants/experts.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/kernels/gemm/tensor.hpp"
#include "model/libraries/experts_routing.hpp"
#include "model/libraries/gemm.hpp"

namespace roofcast::experts {
namespace {

constexpr double kWide = 2;      // bytes of an element of the input and of the result
constexpr double kProducts = 3;  // gate, up and down

/// What this GPU multiplies.
struct Share {
  std::vector<std::int64_t> rows_of_experts;
  double rows = 0;
  double tokens, hidden, inner, element;
  double weights() const { return as_double(experts()) * kProducts * hidden * inner * element; }
  std::int64_t experts() const { return static_cast<std::int64_t>(rows_of_experts.size()); }
  double distinct_tokens() const { return std::min(rows, tokens); }
};

Share share_of(const Problem& p) {
  for (std::size_t i = kTokens; i <= kGpus; ++i) {
    if (p[i] >= 1) continue;
    throw InputError("'" + std::string(kShape[i].name) + "' is at least 1");
  }
  if (p[kExperts] % p[kGpus] != 0) {
    throw InputError("'ep' " + std::to_string(p[kGpus]) + " does not divide the " +
                     std::to_string(p[kExperts]) + " experts: give a divisor");
  }
  if (p[kPerToken] > p[kExperts]) {
    throw InputError("'per_token' is at most the number of experts, " +
                     std::to_string(p[kExperts]));
  }
  Share share{rows_of_experts({.tokens = p[kTokens],
                               .experts = p[kExperts],
                               .per_token = p[kPerToken],
                               .gpus = p[kGpus],
                               .routing = static_cast<Routing>(p[kRouting])}),
              0,
              as_double(p[kTokens]),
              as_double(p[kHidden]),
              as_double(p[kIntermediate]),
              size_bytes(p.dtype)};
  for (const std::int64_t rows : share.rows_of_experts) share.rows += as_double(rows);
  return share;
}

Work work(const Problem& p) {
  const Share share = share_of(p);
  Work work;
  work.tensor_flops[p.dtype] = 2 * kProducts * share.rows * share.hidden * share.inner;
  work.compulsory = {share.weights() + share.distinct_tokens() * share.hidden * kWide,
                     share.tokens * share.hidden * kWide};
  return work;
}

enum Array : ArrayId {
  kInput,
  kSorted,
  kGateUp,
  kInner,
  kOutputs,
  kResult,
  kWeights1,
  kWeights2,
  kOrder,
  kNarrowInput
};

constexpr std::int64_t kThreads = 256;  // of the blocks beside the products
constexpr double kWarps = 8;

/// What a block of a pass does: 16 B of a row a thread at a time.
struct RowBlock {
  double count;         ///< rows that have a block each
  double row_bytes;     ///< written
  double sources;       ///< rows read one after the other for it
  double instructions;  ///< of a warp for 16 B of a thread, counted
};

Plan plan_of_blocks(std::int64_t blocks, std::vector<ArrayUse> arrays) {
  Plan plan;
  plan.launch.grid[0] = std::max<std::int64_t>(1, blocks);
  plan.launch.block[0] = kThreads;
  plan.launch.registers = 32;
  plan.notes.estimated_traffic = true;
  plan.arrays = std::move(arrays);
  return plan;
}

Plan pass(const RowBlock& row, const Traffic& bytes, std::vector<ArrayUse> arrays) {
  constexpr double kBytesOfWarp = 16 * 32;
  Plan plan = plan_of_blocks(static_cast<std::int64_t>(row.count), std::move(arrays));
  const double blocks = as_double(plan.launch.blocks());
  const double loads = std::ceil(row.row_bytes / (kBytesOfWarp * kWarps)) * row.sources;
  Step begin;
  begin.warp_instructions = kWarps * kRowInstructions;
  begin.waits.global = 1;
  Step step;
  step.warp_instructions = row.row_bytes / kBytesOfWarp * row.instructions * row.sources / loads;
  set_traffic(step.issued, 1 / (blocks * loads) * bytes);
  step.waits.global = 1;
  set_blocks(plan, {{begin}, {step, loads}});
  return plan;
}

constexpr double kBytesOfChoice = 8;  // expert and place

/// Blocks that each look at so many choices.
Plan choices_plan(double blocks, double choices, double bytes) {
  constexpr double kInstructions = 40;  // of a warp for a choice a thread
  Plan plan = plan_of_blocks(static_cast<std::int64_t>(blocks), {scratch(kOrder, {bytes, bytes})});
  const double repeats = std::ceil(choices / as_double(kThreads));
  const double of_step = bytes / as_double(plan.launch.blocks()) / repeats;
  Step step;
  step.warp_instructions = kWarps * kInstructions;
  set_traffic(step.issued, {of_step, of_step});
  step.waits.global = 1;
  set_blocks(plan, {{step, repeats}});
  return plan;
}

// Counts and places of the choices: one kernel for up to 256 tokens; for more, blocks of tokens
// count each expert's, one block adds the counts up, and the first blocks place (TensorRT-LLM,
// cutlass_kernels/moe_gemm/moe_kernels.cu, threeStepBuildExpertMapsSortFirstToken).
void add_routing(LaunchSequence& program, const Problem& p, const Share& share) {
  constexpr double kTokensOfOneKernel = 256;
  const double choices = share.tokens * as_double(p[kPerToken]);
  const double bytes = choices * kBytesOfChoice;
  if (share.tokens <= kTokensOfOneKernel) {
    const double blocks = std::ceil(choices / as_double(kThreads));
    program.push_back({choices_plan(blocks, as_double(kThreads), bytes)});
    return;
  }
  const double experts = as_double(p[kExperts] / p[kGpus]);
  double tokens = 32;  // of a block
  while (tokens < 1024 && std::ceil(share.tokens / tokens) * experts > tokens) tokens *= 2;
  const double parts = std::ceil(share.tokens / tokens);
  const double counts = parts * experts;
  program.push_back({choices_plan(counts, tokens * as_double(p[kPerToken]), bytes)});
  program.push_back({choices_plan(1, counts, counts * sizeof(std::int32_t))});
  program.push_back({choices_plan(counts, tokens, bytes)});
}

// Rows of C = A·B in tiles that end with their expert.
Plan grouped(const Problem& p, const Share& share, double columns, double depth,
             std::array<ArrayUse, 3> arrays, const Gpu& gpu) {
  std::int64_t row_tiles = 0;
  for (const std::int64_t rows : share.rows_of_experts) row_tiles += ceil_div(rows, p[kTileRows]);
  const std::int64_t rows =
      ceil_div(static_cast<std::int64_t>(share.rows), std::max<std::int64_t>(1, row_tiles));
  Problem one =
      gemm::library_problem(p.dtype, rows, static_cast<std::int64_t>(columns),
                            static_cast<std::int64_t>(depth), p[kTileRows], p[kTileColumns], 1);
  one[gemm::kBatch] = row_tiles;
  Plan plan = std::move(gemm::plan_library(one, gpu).front().plan);
  plan.useful.tensor_flops[p.dtype] = 2 * share.rows * columns * depth;
  for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i].pattern = plan.arrays[i].pattern;
  plan.arrays.assign(arrays.begin(), arrays.end());
  const double slowdown = has_wide_products(gpu) ? 1 : kMmaSlowdown.value;
  for (BlockClass& one : plan.blocks) {
    for (Phase& phase : one.phases) phase.step.issued.tensor_flops[p.dtype] *= slowdown;
    one.phases.back().step.waits.global += kTileSwitch;
  }
  plan.notes.caveat =
      "tiles are what the library is taken to choose, routing is a typical draw: no profile of it";
  return plan;
}

constexpr std::int64_t kLowestTile = 16, kTallestTile = 256;

struct Tile {
  std::int64_t rows, columns;
};
constexpr std::array kWgmmaTiles = {Tile{16, 64},   Tile{16, 128},  Tile{32, 64},  Tile{32, 128},
                                    Tile{64, 64},   Tile{64, 128},  Tile{64, 256}, Tile{128, 64},
                                    Tile{128, 128}, Tile{128, 256}, Tile{256, 128}};
constexpr std::array kMmaTiles = {Tile{16, 256}, Tile{32, 32},   Tile{64, 64},
                                  Tile{64, 128}, Tile{128, 256}, Tile{256, 64}};

std::span<const Tile> tiles_on(const Gpu& gpu) {
  if (has_wide_products(gpu)) return kWgmmaTiles;
  return kMmaTiles;
}

// TensorRT-LLM times its tiles of wgmma with experts that are chosen alike, and keeps the best for
// any routing: the rows of a tile are at most those of an expert then.
std::int64_t most_tile_rows(const Problem& p, const Gpu& gpu) {
  const bool alike = p[kRouting] == static_cast<std::int64_t>(Routing::balanced);
  if (alike || !has_wide_products(gpu)) return kTallestTile;
  const double of_expert = as_double(p[kTokens] * p[kPerToken]) / as_double(p[kExperts]);
  std::int64_t rows = kLowestTile;
  while (as_double(rows) < of_expert && rows < kTallestTile) rows *= 2;
  return rows;
}

}  // namespace

std::vector<Problem> library_candidates(const Problem& p, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  std::vector<Problem> found;
  std::string known;
  const std::int64_t most = most_tile_rows(p, gpu);
  for (const Tile& tile : tiles_on(gpu)) {
    known += (known.empty() ? "" : ", ") + std::to_string(tile.rows) + "x" +
             std::to_string(tile.columns);
    if (p[kTileRows] == kToChoose && tile.rows > most) continue;
    if (!is_asked(p[kTileRows], tile.rows) || !is_asked(p[kTileColumns], tile.columns)) continue;
    Problem& one = found.emplace_back(p);
    one[kTileRows] = tile.rows;
    one[kTileColumns] = tile.columns;
  }
  if (found.empty()) throw InputError("moe.library has no such tile here: choose one of " + known);
  return found;
}

LaunchSequence plan_library(const Problem& p, const Gpu& gpu) {
  if (p[kTileRows] == kToChoose || p[kTileColumns] == kToChoose) {
    throw InputError("moe.library is planned with 'tile_rows' and 'tile_columns' given");
  }
  const Share share = share_of(p);
  const double rows = share.rows, element = share.element;
  const double in = share.distinct_tokens() * share.hidden * kWide;
  const double sorted = rows * share.hidden * element, outputs = rows * share.hidden * kWide;
  const double gate_up = 2 * rows * share.inner * kWide, inner = rows * share.inner * element;
  const double result = share.tokens * share.hidden * kWide;
  const double wide = 2 * share.weights() / kProducts, narrow = share.weights() / kProducts;

  const double in_row = share.hidden * element, inner_row = share.inner * element;
  const double of_token = std::max(1.0, rows / share.tokens);
  constexpr double kCopy = 24, kGate = 40, kSum = 30;  // instructions of RowBlock

  LaunchSequence program;
  add_routing(program, p, share);
  ArrayUse input = reads_activation(kInput, in);
  double taken = rows * share.hidden * kWide;
  if (p.dtype == DType::fp8) {
    const double narrowed = share.tokens * in_row;
    program.push_back({pass({share.tokens, in_row, 1, kCopy}, {result, narrowed},
                            {input, scratch(kNarrowInput, {0, narrowed})})});
    input = scratch(kNarrowInput, {narrowed, 0});
    taken = rows * in_row;
  }
  program.push_back(
      {pass({rows, in_row, 1, kCopy}, {taken, sorted}, {input, scratch(kSorted, {0, sorted})})});
  program.push_back({grouped(
      p, share, 2 * share.inner, share.hidden,
      {scratch(kSorted, {sorted, 0}), reads(kWeights1, wide), scratch(kGateUp, {0, gate_up})},
      gpu)});
  program.push_back({pass({rows, inner_row, 2, kGate}, {gate_up, inner},
                          {scratch(kGateUp, {gate_up, 0}), scratch(kInner, {0, inner})})});
  program.push_back({grouped(
      p, share, share.hidden, share.inner,
      {scratch(kInner, {inner, 0}), reads(kWeights2, narrow), scratch(kOutputs, {0, outputs})},
      gpu)});
  program.push_back({pass({share.tokens, share.hidden * kWide, of_token, kSum}, {outputs, result},
                          {scratch(kOutputs, {outputs, 0}), writes(kResult, result)})});
  return program;
}

constinit const KernelFamily kFamily = {
    .name = "moe",
    .summary = "y = Σ wₑ·downₑ(silu(gateₑ(x))·upₑ(x)) over the experts e of each token",
    .parameters = kShape,
    .dtypes = kTypes,
    .work = work,
    .io = streaming,
    .variants = kVariants,
    .validated = kValidated};

}  // namespace roofcast::experts
