// gemm.wgmma (wgmma_kernel.cuh): which problems it takes, and the launches of one.
#include "kernels/gemm/wgmma.hpp"

#include <vector>

#include "kernels/gemm/passes.hpp"
#include "kernels/gemm/tiles_of_types.hpp"

namespace roofcast::cuda::gemm {
namespace {

using hopper::Asked;
using hopper::CompiledTile;
using roofcast::gemm::tensor::kOneSplit;
using roofcast::gemm::tensor::wgmma_along_k;

Asked asked_of(const Problem& p) {
  return {static_cast<int>(p[kSplitK]), static_cast<int>(p[kSplitRest])};
}

const TilesOfTypes<CompiledTile>& compiled_tiles() {
  static const TilesOfTypes<CompiledTile> all = {hopper::bf16_tiles(), hopper::fp16_tiles(),
                                                 hopper::along_k_tiles()};
  return all;
}

const CompiledTile* find_compiled(const Problem& p) {
  return find_tile(compiled_tiles().tiles, with_layout(p, wgmma_along_k(p.dtype)));
}

std::string unsupported(const Problem& p) {
  if (std::string why = unsupported_sizes(p); !why.empty()) return why;
  const CompiledTile* tile = find_compiled(p);
  if (tile == nullptr) return not_compiled("gemm.wgmma", p, compiled_tiles().configurations);
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
  const CompiledTile& tile = *find_compiled(p);
  const Schedule schedule = tile.schedule(shape_of(p), asked_of(p));
  if (schedule.slots() > 0) {
    const std::size_t bytes = tile.workspace(schedule).bytes();
    all.scratch.push_back({DType::fp32, bytes / sizeof(float)});
  }
  return all;
}

std::vector<Launch> launches(const Problem& p) {
  const Shape s = shape_of(p);
  std::vector<Launch> all = operand_launches(p, wgmma_along_k(p.dtype));
  const CompiledTile& tile = *find_compiled(p);
  all.push_back(tile.launch(tile.schedule(s, asked_of(p))));
  if (p[kSplitK] > 1) all.push_back(sum_parts_launch(s.rows_c(), s.n, result_type(p.dtype)));
  return all;
}

void run(const Problem& p, const Addresses& at, cudaStream_t stream) {
  const Shape shape = shape_of(p);
  const Operands operands(p, wgmma_along_k(p.dtype), at, stream);
  const CompiledTile& tile = *find_compiled(p);
  const Schedule schedule = tile.schedule(shape, asked_of(p));
  const bool added = p[kSplitK] > 1;
  void* const scratch =
      added || schedule.slots() > 0 ? at.scratch[operands.next_scratch()] : nullptr;
  tile.run(shape, operands, at.outputs[0], schedule, scratch, stream);
  if (!added) return;
  sum_parts(static_cast<const float*>(scratch), schedule.split.parts, shape.rows_c(), shape.n,
            at.outputs[0], shape.row_c, result_type(p.dtype), stream);
}

}  // namespace

KernelEntry wgmma() {
  return tensor_entry("gemm.wgmma", compiled_tiles().configurations, unsupported, with_scratch,
                      launches, run);
}

}  // namespace roofcast::cuda::gemm
