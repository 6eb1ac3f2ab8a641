#pragma once
// Parts that the plans of all families are made of.
#include <algorithm>
#include <array>
#include <utility>

#include "model/counting/integers.hpp"
#include "model/counting/io_complexity.hpp"
#include "model/counting/totals.hpp"
#include "model/types/kernel_model.hpp"

namespace roofcast {

constexpr double warps_of(std::int64_t threads) {
  return as_double(ceil_div(threads, 32));
}

/// Share of instructions that depend on the previous one, from times of blocks alone on an SM.
inline constexpr double kDependentShare = 0.5;

/// An array read once, and one written once, from end to end.
constexpr ArrayUse reads(ArrayId array, double bytes) {
  return {array, {bytes, 0}, {bytes, 0}};
}
constexpr ArrayUse writes(ArrayId array, double bytes) {
  return {array, {0, bytes}, {0, bytes}};
}
/// As `reads`, for data that an earlier kernel has just computed.
constexpr ArrayUse reads_activation(ArrayId array, double bytes) {
  ArrayUse use = reads(array, bytes);
  use.activation = true;
  return use;
}
/// Scratch memory that hands data from one launch to the next.
constexpr ArrayUse scratch(ArrayId array, Traffic bytes) {
  return {array, {}, bytes};
}

/// Sets the traffic of accesses in whole sectors without L1 hits: the same at every level.
constexpr void set_traffic(Work& issued, const Traffic& bytes) {
  issued.requested = issued.l1 = issued.l2 = bytes;
}

/// The plan of a launch, still without arrays and blocks.
inline Plan launch_plan(std::int64_t blocks, const std::array<std::int64_t, 3>& block,
                        std::int64_t registers, std::int64_t shared_bytes = 0) {
  Plan plan;
  plan.launch = {
      .grid = {blocks, 1, 1}, .block = block, .registers = registers, .shared_bytes = shared_bytes};
  return plan;
}

inline LaunchSequence launch_of(Plan plan) {
  LaunchSequence sequence;
  sequence.push_back({std::move(plan)});
  return sequence;
}

/// Whether a setting `value` of a problem admits a tile with `of_tile`: equal, or left to choose.
constexpr bool is_asked(std::int64_t value, std::int64_t of_tile) {
  return value == kToChoose || value == of_tile;
}

/// Throws InputError where the device has no tensor cores for the type.
void require_tensor_cores(DType type, const Gpu& gpu);

/// Whether matrix instructions read their operands directly from shared memory.
inline bool has_async_mma(const Gpu& gpu) {
  return gpu.features.has(Instruction::wgmma) || gpu.features.has(Instruction::tcgen05);
}

/// Adds one class of blocks: all blocks of the launch do the same.
inline void set_blocks(Plan& plan, std::vector<Phase> phases) {
  plan.blocks.push_back({plan.launch.blocks(), std::move(phases)});
}

/// A launch of that many blocks along x, with a guess of 32 registers a thread. A count beyond any
/// grid stays one: the occupancy check refuses it.
Launch linear_launch(double blocks, std::int64_t threads);

/// The plan of a launch of equal blocks with one step each; they share the arrays' traffic evenly.
Plan even_launch(const Launch& launch, std::vector<ArrayUse> arrays, Step step);
/// The same of a linear_launch, with a note on its registers.
Plan even_launch(std::int64_t blocks, std::int64_t threads, std::vector<ArrayUse> arrays,
                 Step step);

/// The share of a launch's work that one full block has, along one extent.
constexpr double share_of(std::int64_t block, std::int64_t all) {
  return std::min(1.0, as_double(block) / as_double(all));
}
/// Adds the full blocks, each with `share` of the launch's work. The remaining blocks (the edge)
/// split the remaining work evenly; they wait as long as a full block.
void set_blocks_with_edge(Plan& plan, const Step& full, double share);

}  // namespace roofcast
