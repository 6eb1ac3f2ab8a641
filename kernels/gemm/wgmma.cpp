// gemm.wgmma (wgmma_kernel.cuh): which problems it takes, and the launches of one.
#include "kernels/gemm/wgmma.hpp"

#include <vector>

#include "kernels/gemm/passes.hpp"

namespace roofcast::cuda::gemm {
namespace {

using hopper::CompiledTile;
using hopper::Split;
using roofcast::gemm::tensor::kOneSplit;
using roofcast::gemm::tensor::wgmma_along_k;

Split split_of(const Problem& p) {
  return {static_cast<int>(p[kSplitK]), static_cast<int>(p[kSplitRest])};
}

const std::vector<CompiledTile>& tiles() {
  static const std::vector<CompiledTile> all = [] {
    std::vector<CompiledTile> list;
    for (const auto& of_type :
         {hopper::bf16_tiles(), hopper::fp16_tiles(), hopper::along_k_tiles()}) {
      list.insert(list.end(), of_type.begin(), of_type.end());
    }
    return list;
  }();
  return all;
}
std::span<const Problem> configurations() {
  static const std::vector<Problem> all = [] {
    std::vector<Problem> list;
    for (const CompiledTile& tile : tiles()) list.push_back(tile.configuration);
    return list;
  }();
  return all;
}

const CompiledTile* find_compiled(const Problem& p) {
  return find_tile(tiles(), with_layout(p, wgmma_along_k(p.dtype)));
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_sizes(p); !why.empty()) return why;
  const CompiledTile* tile = find_compiled(p);
  if (tile == nullptr) return not_compiled("gemm.wgmma", p, configurations());
  if (p[kSplitK] < 1 || p[kSplitK] > ceil_div(p[kK], p[kTileK])) {
    return "split_k must be from 1 to the tiles of k: " +
           std::to_string(ceil_div(p[kK], p[kTileK]));
  }
  if (p[kSplitRest] < 1 || p[kSplitRest] > ceil_div(p[kK], p[kTileK])) {
    return "split_rest must be from 1 to the tiles of k: " +
           std::to_string(ceil_div(p[kK], p[kTileK]));
  }
  if (p[kSplitRest] > 1 && p[kSplitK] > 1) return kOneSplit;
  const std::int64_t items =
      p[kBatch] * ceil_div(p[kM], p[kTileM]) * ceil_div(p[kN], p[kTileN]) * p[kSplitK];
  if (items > std::int64_t{1} << 30) return "too many tiles: choose larger tiles";
  if (!device_is(9, 0)) {
    return "this device has no wgmma (compute capability 9.0): use gemm.mma_sync";
  }
  return {};
}

Tensors with_scratch(const Problem& p) {
  Tensors all = tensor_tensors(p);
  add_operand_scratch(all, p, wgmma_along_k(p.dtype));
  if (p[kSplitK] > 1) {
    all.scratch.push_back(
        {DType::fp32, static_cast<std::size_t>(p[kSplitK] * p[kBatch] * p[kM] * p[kN])});
  }
  if (p[kSplitRest] > 1) {
    const std::int64_t sums = find_compiled(p)->schedule(shape_of(p), split_of(p)).split_sums();
    if (sums > 0) all.scratch.push_back({DType::fp32, static_cast<std::size_t>(sums)});
  }
  return all;
}

std::vector<Launch> launches(const Problem& p) {
  const Shape s = shape_of(p);
  std::vector<Launch> all = operand_launches(p, wgmma_along_k(p.dtype));
  const CompiledTile& tile = *find_compiled(p);
  const Schedule schedule = tile.schedule(s, split_of(p));
  all.push_back(tile.launch(schedule));
  if (p[kSplitK] > 1) all.push_back(sum_parts_launch(s.rows_c(), s.n, result_type(p.dtype)));
  if (p[kSplitRest] > 1 && schedule.split_tiles() > 0) {
    all.push_back(sum_tiles_launch(schedule, result_type(p.dtype)));
  }
  return all;
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape shape = shape_of(p);
  const Operands operands(p, wgmma_along_k(p.dtype), at, stream);
  const CompiledTile& tile = *find_compiled(p);
  const Schedule schedule = tile.schedule(shape, split_of(p));
  const bool splits = schedule.split_tiles() > 0, by_tile = p[kSplitRest] > 1;
  float* const sums = splits ? static_cast<float*>(at.scratch[operands.next_scratch()]) : nullptr;
  void* const c = at.outputs[0];
  tile.run(shape, operands, c, schedule, sums, by_tile, stream);
  if (!splits) return;
  const DType type = result_type(p.dtype);
  if (by_tile) {
    sum_tiles(sums, schedule, shape.m, shape.n, c, shape.row_c, type, stream);
  } else {
    sum_parts(sums, schedule.parts, shape.rows_c(), shape.n, c, shape.row_c, type, stream);
  }
}

}  // namespace

KernelEntry wgmma() {
  return tensor_entry("gemm.wgmma", configurations(), unsupported, with_scratch, launches, run);
}

}  // namespace roofcast::cuda::gemm
