#include "model/libraries/experts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "model/constants/libraries.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/gemm_catalogue.hpp"

namespace roofcast::experts {
namespace {

constexpr std::array<std::string_view, 3> kRoutingNames = {"balanced", "power_law_1.01",
                                                           "power_law_1.2"};
constexpr std::array kShape = {
    roofcast::Parameter{"tokens", "that are routed, of all GPUs that share the experts", 1,
                        std::int64_t{1} << 20},
    roofcast::Parameter{"hidden", "elements of a token", 16, std::int64_t{1} << 17},
    roofcast::Parameter{"intermediate", "inner width of an expert on this GPU: divided by tp", 16,
                        std::int64_t{1} << 17},
    roofcast::Parameter{"experts", "of all GPUs together", 1, 1024},
    roofcast::Parameter{"per_token", "experts that a token passes", 1, 64},
    roofcast::Parameter{"ep", "GPUs that share the experts; the forecast is of the busiest", 1,
                        4096, 1},
    choice("routing",
           "how often the experts are chosen: each alike, or by a power law with that exponent",
           kRoutingNames, kBalanced)};
constexpr std::array kLibraryParameters = with_own(
    kShape, open_setting("tile_rows", "rows of a tile, all of one expert; 0: to choose", 256),
    open_setting("tile_columns", "columns of a tile; 0: to choose", 256));
constexpr std::array<std::size_t, 2> kOwnChoice = {kTileRows, kTileColumns};
constexpr std::array kTypes = {DType::bf16, DType::fp16, DType::fp8};

/// Shapes in the table of the comparison (tests/validation/comparison).
constexpr std::array kValidated = {
    ValidatedRange{kTokens, 1, 65536},        ValidatedRange{kHidden, 2048, 7168},
    ValidatedRange{kIntermediate, 32, 16384}, ValidatedRange{kExperts, 8, 512},
    ValidatedRange{kPerToken, 1, 10},         ValidatedRange{kGpus, 1, 256}};

constexpr double kWide = 2;  // bytes of an element of the input and of the result

/// This GPU's share of the layer.
struct Share {
  std::vector<std::int64_t> rows_of_experts;
  double rows = 0;
  double tokens, hidden, inner, element;

  /// Bytes of one of the three weights: gate, up and down.
  double weight() const {
    return static_cast<double>(rows_of_experts.size()) * hidden * inner * element;
  }
  double distinct_tokens() const { return std::min(rows, tokens); }
};

Share share_of(const Problem& p) {
  require(p[kExperts] % p[kGpus] == 0, "'ep' ", p[kGpus], " does not divide the ", p[kExperts],
          " experts: give a divisor");
  require(p[kPerToken] <= p[kExperts], "'per_token' is at most the number of experts, ",
          p[kExperts]);
  Share share{.rows_of_experts = rows_of_experts(p),
              .tokens = as_double(p[kTokens]),
              .hidden = as_double(p[kHidden]),
              .inner = as_double(p[kIntermediate]),
              .element = size_bytes(p.dtype)};
  for (const std::int64_t rows : share.rows_of_experts) share.rows += as_double(rows);
  return share;
}

Work work(const Problem& p) {
  const Share share = share_of(p);
  Work work;
  work.tensor_flops[p.dtype] = 6 * share.rows * share.hidden * share.inner;
  work.compulsory = {3 * share.weight() + share.distinct_tokens() * share.hidden * kWide,
                     share.tokens * share.hidden * kWide};
  return work;
}

enum : ArrayId { kInput, kSorted, kGateUp, kInner, kOutputs, kResult };  // rows of tokens
enum : ArrayId { kWeights1 = kResult + 1, kWeights2, kOrder, kNarrowInput };

// The read of a matrix that an earlier launch has written.
ArrayUse read_back(ArrayUse written) {
  std::swap(written.footprint.read_bytes, written.footprint.write_bytes);
  return written;
}

constexpr std::int64_t kThreads = 256;  // per block of all kernels but the GEMMs

// `blocks` blocks; each thread waits for `loads` dependent loads and issues `instructions`.
Plan pass(double blocks, double loads, double instructions, std::vector<ArrayUse> arrays) {
  return even_launch(
      static_cast<std::int64_t>(blocks), kThreads, std::move(arrays),
      {.warp_instructions = warps_of(kThreads) * instructions, .waits = {.global = loads}});
}

// Each block computes a row of `row_bytes` from `sources` rows, read one after the other in
// accesses of 16 bytes per thread, with `instructions` of a warp per access.
Plan pass_over_rows(double rows, double row_bytes, double sources, double instructions,
                    const ArrayUse& from, const ArrayUse& to) {
  const double accesses = row_bytes / as_double(16 * kThreads);
  return pass(rows, 1 + std::ceil(accesses) * sources,
              library::kExpertRowInstructions + instructions * accesses * sources, {from, to});
}

// Blocks that process `choices` choices each, one per thread at a time.
Plan pass_over_choices(double blocks, double choices, double bytes) {
  constexpr double kInstructions = 40;
  const double steps = std::ceil(choices / as_double(kThreads));
  return pass(blocks, steps, kInstructions * steps, {scratch(kOrder, {bytes, bytes})});
}

// Sorts the choices by expert: one kernel for up to 256 tokens; for more, blocks of tokens count
// each expert's choices, one block sums the counts, and as many blocks as counted place the choices
// (TensorRT-LLM, cutlass_kernels/moe_gemm/moe_kernels.cu, threeStepBuildExpertMapsSortFirstToken).
void add_routing(LaunchSequence& sequence, const Problem& p, const Share& share) {
  constexpr double kTokensOfOneKernel = 256, kTokensOfBlock = 1024;
  constexpr double kBytesOfChoice = 8;  // expert and place
  const double per_token = as_double(p[kPerToken]), choices = share.tokens * per_token;
  const double bytes = choices * kBytesOfChoice;
  if (share.tokens <= kTokensOfOneKernel) {
    sequence.push_back(
        {pass_over_choices(std::ceil(choices / as_double(kThreads)), as_double(kThreads), bytes)});
    return;
  }
  const double experts = as_double(p[kExperts] / p[kGpus]);
  const double blocks = std::ceil(share.tokens / kTokensOfBlock), counts = blocks * experts;
  sequence.push_back({pass_over_choices(counts, kTokensOfBlock * per_token, bytes)});
  sequence.push_back({pass_over_choices(1, counts, counts * sizeof(std::int32_t))});
  sequence.push_back({pass_over_choices(counts, kTokensOfBlock, bytes)});
}

// Grouped GEMM C = A·B as a batch of row tiles of mean height; a tile has one expert's rows.
Plan grouped(const Problem& p, const Share& share, std::int64_t columns, std::int64_t depth,
             std::array<ArrayUse, 3> arrays, const Gpu& gpu) {
  std::int64_t row_tiles = 0;
  for (const std::int64_t rows : share.rows_of_experts) row_tiles += ceil_div(rows, p[kTileRows]);
  row_tiles = std::max<std::int64_t>(1, row_tiles);
  const std::int64_t rows = ceil_div(static_cast<std::int64_t>(share.rows), row_tiles);
  Problem product =
      gemm::library_problem(p.dtype, rows, columns, depth, p[kTileRows], p[kTileColumns], 1);
  product[gemm::kBatch] = row_tiles;
  Plan plan = std::move(gemm::plan_library(product, gpu).front().plan);
  plan.useful.tensor_flops[p.dtype] = 2 * share.rows * as_double(columns) * as_double(depth);
  for (std::size_t i = 0; i < arrays.size(); ++i) arrays[i].pattern = plan.arrays[i].pattern;
  plan.arrays.assign(arrays.begin(), arrays.end());
  const double slowdown = has_async_mma(gpu) ? 1 : double{library::kExpertMmaSlowdown};
  std::vector<Phase>& phases = plan.blocks.front().phases;
  for (Phase& phase : phases) phase.step.issued.tensor_flops[p.dtype] *= slowdown;
  phases.back().step.waits.global += library::kExpertTileSwitch;
  plan.notes.guessed_kernel = true;
  plan.notes.caveat =
      "tiles are what the library is taken to choose, routing is a typical draw: no profile of it";
  return plan;
}

struct Tile {
  std::int64_t rows, columns;
};
constexpr std::array kWgmmaTiles = {Tile{16, 64},   Tile{16, 128},  Tile{32, 64},  Tile{32, 128},
                                    Tile{64, 64},   Tile{64, 128},  Tile{64, 256}, Tile{128, 64},
                                    Tile{128, 128}, Tile{128, 256}, Tile{256, 128}};
constexpr std::array kMmaTiles = {Tile{16, 256}, Tile{32, 32},   Tile{64, 64},
                                  Tile{64, 128}, Tile{128, 256}, Tile{256, 64}};

// TensorRT-LLM tunes its wgmma tiles under balanced routing and keeps the choice for any routing: a
// tile has at most the rows of an expert under balanced routing.
std::int64_t most_tile_rows(const Problem& p, const Gpu& gpu) {
  constexpr std::int64_t kLowest = 16, kTallest = 256;
  if (p[kRouting] == kBalanced || !has_async_mma(gpu)) return kTallest;
  const std::int64_t of_expert = ceil_div(p[kTokens] * p[kPerToken], p[kExperts]);
  return std::clamp(power_of_two_from(of_expert), kLowest, kTallest);
}

std::vector<Problem> library_candidates(const Problem& p, const Gpu& gpu) {
  require_tensor_cores(p.dtype, gpu);
  std::vector<Problem> found;
  std::span<const Tile> tiles = kMmaTiles;
  if (has_async_mma(gpu)) tiles = kWgmmaTiles;
  const std::int64_t most = most_tile_rows(p, gpu);
  for (const Tile& tile : tiles) {
    if (p[kTileRows] == kToChoose && tile.rows > most) continue;
    if (!is_asked(p[kTileRows], tile.rows) || !is_asked(p[kTileColumns], tile.columns)) continue;
    Problem& one = found.emplace_back(p);
    one[kTileRows] = tile.rows;
    one[kTileColumns] = tile.columns;
  }
  if (!found.empty()) return found;
  const auto text = [](const Tile& tile) { return message(tile.rows, "x", tile.columns); };
  throw InputError("moe.library has no such tile here: choose one of " + listed(tiles, text));
}

LaunchSequence plan_library(const Problem& p, const Gpu& gpu) {
  require(p[kTileRows] != kToChoose && p[kTileColumns] != kToChoose,
          "moe.library is planned with 'tile_rows' and 'tile_columns' given");
  const Share share = share_of(p);
  const double rows = share.rows, tokens = share.tokens;
  const double wide_row = share.hidden * kWide, row = share.hidden * share.element;
  const double inner_row = share.inner * share.element;
  const ArrayUse narrow = scratch(kNarrowInput, {0, tokens * row});
  const ArrayUse sorted = scratch(kSorted, {0, rows * row});
  const ArrayUse gate_up = scratch(kGateUp, {0, 2 * rows * share.inner * kWide});
  const ArrayUse inner = scratch(kInner, {0, rows * inner_row});
  const ArrayUse outputs = scratch(kOutputs, {0, rows * wide_row});
  constexpr double kCopy = 24, kGate = 40, kSum = 30;  // instructions

  LaunchSequence sequence;
  add_routing(sequence, p, share);
  ArrayUse input = reads_activation(kInput, share.distinct_tokens() * wide_row);
  if (p.dtype == DType::fp8) {
    sequence.push_back({pass_over_rows(tokens, row, 1, kCopy, input, narrow)});
    input = read_back(narrow);
  }
  sequence.push_back({pass_over_rows(rows, row, 1, kCopy, input, sorted)});
  sequence.push_back(
      {grouped(p, share, 2 * p[kIntermediate], p[kHidden],
               {read_back(sorted), reads(kWeights1, 2 * share.weight()), gate_up}, gpu)});
  sequence.push_back({pass_over_rows(rows, inner_row, 2, kGate, read_back(gate_up), inner)});
  sequence.push_back({grouped(p, share, p[kHidden], p[kIntermediate],
                              {read_back(inner), reads(kWeights2, share.weight()), outputs}, gpu)});
  sequence.push_back({pass_over_rows(tokens, wide_row, std::max(1.0, rows / tokens), kSum,
                                     read_back(outputs), writes(kResult, tokens * wide_row))});
  return sequence;
}

constexpr std::array kVariants = {
    KernelModel{.name = "moe.library",
                .summary = "what TensorRT-LLM launches: routing, grouped products by CUTLASS, sum",
                .parameters = kLibraryParameters,
                .dtypes = kTypes,
                .plan = plan_library,
                .candidates = library_candidates,
                .own_choice = kOwnChoice}};

}  // namespace

constinit const KernelFamily kFamily = {
    .name = "moe",
    .summary = "y = Σ wₑ·downₑ(silu(gateₑ(x))·upₑ(x)) over the experts e of each token",
    .parameters = kShape,
    .dtypes = kTypes,
    .variants = kVariants,
    .validated = kValidated,
    .work = work};

}  // namespace roofcast::experts
