#include <algorithm>
#include <cmath>
#include <utility>

#include "model/constants/libraries.hpp"
#include "model/counting/coalescing.hpp"
#include "model/kernels/common/plan_parts.hpp"
#include "model/libraries/attention_tiles.hpp"

namespace roofcast::attention {
namespace {

constexpr std::int64_t kThreadsOfSm = 1024;

// decoderXQAImplCommon.h: computeMultiBlockCount. One block runs on an SM.
std::int64_t group_splits(const Shape& shape, const Gpu& gpu) {
  constexpr std::int64_t kLeastKeys = 128, kRounds = 8;  // decoderXQAConstants.h
  const std::int64_t copies = shape.batch * shape.kv_heads;
  const std::int64_t parts = shape.seq_kv / kLeastKeys;
  // Many parts would take longer to reduce than to compute.
  const auto few = static_cast<std::int64_t>(std::round(std::sqrt(8 * as_double(parts))));
  const std::int64_t most = std::max<std::int64_t>(1, kRounds * gpu.slots(1) / copies);
  return std::clamp<std::int64_t>(std::min(parts, few), 1, most);
}

void set_group(Blocks& c, const Gpu& gpu) {
  c.packed = c.shape.group();
  const std::int64_t queries = c.packed <= 16 ? 16 : 32;
  c.tile = {queries, 256, 8, 1, 1};
  c.tile.waits_before.global = kDependentLoads;
  c.tile.waits.arithmetic = as_double(queries / 16) * library::kBlockOperations;
  c.tile.deals_keys = c.tile.merges = true;
  if (c.splits == kToChoose) c.splits = group_splits(c.shape, gpu);
}

// decoderMaskedMultiheadAttentionLaunch.h: blocks grow from 256 to 1024 threads if they are too few
// to fill the SMs; then keys are split until each SM has a block.
void set_lone_heads(Blocks& c, const Gpu& gpu) {
  constexpr std::int64_t kThreads = 256, kMost = kThreadsOfSm / kThreads, kUnrolled = 8;
  const std::int64_t heads = c.shape.batch * c.shape.heads, sms = gpu.slots(1);
  const std::int64_t factor = std::min(kMost, ceil_div(sms * kMost, heads));
  const std::int64_t threads =
      factor == kMost ? kThreadsOfSm : std::min<std::int64_t>(factor, 2) * kThreads;
  const auto threads_of_key =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(c.shape.row_bytes()) / 16);
  const std::int64_t keys = threads / threads_of_key * kUnrolled;  // read by a block per step
  c.kernel.vector_instructions = library::kVectorInstructions;
  c.tile = {1, keys, threads / 32, 0, kThreadsOfSm / threads};
  c.tile.waits_before = {
      .global = kDependentLoads, .arithmetic = library::kVectorOperations, .barriers = 1};
  c.tile.waits = {.global = 2, .barriers = 1};  // K, then V
  c.tile.merges = true;
  // The kernel counts the new token as one more key.
  if (c.splits == kToChoose) {
    c.splits = std::min(ceil_div(c.shape.seq_kv + 1, keys), ceil_div(sms, heads));
  }
}

// New tokens: K and V next to `q` bytes of Q, as projections wrote them, and their destinations.
struct NewRows {
  std::int64_t tokens;
  double kv;  ///< bytes of K, and of V
  std::vector<ArrayUse> arrays;
};

NewRows new_rows(const Shape& shape, double q = 0) {
  const std::int64_t tokens = shape.batch * std::min(shape.seq_q, shape.seq_kv);
  const double kv = as_double(tokens * shape.kv_heads) * shape.row_bytes();
  const ArrayUse packed = reads_activation(kQkv, q + 2 * kv);
  if (shape.seq_q < shape.seq_kv) return {tokens, kv, {packed, scratch(kNewKv, {0, 2 * kv})}};
  return {tokens, kv, {packed, scratch(kK, {0, kv}), scratch(kV, {0, kv})}};
}

}  // namespace

void set_decoding(Blocks& c, const Gpu& gpu) {
  c.kernel.product = Instruction::mma_sync;
  const bool together = c.shape.group() > 1 && c.shape.group() <= kLargestGroup;
  together ? set_group(c, gpu) : set_lone_heads(c, gpu);
}

double group_read_density(const Shape& shape) {
  constexpr double kLinesAhead = 2;  // kernels/xqa/mha.cu: a warp copies a row line by line
  return shape.row_bytes() > kLinesAhead * as_double(kLineBytes) ? kDensityOfLines : 1;
}

// unfusedAttentionKernels_2_template.h: applyBiasRopeUpdateKVCacheV2. A thread loads 16 bytes of a
// token's query head, the same bytes of its K and V, which the group's first head writes, and the
// sines and cosines of eight elements. A block iterates over tokens. Three loads are dependent: the
// token's sequence, the sequence's lengths, the page.
Plan rotated_rows(const Blocks& c, const Gpu& gpu) {
  constexpr std::int64_t kThreads = 256, kVectorBytes = 16;
  constexpr double kRotated = 128, kRows = 5;  // Q, K, their counterparts in the rotation, V
  const Shape& shape = c.shape;
  const double row = shape.row_bytes(), warps = warps_of(kThreads), q = shape.q_bytes();
  auto [tokens, kv, arrays] = new_rows(shape, q);
  const auto of_block = std::max<std::int64_t>(
      1, static_cast<std::int64_t>(as_double(kThreads * kVectorBytes) / row));
  const std::int64_t rounds = ceil_div(tokens, of_block), turns = rounds * shape.heads;
  const std::int64_t blocks = std::clamp<std::int64_t>(
      kThreadsOfSm / kThreads * gpu.slots(1) / shape.heads, 1, rounds);  // per head
  // Rotated queries get their own buffer, and attention reads K and V from the cache; else it reads
  // all three in place (attention_backend/trtllm.py: use_paged_context_fmha).
  if (shape.seq_q < shape.seq_kv || c.kernel.product == Instruction::wgmma) {
    arrays.push_back(scratch(kQ, {0, q}));
  } else {
    arrays.front().footprint.write_bytes = q + kv;
  }
  Plan plan = even_launch(turns, kThreads, std::move(arrays), {});
  plan.launch.grid[0] = blocks * shape.heads;
  plan.blocks.front().count = plan.launch.blocks();
  Phase& phase = plan.blocks.front().phases.front();
  phase.repeats = as_double(rounds) / as_double(blocks);
  Step& step = phase.step;
  step.issued.vector_flops = (q + 2 * kv) / shape.element / as_double(turns) * 2;
  step.waits = {.global = 3, .barriers = 1};
  const double sines = std::min(kRotated, as_double(shape.head_dim)) * kSumElement;
  set_traffic(step.issued, {(3 * q + as_double(tokens * shape.heads) * sines) / as_double(turns),
                            step.issued.l2.write_bytes});
  const double lines = kVectorBytes * 32 / 128, tokens_of_warp = kVectorBytes * 32 / row;
  step.wavefronts.l1_lookups = step.wavefronts.l1 =
      warps * (kRows * lines + as_double(kVectorBytes / 2) * tokens_of_warp * sines / 128);
  return plan;
}

Plan cache_writes(const Shape& shape) {
  constexpr std::int64_t kMostThreads = 512;
  auto [tokens, kv, arrays] = new_rows(shape);
  const double flops = 2 * kv / shape.element / as_double(tokens) * 2;
  return even_launch(
      tokens, std::min(kMostThreads, shape.kv_heads * shape.head_dim), std::move(arrays),
      {.issued = {.vector_flops = flops}, .waits = {.global = library::kCacheWriteWaits}});
}

}  // namespace roofcast::attention
