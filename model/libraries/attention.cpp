#include "model/libraries/attention.hpp"

#include <algorithm>

#include "model/constants/libraries.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/attention_tiles.hpp"

namespace roofcast::attention {
namespace {

// All blocks of a head get equal numbers of keys.
void add_even_parts(Plan& plan, const Blocks& c, BlockSteps steps) {
  const double all = as_double(c.shape.seq_kv) / as_double(c.tile.keys) / as_double(c.splits);
  steps.loop.step.warp_instructions *= std::min(1.0, all);
  const Steps each{std::max(1.0, all), 0, std::min(1.0, all)};
  add_class(plan, steps, c.heads() * (c.splits - 1), each);
  add_class(plan, c.splits > 1 ? with_merging(steps, c) : steps, c.heads(), each);
}

// Warps load the next product's operands from shared memory while tensor cores multiply.
void read_as_multiplied(BlockSteps& steps, const Blocks& c) {
  const double copied = 2 * as_double(c.tile.keys) * c.shape.row_bytes() / 128;
  Wavefronts& wavefronts = steps.loop.step.wavefronts;
  wavefronts.operands = wavefronts.shared - copied;
  wavefronts.shared = copied;
}

// Operand wavefronts, once per warpgroup of 64 rows: Q and K for Q·Kᵀ, V for P·V. A warpgroup that
// waits for each product takes the longer of multiplication and reads.
void read_shared(BlockSteps& steps, const Blocks& c, const Gpu& gpu) {
  const double row = c.shape.row_bytes(), queries = as_double(c.tile.queries);
  const double keys = (queries / 64 + 1) * as_double(c.tile.keys) * row / 128;
  Step& step = steps.loop.step;
  const DType type = c.shape.type;
  const double product =
      step.issued.tensor_flops[type] / 2 / gpu.sm.tensor_flop_per_clk[type].value_or(1);
  const double of_scores = queries * row / 128 + keys;
  step.wavefronts.operands = c.tile.waited_products < 1
                                 ? of_scores + keys
                                 : std::max(product, of_scores) + std::max(product, keys);
}

constexpr std::string_view kGuess =
    "tiles, splits and the order of heads are taken from public sources or guessed: no profile of "
    "the library; registers are a guess";

Plan attention_launch(const Blocks& c, const Problem& p, const Gpu& gpu) {
  Plan plan = forward_plan(c, gpu);
  plan.notes.caveat = kGuess;
  const bool all_new = c.shape.seq_q >= c.shape.seq_kv;
  if (p[kCacheWrites] != kNoWrites && all_new) {
    if (p[kCacheWrites] == kWritesQkv) plan.arrays[kQ] = scratch(kQ, {c.shape.q_bytes(), 0});
    plan.arrays[kK] = scratch(kK, {c.shape.kv_bytes(), 0});
    plan.arrays[kV] = scratch(kV, {c.shape.kv_bytes(), 0});
  }
  BlockSteps steps = forward_steps(c);
  if (!c.kernel.async_mma() && c.tile.chains > 1) read_as_multiplied(steps, c);
  if (c.kernel.product == Instruction::wgmma) read_shared(steps, c, gpu);
  if (!c.tile.merges) {
    add_blocks(plan, steps, steps_of_tiles(c), c.heads(), c.tile.in_order ? 1 : c.heads(),
               c.splits);
  } else if (c.kernel.on_tensor_cores()) {
    const double density = group_read_density(c.shape);
    for (const ArrayId cache : {kK, kV}) plan.arrays[cache].pattern.read_density = density;
    deal_keys(plan, c, steps, c.tile.keys);
  } else {
    add_even_parts(plan, c, steps);
  }
  return plan;
}

// A prefix sum over sequence lengths (TensorRT-LLM, gptKernels.cu: computeSeqAndPaddingOffsets).
Plan offsets(const Shape& shape) {
  constexpr std::int64_t kThreads = 256;
  return even_launch(shape.batch, kThreads, {},
                     {.issued = {.vector_flops = as_double(kThreads)},
                      .waits = {.global = 2, .shared = 10, .barriers = 2}});
}

// A copy of Q, O or dO to another layout by PyTorch. FlashAttention-2's decoding needs it: a
// group's heads become queries, which are not contiguous with several groups (flash_api.cpp:
// mha_varlen_fwd).
Plan moved_heads(const Shape& shape, const ArrayUse& from, const ArrayUse& to) {
  const double elements = shape.q_bytes() / shape.element;
  return pass_over(elements, kVectorElements * library::kMovedInstructions, {from, to});
}

// Before FlashAttention-2's launches PyTorch copies O and dO of layout bhsd.
LaunchSequence backward_launches(const Problem& p, const Gpu& gpu) {
  LaunchSequence sequence = backward_launches(library_backward(p, gpu));
  if (library_of(p) == kFa2 && p[kLayout] == kHeadsFirst) {
    const Shape shape(p);
    const double bytes = shape.q_bytes();
    sequence.insert(sequence.begin(),
                    {{moved_heads(shape, reads(kO, bytes), scratch(kParts, {0, bytes}))},
                     {moved_heads(shape, gradient_input(shape), scratch(kQkv, {0, bytes}))}});
  }
  for (Launched& node : sequence) node.plan.notes.caveat = kGuess;
  return sequence;
}

LaunchSequence forward_launches(const Problem& p, const Gpu& gpu) {
  const Library library = library_of(p);
  const Blocks c = library_forward(p, gpu);
  const bool paged = p[kCacheWrites] != kNoWrites;
  LaunchSequence sequence;
  if (paged && library == kTrtllm) sequence.push_back({offsets(c.shape)});
  if (p[kCacheWrites] == kWritesQkv || (library == kTrtllm && c.tile.deals_keys)) {
    sequence.push_back({rotated_rows(c, gpu)});
  } else if (paged) {
    sequence.push_back({cache_writes(c.shape)});
  }
  if (c.tile.scheduler == TileScheduler::queue) sequence.push_back({cleared_counter()});
  sequence.push_back({attention_launch(c, p, gpu)});
  if (c.splits > 1 && !c.tile.merges) sequence.push_back({sum_of_parts(c)});
  // flash_api.cpp, seqlenq_ngroups_swapped: a group's heads become queries, O's queries heads.
  if (library == kFa2 && paged && c.packed > 1) {
    const double bytes = c.shape.q_bytes();
    sequence.push_back({moved_heads(c.shape, scratch(kO, {bytes, 0}), writes(kO, bytes))});
    if (c.shape.kv_heads > 1) {
      sequence.insert(sequence.begin(),
                      {moved_heads(c.shape, scratch(kO, {bytes, 0}), scratch(kQ, {0, bytes}))});
    }
  }
  return sequence;
}

}  // namespace

std::vector<Problem> library_candidates(const Problem& p, const Gpu& gpu) {
  const bool backward = Shape(p).backward;
  require(!backward || (p[kSplits] <= 1 && p[kCacheWrites] == kNoWrites),
          "splits and cache_writes are for forward: leave them out, or ask for --pass forward");
  const Library asked = library_of(p);
  if (backward && asked == kTrtllm) library_backward(p, gpu);  // throws
  require_tensor_cores(p.dtype, gpu);
  std::vector<Problem> found;
  for (const Library library : {kCudnn, kFa2, kFa3, kTrtllm}) {
    if (asked == kBest ? library == kTrtllm : library != asked) continue;
    const Kernel kernel = kernel_of(library, gpu);
    if (!gpu.features.has(kernel.product) || !gpu.features.has(kernel.copy())) continue;
    Problem& one = found.emplace_back(p);
    one[kLibraryChoice] = library;
    one[kSplits] = backward ? 1 : library_forward(one, gpu).splits;
  }
  require(!found.empty(), "no such library has a kernel for ", gpu.name,
          ": leave out --library, or choose a GPU with cp_async (`roofcast gpus`)");
  return found;
}

LaunchSequence plan_library(const Problem& p, const Gpu& gpu) {
  require(p[kSplits] >= 1, "splits is ", p[kSplits], " in a plan: give a number from 1");
  LaunchSequence sequence =
      p[kPass] == kBackward ? backward_launches(p, gpu) : forward_launches(p, gpu);
  for (Launched& node : sequence) node.plan.notes.estimated_traffic = true;
  return sequence;
}

}  // namespace roofcast::attention
